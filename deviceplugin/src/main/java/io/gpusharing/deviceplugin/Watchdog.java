package io.gpusharing.deviceplugin;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the process where only a new one helps. The kubelet could do it by a liveness probe, but
 * that comes over a port whose connections anybody in the cluster may take, and whoever took them
 * all would have each device plugin, and each MPS daemon with its clients, started again and again.
 */
final class Watchdog {

    private static final Logger log = LoggerFactory.getLogger(Watchdog.class);
    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(10);

    /** For what has to be put right at the end, where that does not hang, too. */
    private static final Duration GRACE = Duration.ofSeconds(30);

    private final Supplier<Optional<String>> dead;
    private final Runnable end;
    private boolean doubted;

    /**
     * @param dead why the process has to be started again; empty if it has not
     * @param end ends it
     */
    Watchdog(Supplier<Optional<String>> dead, Runnable end) {
        this.dead = dead;
        this.end = end;
    }

    /** Watches over this process from now on. */
    static void start(Supplier<Optional<String>> dead) {
        var watchdog = new Watchdog(dead, Watchdog::exit);
        Thread.ofPlatform().daemon().name("watchdog").start(watchdog::watch);
    }

    private void watch() {
        try {
            while (!look()) {
                Thread.sleep(BETWEEN_LOOKS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Whether it has ended the process. One look says nothing: after the whole process stood still,
     * this thread may be the first that goes on.
     */
    boolean look() {
        Optional<String> reason = dead.get();
        boolean again = doubted && reason.isPresent();
        doubted = reason.isPresent();
        if (again) {
            log.atError().addKeyValue("reason", reason.get()).log("has to be started again");
            end.run();
        }
        return again;
    }

    private static void exit() {
        Thread.ofPlatform().daemon().start(() -> System.exit(1));
        try {
            Thread.sleep(GRACE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(1);
    }
}
