package io.gpusharing.webhook.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Who may work at a review now.
 *
 * <p>A long review costs as much processor time as a hundred usual ones. Few of those are worked on
 * at a time: they wait for each other, and nobody waits for them. What is made of either has memory
 * of its own, which is taken only for as long as it is decided.
 */
final class ReviewSlots {

    private final RoundRobinSemaphore all;
    private final RoundRobinSemaphore longOnes;
    private final HeapShares heap;
    private final RoundRobinSemaphore usualWork;
    private final RoundRobinSemaphore longWork;

    /**
     * @param all reviews at the same time
     * @param longOnes long ones among them
     * @param heap what there is for their work
     */
    ReviewSlots(int all, int longOnes, HeapShares heap) {
        this.all = new RoundRobinSemaphore(all);
        this.longOnes = new RoundRobinSemaphore(longOnes);
        this.heap = heap;
        this.usualWork = new RoundRobinSemaphore(heap.usualWork());
        this.longWork = new RoundRobinSemaphore(heap.longWork());
    }

    private record Taken(RoundRobinSemaphore of, int permits) {}

    /** All that a review needs to be worked at, to be given back. */
    static final class Slot {

        private final String client;
        private final List<Taken> taken = new ArrayList<>();

        private Slot(String client) {
            this.client = client;
        }

        void release() {
            taken.forEach(it -> it.of().release(client, it.permits()));
        }
    }

    /**
     * Takes a slot, and waits for it.
     *
     * @param work bytes that will be made of the review
     * @param deadline by {@link System#nanoTime}
     * @return empty if there was none in time
     */
    Optional<Slot> acquire(BodyReader.Read.Body body, long work, long deadline) {
        List<Taken> needed =
                body.isLong()
                        ? List.of(
                                new Taken(longOnes, 1),
                                new Taken(longWork, (int) Math.min(heap.longWork(), work)),
                                new Taken(all, 1))
                        : List.of(
                                new Taken(usualWork, (int) Math.min(heap.usualWork(), work)),
                                new Taken(all, 1));
        var slot = new Slot(body.asker().client());
        for (Taken each : needed) {
            if (!each.of().acquire(body.asker(), each.permits(), deadline)) {
                slot.release();
                return Optional.empty();
            }
            slot.taken.add(each);
        }
        return Optional.of(slot);
    }
}
