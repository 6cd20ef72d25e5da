package io.gpusharing.deviceplugin.mps;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The turn to tell a daemon something. A daemon answers one control program at a time: of two that
 * are connected at once one fails. The device plugin and the program that runs the daemons are two
 * containers, so a turn is a lock on a file of the GPU's folder, which the kernel takes back when
 * the process ends.
 */
final class CommandTurn implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(CommandTurn.class);

    /** The kernel's locks on files belong to whole processes: threads take turns here before. */
    private static final Map<Path, Semaphore> IN_THIS_PROCESS = new ConcurrentHashMap<>();

    private static final long SHORTEST_PAUSE_MILLIS = 2;
    private static final long LONGEST_PAUSE_MILLIS = 20;

    private final Semaphore held;
    private final @Nullable FileChannel channel;

    private CommandTurn(Semaphore held, @Nullable FileChannel channel) {
        this.held = held;
        this.channel = channel;
    }

    /**
     * Waits for the turn.
     *
     * @param most for how long
     * @return empty if others have had it for all that time
     */
    static Optional<CommandTurn> await(GpuFolder folder, Duration most)
            throws InterruptedException {
        long until = System.nanoTime() + most.toNanos();
        Semaphore here =
                IN_THIS_PROCESS.computeIfAbsent(
                        folder.turn().toAbsolutePath(), file -> new Semaphore(1, true));
        if (!here.tryAcquire(most.toNanos(), TimeUnit.NANOSECONDS)) {
            return Optional.empty();
        }
        Optional<CommandTurn> turn = Optional.empty();
        try {
            turn = amongProcesses(here, folder, until);
        } finally {
            if (turn.isEmpty()) {
                here.release();
            }
        }
        return turn;
    }

    private static Optional<CommandTurn> amongProcesses(
            Semaphore here, GpuFolder folder, long until) throws InterruptedException {
        FileChannel channel = null;
        boolean isLocked = false;
        try {
            channel =
                    FileChannel.open(
                            folder.turn(), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            while (!isLocked && System.nanoTime() - until < 0) {
                isLocked = tryLock(channel);
                if (!isLocked) {
                    TimeUnit.MILLISECONDS.sleep(
                            ThreadLocalRandom.current()
                                    .nextLong(SHORTEST_PAUSE_MILLIS, LONGEST_PAUSE_MILLIS));
                }
            }
            return isLocked ? Optional.of(new CommandTurn(here, channel)) : Optional.empty();
        } catch (IOException e) {
            // To end no client at all for want of a lock would be worse than a collision.
            log.atWarn()
                    .addKeyValue("gpu", folder.gpu())
                    .addKeyValue("reason", e.toString())
                    .log("commands to an MPS daemon cannot take turns among processes");
            return Optional.of(new CommandTurn(here, null));
        } finally {
            if (!isLocked) {
                close(channel);
            }
        }
    }

    private static boolean tryLock(FileChannel channel) throws IOException {
        try {
            FileLock lock = channel.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    /** Lets the next one have its turn. */
    @Override
    public void close() {
        close(channel);
        held.release();
    }

    private static void close(@Nullable FileChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // The lock goes with the file, whatever the close says.
        }
    }
}
