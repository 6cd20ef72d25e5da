package io.gpusharing.timekeeper.allocation;

import io.gpusharing.request.NodeFacts;
import org.jspecify.annotations.Nullable;

/**
 * What a share of a GPU costs beside the same share of the reference model, frozen when a pod is
 * bound.
 *
 * @param model the GPU's model; null if nobody says it
 * @param millionths 1 000 000 costs as much as the reference
 * @param known false where the usual weight stands in for a model that nobody has weighed
 * @param memoryMiB memory of the GPU that the pod was placed on, with which a budget's reference is
 *     compared; 0 where its node speaks for that
 */
public record Weight(@Nullable String model, long millionths, boolean known, long memoryMiB) {

    private static final long ONE_MILLION = 1_000_000;

    /** As much as the reference, of whatever model. */
    public static final Weight ONE = new Weight(null, ONE_MILLION, true);

    /** Of a model, wherever it is. */
    public Weight(@Nullable String model, long millionths, boolean known) {
        this(model, millionths, known, 0);
    }

    public Weight {
        if (millionths < 0) {
            throw new IllegalArgumentException("A weight is never negative: " + millionths);
        }
    }

    /** The same of a GPU of that memory. */
    Weight of(long memory) {
        return new Weight(model, millionths, known, memory);
    }

    /** What is known of the GPU with which amounts are compared. */
    public NodeFacts on(NodeFacts node) {
        return new PhysicalGpu(model, memoryMiB).as(node);
    }
}
