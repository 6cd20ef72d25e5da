package io.gpusharing.timekeeper.usage;

import java.math.BigDecimal;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;

/**
 * How busy a pod was, in percent with one decimal. Where others on its GPUs computed, nobody knows
 * for certain: the driver's samples name one process each, and who computes in step with them is
 * never named. Then it is told how busy it was at most, and never that it was idle.
 *
 * @param percent null where that is not certain, or nobody watched
 * @param atMostPercent null where it is certain, or nobody watched
 */
public record Busy(@Nullable String percent, @Nullable String atMostPercent) {

    /**
     * Of what was held while somebody watched.
     *
     * @param measured what was counted for the pod
     * @param atMost the most that it can have been
     * @param whole what it could have been, in the same unit
     */
    static Busy of(long measured, long atMost, BigDecimal whole) {
        String counted = percent(measured, whole);
        String most = percent(Math.max(measured, atMost), whole);
        return counted == null || counted.equals(most)
                ? new Busy(counted, null)
                : new Busy(null, most);
    }

    private static @Nullable String percent(long part, BigDecimal whole) {
        return whole.signum() <= 0
                ? null
                : BigDecimal.valueOf(part)
                        .multiply(BigDecimal.valueOf(100))
                        .divide(whole, 1, RoundingMode.HALF_EVEN)
                        .toPlainString();
    }
}
