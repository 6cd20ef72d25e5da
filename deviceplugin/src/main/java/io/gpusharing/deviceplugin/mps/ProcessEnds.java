package io.gpusharing.deviceplugin.mps;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.TimeUnit;

/**
 * When processes have ended that are not our children, such as an MPS server whose daemon was
 * killed.
 *
 * <p>{@link ProcessHandle} takes such a one for alive until the first process of the container has
 * asked for its exit code, which that may do late or never; and {@link ProcessHandle#onExit} looks
 * every 300 ms, and ever more seldom.
 */
public final class ProcessEnds {

    private static final Duration LOOK = Duration.ofMillis(5);

    /** Where the fields that follow the program's name have these, see proc_pid_stat(5). */
    private static final int STATE = 0;

    private static final int THREADS = 17;

    private ProcessEnds() {}

    /** Comes back when all have ended, after this time at the latest. */
    public static void await(Collection<ProcessHandle> processes, Duration most) {
        long end = System.nanoTime() + most.toNanos();
        try {
            while (!processes.stream().allMatch(ProcessEnds::hasEnded) && System.nanoTime() < end) {
                TimeUnit.NANOSECONDS.sleep(LOOK.toNanos());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether nothing of it runs any more, and nothing is open. */
    public static boolean hasEnded(ProcessHandle process) {
        return !process.isAlive() || isZombie(process.pid());
    }

    private static boolean isZombie(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            // One whose first thread has ended may still hang in the driver with another.
            return fields[STATE].equals("Z") && fields[THREADS].equals("1");
        } catch (IOException e) {
            return false;
        }
    }
}
