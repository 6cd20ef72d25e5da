package io.gpusharing.timekeeper.ledger;

import io.gpusharing.budget.GpuTime;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;

/**
 * One pod's charge for [from, to). The span never crosses a full hour or the edge of a period. In a
 * correction, the rate is the difference, negative where too much was charged.
 *
 * @param budget who pays; {@link Payer#NOBODY} if no budget names the namespace
 * @param rate micro-GPUs
 */
public record Entry(
        UUID pod, String namespace, String budget, Instant from, Instant to, long rate) {

    public Entry {
        if (!from.isBefore(to)) {
            throw new IllegalArgumentException("An entry has a length: " + from + ", " + to);
        }
    }

    /** Its GPU time. */
    public GpuTime amount() {
        GpuTime size = GpuTime.accrued(Math.abs(rate), from, to);
        return rate < 0 ? GpuTime.ZERO.minus(size) : size;
    }

    /** The hour of the clock in UTC that it lies in. */
    public Instant hour() {
        return from.truncatedTo(ChronoUnit.HOURS);
    }

    /** The full hour that an instant is, or else the next. */
    public static Instant hourFrom(Instant instant) {
        return hourAfter(instant.minusNanos(1));
    }

    /** Start of the hour that an instant lies in; of a full hour, the one that ends there. */
    public static Instant hourBefore(Instant instant) {
        return instant.minusNanos(1).truncatedTo(ChronoUnit.HOURS);
    }

    public static Instant hourAfter(Instant instant) {
        return instant.truncatedTo(ChronoUnit.HOURS).plus(Duration.ofHours(1));
    }
}
