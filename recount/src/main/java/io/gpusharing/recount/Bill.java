package io.gpusharing.recount;

import io.gpusharing.recount.Removals.Removal;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one pod held, by the audit log.
 *
 * @param held parts of a GPU
 * @param from when it was scheduled
 * @param to when it ended; null while it has not. Where the log leaves several seconds, the last
 * @param removals those of which each may have ended it at a second that the log does not tell
 * @param unknown why it cannot be recounted; null if it can
 * @param onUnknownGpu whether it was placed on a GPU of which the log does not say how large it is,
 *     so that the share is right only if all GPUs of its node are alike
 * @param onAverage what it would have held if they were; null where it was not placed on GPUs that
 *     the log describes
 */
public record Bill(
        String uid,
        String namespace,
        String name,
        Held held,
        Instant from,
        @Nullable Instant to,
        List<Removal> removals,
        @Nullable String unknown,
        boolean onUnknownGpu,
        @Nullable Held onAverage) {

    /** The same, had it ended then. */
    Bill endingAt(@Nullable Instant end) {
        return new Bill(
                uid, namespace, name, held, from, end, List.of(), unknown, onUnknownGpu, onAverage);
    }

    /** The bill of a pod that was placed: on a GPU of which nothing is known, or on others. */
    Bill placed(boolean unknownGpu, @Nullable Held average) {
        return new Bill(
                uid, namespace, name, held, from, to, removals, unknown, unknownGpu, average);
    }

    /** Whether the log leaves it open that the pod ended at a second. */
    boolean canEndAt(@Nullable Instant second) {
        return second != null && removals.stream().anyMatch(it -> it.canBeAt(second));
    }

    /**
     * Micro-GPU-seconds within [start, end).
     *
     * @param formula {@code Max}, {@code Mean}, {@code Compute} or {@code Memory}
     * @param weight of the GPU model, in millionths; the site's choice, which no audit log shows
     */
    public long amount(String formula, long weight, Instant start, Instant end) {
        return Math.multiplyExact(rate(formula, weight), seconds(start, end));
    }

    /** How long it held that within [start, end). */
    long seconds(Instant start, Instant end) {
        Instant first = from.isAfter(start) ? from : start;
        Instant last = to == null || to.isAfter(end) ? end : to;
        return Math.max(0, Duration.between(first, last).toSeconds());
    }

    /** Micro-GPUs: share times weight, rounded down once. */
    public long rate(String formula, long weight) {
        return rate(held, formula, weight);
    }

    static long rate(Held held, String formula, long weight) {
        BigDecimal share =
                switch (formula) {
                    case "Compute" -> held.compute();
                    case "Memory" -> held.memory();
                    case "Mean" -> held.compute().add(held.memory());
                    default -> held.compute().max(held.memory());
                };
        BigDecimal one = formula.equals("Mean") ? held.of().add(held.of()) : held.of();
        return share.multiply(BigDecimal.valueOf(weight))
                .divideToIntegralValue(one)
                .longValueExact();
    }

    /**
     * Both parts of what a pod held, before anything is rounded.
     *
     * @param of so many are one GPU
     */
    record Held(BigDecimal compute, BigDecimal memory, BigDecimal of) {

        /** More GPUs than any cluster has; what is above that is somebody's joke. */
        private static final BigDecimal MOST_GPUS = BigDecimal.valueOf(100_000);

        static final Held NOTHING = new Held(BigDecimal.ZERO, BigDecimal.ZERO, BigDecimal.ONE);

        /** Whether no node can have given it. */
        boolean isAbsurd() {
            return compute.max(memory).compareTo(of.multiply(MOST_GPUS)) > 0;
        }
    }
}
