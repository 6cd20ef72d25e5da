package io.gpusharing.deviceplugin.cluster;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * Pauses between attempts: half a second, twice as long after each failure, half a minute at most,
 * and up to half of each left out by dice: when an API server comes back, all nodes are waiting for
 * it. Belongs to one thread.
 */
final class Backoff {

    private static final Duration FIRST = Duration.ofMillis(500);
    private static final Duration LONGEST = Duration.ofSeconds(30);

    /** Waits; in tests not by the real time. */
    @FunctionalInterface
    interface Pause {
        void pause(Duration time) throws InterruptedException;
    }

    private final RandomGenerator dice;
    private final Pause pause;
    private Duration next = FIRST;

    Backoff() {
        this(new SplittableRandom(), Thread::sleep);
    }

    Backoff(RandomGenerator dice, Pause pause) {
        this.dice = dice;
        this.pause = pause;
    }

    /** Something failed: waits before the next attempt. */
    void pause() throws InterruptedException {
        long nanos = next.toNanos();
        Duration doubled = next.multipliedBy(2);
        next = doubled.compareTo(LONGEST) > 0 ? LONGEST : doubled;
        pause.pause(Duration.ofNanos((long) (nanos * (1 - dice.nextDouble() / 2))));
    }

    /** Something succeeded. */
    void reset() {
        next = FIRST;
    }
}
