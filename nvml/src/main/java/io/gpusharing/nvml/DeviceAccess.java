package io.gpusharing.nvml;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Whether this container may still open the driver's device files. Where NVIDIA's runtime gave them
 * to a container without systemd's knowledge, {@code systemctl daemon-reload} makes the kernel
 * forbid them: the files stay, what is open stays open, and NVML may go on answering. Only a new
 * container gets them back.
 *
 * <p>For one thread, which may hang as in any call into the driver.
 */
public final class DeviceAccess {

    /** Why a process has to be started again that has lost them. */
    public static final String LOST =
            "this container may not open /dev/nvidiactl any more: a reload of systemd has taken the GPUs from it";

    private static final Path CONTROL = Path.of("/dev/nvidiactl");

    private static final long LOOK_EVERY_MICROS = 10_000_000;

    /** EPERM as the C library says it: the rights of the file would be EACCES. */
    private static final String FORBIDDEN = "Operation not permitted";

    private final Opening control;
    private long lookAt = Long.MIN_VALUE;
    private boolean had;
    private boolean lost;

    /** Opens the driver's control file, and closes it. */
    public interface Opening {
        void open() throws IOException;
    }

    public DeviceAccess(Opening control) {
        this.control = control;
    }

    /** That of this container. */
    public static DeviceAccess ofThisContainer() {
        return new DeviceAccess(() -> open(CONTROL));
    }

    static void open(Path file) throws IOException {
        FileChannel.open(file, StandardOpenOption.READ).close();
    }

    /**
     * Looks, if it is time again.
     *
     * @param nowMicros by a clock that never goes back
     * @return whether the kernel forbids now what it has allowed before
     */
    public boolean isLost(long nowMicros) {
        if (nowMicros >= lookAt) {
            lookAt = nowMicros + LOOK_EVERY_MICROS;
            look();
        }
        return lost;
    }

    private void look() {
        try {
            control.open();
            had = true;
            lost = false;
        } catch (FileSystemException e) {
            lost = had && FORBIDDEN.equals(e.getReason());
        } catch (IOException e) {
            lost = false;
        }
    }
}
