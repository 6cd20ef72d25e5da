package io.gpusharing.deviceplugin;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

/**
 * Tells whether a loop still goes round, for probes: a program of which only they answer is dead.
 */
final class Heartbeat {

    /** Only differences count; nobody sets it. */
    static final InstantSource TICKS = () -> Instant.EPOCH.plusNanos(System.nanoTime());

    private final String loop;
    private final Duration most;
    private final InstantSource clock;
    private volatile Instant last;

    /**
     * @param loop what it does, as its subject
     * @param most how long one round may take
     */
    Heartbeat(String loop, Duration most, InstantSource clock) {
        this.loop = loop;
        this.most = most;
        this.clock = clock;
        this.last = clock.instant();
    }

    /** It has gone round once. */
    void beat() {
        last = clock.instant();
    }

    /** Why the program has to be started again; empty if it has not. */
    Optional<String> dead() {
        Duration since = Duration.between(last, clock.instant());
        return since.compareTo(most) > 0
                ? Optional.of("%s has done nothing for %d s".formatted(loop, since.toSeconds()))
                : Optional.empty();
    }
}
