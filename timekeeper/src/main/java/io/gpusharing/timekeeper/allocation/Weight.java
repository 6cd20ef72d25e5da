package io.gpusharing.timekeeper.allocation;

import org.jspecify.annotations.Nullable;

/**
 * What a share of a GPU costs beside the same share of the reference model, frozen when a pod is
 * bound.
 *
 * @param model the node's GPU model; null if its node does not say
 * @param millionths 1 000 000 costs as much as the reference
 * @param known false where the usual weight stands in for a model that nobody has weighed
 */
public record Weight(@Nullable String model, long millionths, boolean known) {

    private static final long ONE_MILLION = 1_000_000;

    /** As much as the reference, of whatever model. */
    public static final Weight ONE = new Weight(null, ONE_MILLION, true);

    public Weight {
        if (millionths < 0) {
            throw new IllegalArgumentException("A weight is never negative: " + millionths);
        }
    }
}
