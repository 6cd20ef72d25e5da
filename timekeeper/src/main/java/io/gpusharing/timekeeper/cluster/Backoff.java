package io.gpusharing.timekeeper.cluster;

import java.time.Duration;

/**
 * How long a loop waits before its next round: twice as long each time, until one has lasted longer
 * than any wait.
 */
final class Backoff {

    static final Duration LONGEST = Duration.ofSeconds(30);

    private final Duration first;
    private Duration next;

    Backoff(Duration first) {
        this.first = first;
        this.next = first;
    }

    /**
     * The wait after a round.
     *
     * @param lasted for how long it did what it is for
     */
    Duration after(Duration lasted) {
        if (lasted.compareTo(LONGEST) > 0) {
            next = first;
            return Duration.ZERO;
        }
        Duration wait = next;
        Duration twice = next.multipliedBy(2);
        next = twice.compareTo(LONGEST) < 0 ? twice : LONGEST;
        return wait;
    }
}
