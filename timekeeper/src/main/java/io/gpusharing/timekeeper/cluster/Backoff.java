package io.gpusharing.timekeeper.cluster;

import java.time.Duration;

/**
 * How long a loop waits before its next round: twice as long each time, until one has lasted longer
 * than any wait.
 */
final class Backoff {

    static final Duration LONGEST = Duration.ofSeconds(30);

    /** A service that begins anew and an object that is at odds with ours end one or two. */
    private static final int OFTEN = 5;

    private final Duration first;
    private Duration next;
    private int early;

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
            early = 0;
            return Duration.ZERO;
        }
        early++;
        Duration wait = next;
        Duration twice = next.multipliedBy(2);
        next = twice.compareTo(LONGEST) < 0 ? twice : LONGEST;
        return wait;
    }

    /** Whether so many rounds in a row have not lasted that it is no accident. */
    boolean isRepeated() {
        return early >= OFTEN;
    }
}
