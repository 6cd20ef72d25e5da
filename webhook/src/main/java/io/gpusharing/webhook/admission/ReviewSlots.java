package io.gpusharing.webhook.admission;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Who may work at a review now.
 *
 * <p>A long review costs as much processor time as a hundred usual ones. Few of those are worked on
 * at a time: they wait for each other, and nobody waits for them.
 */
final class ReviewSlots {

    /** Bytes from which a review is long; the largest pods of real workloads stay far below. */
    static final int LONG = 128 * 1024;

    private final Semaphore all;
    private final Semaphore longOnes;

    /**
     * @param all reviews at the same time
     * @param longOnes long ones among them
     */
    ReviewSlots(int all, int longOnes) {
        this.all = new Semaphore(all);
        this.longOnes = new Semaphore(longOnes);
    }

    /**
     * Takes a slot, and waits for it; {@link #release} gives it back.
     *
     * @param length bytes of the review
     * @param deadline by {@link System#nanoTime}
     * @return whether there was one in time
     */
    boolean acquire(int length, long deadline) {
        if (length < LONG) {
            return acquired(all, deadline);
        }
        if (!acquired(longOnes, deadline)) {
            return false;
        }
        if (acquired(all, deadline)) {
            return true;
        }
        longOnes.release();
        return false;
    }

    /** Gives back what a review of this length took. */
    void release(int length) {
        all.release();
        if (length >= LONG) {
            longOnes.release();
        }
    }

    private static boolean acquired(Semaphore permits, long deadline) {
        try {
            return permits.tryAcquire(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
