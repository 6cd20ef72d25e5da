package io.gpusharing.recount;

import io.gpusharing.recount.Payers.Paid;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
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
 * @param parts the amount by rates, each of which occurs once
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
        @Nullable Instant endBound,
        List<Part> parts) {

    /**
     * What was charged at one rate.
     *
     * @param rate micro-GPUs
     * @param amount micro-GPU-seconds
     * @param from when the first of it began
     * @param to when the last of it ended
     */
    public record Part(long rate, long amount, Instant from, Instant to) {

        Part and(Part other) {
            return new Part(
                    rate,
                    Math.addExact(amount, other.amount),
                    from.isBefore(other.from) ? from : other.from,
                    to.isAfter(other.to) ? to : other.to);
        }
    }

    /** Adds up what stands in several places. */
    public static List<Part> byRate(Collection<Part> parts) {
        var byRate = new LinkedHashMap<Long, Part>();
        parts.stream()
                .filter(part -> part.amount() != 0)
                .forEach(part -> byRate.merge(part.rate(), part, Part::and));
        return List.copyOf(byRate.values());
    }

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
