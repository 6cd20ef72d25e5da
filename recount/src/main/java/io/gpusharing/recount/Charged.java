package io.gpusharing.recount;

import io.gpusharing.recount.Payers.Paid;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the ledger has of a pod in the span.
 *
 * @param amount micro-GPU-seconds, what people corrected left out
 * @param paid who was charged from when to when, without gaps between
 * @param weight of its GPU model, in millionths
 * @param byUse whether it was charged by measured use, of which no audit log knows
 * @param heldUntil when it says the pod ended; null if it has not
 * @param estimated whether the ledger says itself that the end is an estimate
 * @param endBound when it says that the pod had ended by; null if it does not say
 */
public record Charged(
        String namespace,
        String name,
        long amount,
        List<Paid> paid,
        long weight,
        boolean byUse,
        @Nullable Instant heldUntil,
        boolean estimated,
        @Nullable Instant endBound) {

    /** Clocks of nodes, by which containers end, are believed that far. */
    private static final Duration CLOCK = Duration.ofSeconds(10);

    /** Whether a pod can have ended at an instant, by what the ledger says of its estimate. */
    boolean allows(@Nullable Instant end) {
        // A bound that is the estimate itself is the write that reported an impossible end.
        return end == null
                || endBound == null
                || endBound.equals(heldUntil)
                || !end.isAfter(endBound.plus(CLOCK));
    }
}
