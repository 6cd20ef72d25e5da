package io.gpusharing.deviceplugin.gpu;

import io.gpusharing.nvml.DeviceAccess;
import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the GPUs of this node by NVML: which there are, which have failed, which are gone.
 *
 * <p>NVML is asked by one thread, which waits for the errors that GPUs report and looks at each GPU
 * every four seconds. A GPU that fails is unhealthy within ten seconds, and {@link Cure} says when
 * it comes back. A second thread watches the first: a driver that hangs makes all GPUs unhealthy.
 *
 * <p>A GPU that was there before and is not any more stays in the list as unhealthy, so that the
 * node's capacity tells what was bought and its allocatable what works. It is forgotten when an
 * administrator removes the file in which GPUs are remembered. That also ends the wait for a reset
 * that nobody could see: NVML does not tell of one.
 */
public final class GpuMonitor implements NodeGpus, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(GpuMonitor.class);

    /** Where Linux says which boot of the machine this is. */
    public static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    private static final long SECOND = 1_000_000;

    private final NvmlAccess access;
    private final Snapshot snapshot;
    private final NvmlPoller poller;
    private final TimeSource time;
    private volatile boolean closed;
    private @Nullable Thread thread;

    /**
     * Starts with the GPUs that are remembered, unhealthy until NVML lists them.
     *
     * @param source opens NVML's library, or says why there is none; asked again until there is one
     * @param gpusJson where GPUs are remembered
     * @param bootId see {@link #BOOT_ID}
     * @param changed told after every change of {@link #all}, by the threads of this monitor
     * @param devices the driver's device files of this container
     */
    public GpuMonitor(
            Supplier<NvmlLibrary> source,
            Path gpusJson,
            Path bootId,
            Runnable changed,
            DeviceAccess devices,
            TimeSource time) {
        var known = new KnownGpus(new GpuFile(gpusJson), read(bootId));
        this.access = new NvmlAccess(source, known.driver());
        this.snapshot = new Snapshot(known.shown(null), changed);
        this.poller = new NvmlPoller(access, known, snapshot, devices, time);
        this.time = time;
    }

    private static String read(Path bootId) {
        try {
            return Files.readString(bootId).strip();
        } catch (IOException e) {
            return "";
        }
    }

    /** Begins to watch; returns at once. */
    public void start() {
        thread = Thread.ofPlatform().name("gpu-monitor").daemon().start(this::work);
        Thread.ofVirtual().name("gpu-monitor-watch").start(this::watchWork);
    }

    @Override
    public List<NodeGpu> all() {
        return snapshot.shown();
    }

    /** Whether NVML has listed the GPUs since the start. Before that, none is healthy. */
    public boolean isRead() {
        return poller.isRead();
    }

    /** Why NVML cannot be asked now, in words; null while it can. */
    public @Nullable String trouble() {
        return poller.trouble();
    }

    /**
     * Whether this process must end so that its successor can use NVML: the driver was replaced,
     * and a library that was loaded once stays.
     */
    public boolean wantsRestart() {
        return access.wantsRestart();
    }

    /**
     * Whether this container may not open the driver's device files any more, as it could before.
     */
    public boolean isAccessLost() {
        return poller.isAccessLost();
    }

    /** Ends watching, and lets go of NVML unless it hangs. */
    @Override
    public void close() {
        closed = true;
        Thread worker = thread;
        if (worker != null) {
            LockSupport.unpark(worker);
            try {
                worker.join((NvmlPoller.WAIT + SECOND) / 1_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void work() {
        while (!closed) {
            try {
                step();
            } catch (RuntimeException e) {
                log.atError().setCause(e).log("watching GPUs failed, beginning anew");
                poller.restart(e);
            }
        }
        poller.release();
    }

    private void watchWork() {
        while (!closed) {
            time.pauseMicros(SECOND);
            watch();
        }
    }

    /** Looks whether the other thread gets answers. */
    void watch() {
        snapshot.watch(time.monotonicMicros(), access.inside());
    }

    /** See {@link NvmlPoller#step}. */
    void step() {
        poller.step();
    }
}
