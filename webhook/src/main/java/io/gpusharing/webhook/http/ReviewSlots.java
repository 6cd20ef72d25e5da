package io.gpusharing.webhook.http;

/**
 * Who may work at a review now.
 *
 * <p>A long review costs as much processor time as a hundred usual ones. Few of those are worked on
 * at a time: they wait for each other, and nobody waits for them.
 */
final class ReviewSlots {

    private final RoundRobinSemaphore all;
    private final RoundRobinSemaphore longOnes;

    /**
     * @param all reviews at the same time
     * @param longOnes long ones among them
     */
    ReviewSlots(int all, int longOnes) {
        this.all = new RoundRobinSemaphore(all);
        this.longOnes = new RoundRobinSemaphore(longOnes);
    }

    /**
     * Takes a slot, and waits for it; {@link #release} gives it back.
     *
     * @param deadline by {@link System#nanoTime}
     * @return whether there was one in time
     */
    boolean acquire(BodyReader.Read.Body body, long deadline) {
        if (!body.isLong()) {
            return all.acquire(body.namespace(), 1, deadline);
        }
        if (!longOnes.acquire(body.namespace(), 1, deadline)) {
            return false;
        }
        if (all.acquire(body.namespace(), 1, deadline)) {
            return true;
        }
        longOnes.release(1);
        return false;
    }

    /** Gives back what a review took. */
    void release(BodyReader.Read.Body body) {
        all.release(1);
        if (body.isLong()) {
            longOnes.release(1);
        }
    }
}
