package io.gpusharing.timekeeper.budget.account;

import io.gpusharing.budget.GpuTime;
import java.math.BigInteger;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** What a budget used in a span. */
@FunctionalInterface
public interface UsedTime {

    /** What was used in [from, to), both whole seconds. */
    GpuTime in(Instant from, Instant to);

    /**
     * When the last of an amount was used, rounded up to the microsecond.
     *
     * @param from a whole second
     * @return null if the amount is nothing, or more than was used until {@code to}
     */
    default @Nullable Instant whenUsed(GpuTime amount, Instant from, Instant to) {
        long before = 0;
        long after = from.until(to, ChronoUnit.SECONDS);
        if (!amount.isPositive() || in(from, from.plusSeconds(after)).compareTo(amount) < 0) {
            return null;
        }
        while (after - before > 1) {
            long middle = (before + after) / 2;
            boolean enough = in(from, from.plusSeconds(middle)).compareTo(amount) < 0;
            before = enough ? middle : before;
            after = enough ? after : middle;
        }
        Instant second = from.plusSeconds(before);
        GpuTime rest = amount.minus(in(from, second));
        long rate = in(second, from.plusSeconds(after)).microGpuSeconds();
        if (rate <= 0) {
            // Between two of these questions somebody else corrected the ledger.
            return second;
        }
        // Ten thousand absurd pods leave a long here, too.
        BigInteger micros =
                BigInteger.valueOf(rest.microGpuSeconds())
                        .multiply(BigInteger.valueOf(1_000_000))
                        .add(BigInteger.valueOf(rate - 1))
                        .divide(BigInteger.valueOf(rate));
        return second.plus(micros.longValueExact(), ChronoUnit.MICROS);
    }
}
