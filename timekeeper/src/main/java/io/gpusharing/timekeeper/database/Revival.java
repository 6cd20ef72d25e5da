package io.gpusharing.timekeeper.database;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts the embedded PostgreSQL again when it dies under us. It comes back on the same port, so
 * whoever waits for a connection gets one; what was committed is there.
 */
final class Revival implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Revival.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

    private final Thread thread;
    private volatile boolean open = true;

    private Revival(Postmaster postmaster) {
        this.thread = Thread.ofVirtual().name("database-revival").start(() -> watch(postmaster));
    }

    static Revival of(Postmaster postmaster) {
        return new Revival(postmaster);
    }

    /** From now on it may end for good. Returns when no attempt is on its way any more. */
    @Override
    public void close() {
        open = false;
        thread.interrupt();
        try {
            thread.join(Postmaster.PATIENCE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void watch(Postmaster first) {
        Postmaster watched = first;
        try {
            while (open) {
                watched.process().onExit().get();
                if (open) {
                    watched = revive(watched);
                }
            }
        } catch (InterruptedException e) {
            log.debug("told to stop");
        } catch (ExecutionException e) {
            throw new CompletionException(e);
        }
    }

    private static Postmaster revive(Postmaster dead) throws InterruptedException {
        log.atWarn()
                .addKeyValue("process", dead.process().pid())
                .log("the embedded PostgreSQL has died, starting it again");
        boolean told = false;
        Duration pause = FIRST_PAUSE;
        while (true) {
            try {
                // Children of the dead one may hold its memory for a moment: then the next attempt.
                dead.startAgain();
                Postmaster alive =
                        Postmaster.runningOn(dead.directory())
                                .filter(Postmaster::awaitReady)
                                .orElseThrow(() -> new IOException("it ended at once"));
                log.atInfo()
                        .addKeyValue("process", alive.process().pid())
                        .log("the embedded PostgreSQL runs again");
                return alive;
            } catch (IOException e) {
                if (!told) {
                    log.atWarn()
                            .addKeyValue("problem", e.getMessage())
                            .log("the embedded PostgreSQL does not start yet");
                    told = true;
                }
                TimeUnit.NANOSECONDS.sleep(pause.toNanos());
                pause = pause.multipliedBy(2);
                pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
            }
        }
    }
}
