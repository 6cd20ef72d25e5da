package io.gpusharing.timekeeper.recount;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What one pod held, by the audit log.
 *
 * @param compute compute part in millionths of a GPU
 * @param memory memory part in millionths of a GPU
 * @param from when it was scheduled
 * @param to when it ended; null while it has not
 * @param unknown why it cannot be recounted; null if it can
 */
public record Bill(
        String uid,
        String namespace,
        String name,
        long compute,
        long memory,
        Instant from,
        @Nullable Instant to,
        @Nullable String unknown) {

    /** The same, had it ended then. */
    Bill endingAt(@Nullable Instant end) {
        return new Bill(uid, namespace, name, compute, memory, from, end, unknown);
    }

    /**
     * Micro-GPU-seconds within [start, end).
     *
     * @param formula {@code Max}, {@code Mean}, {@code Compute} or {@code Memory}
     * @param weight of the GPU model, in millionths; the site's choice, which no audit log shows
     */
    long amount(String formula, long weight, Instant start, Instant end) {
        Instant first = from.isAfter(start) ? from : start;
        Instant last = to == null || to.isAfter(end) ? end : to;
        return first.isBefore(last)
                ? Math.multiplyExact(
                        weighed(rate(formula), weight), Duration.between(first, last).toSeconds())
                : 0;
    }

    private static long weighed(long rate, long weight) {
        return BigInteger.valueOf(rate)
                .multiply(BigInteger.valueOf(weight))
                .divide(BigInteger.valueOf(1_000_000))
                .longValueExact();
    }

    private long rate(String formula) {
        return switch (formula) {
            case "Compute" -> compute;
            case "Memory" -> memory;
            case "Mean" ->
                    BigInteger.valueOf(compute)
                            .add(BigInteger.valueOf(memory))
                            .shiftRight(1)
                            .longValueExact();
            default -> Math.max(compute, memory);
        };
    }
}
