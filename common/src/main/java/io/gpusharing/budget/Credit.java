package io.gpusharing.budget;

import java.time.Instant;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * GPU time that may be used from one instant until another: the period's allowance, what rolled
 * over from the last one, or a grant.
 *
 * @param source {@link #ALLOWANCE}, {@link #ROLLOVER} or the grant's name
 * @param remaining what is left of it, never negative
 * @param from the first instant at which it may be used
 * @param until the first instant at which it may not be used any more; null if it never expires
 * @param planned what {@code until} was while it was used; later than that if it was revoked
 */
public record Credit(
        String source,
        GpuTime remaining,
        Instant from,
        @Nullable Instant until,
        @Nullable Instant planned) {

    /** Source of the period's own allowance. */
    public static final String ALLOWANCE = "allowance";

    /** Source of what was left of the last period and may still be used in this one. */
    public static final String ROLLOVER = "rollover";

    /**
     * What is to expire first is used first; of those that expire together, what began first; of
     * those the first by name. That one was revoked later changes nothing of the past.
     */
    static final Comparator<Credit> BURN_ORDER =
            Comparator.comparing(Credit::planned, Comparator.nullsLast(Comparator.naturalOrder()))
                    .thenComparing(Credit::from)
                    .thenComparing(Credit::source);

    public Credit {
        if (remaining.microGpuSeconds() < 0) {
            throw new IllegalArgumentException("A credit never holds less than nothing: " + source);
        }
    }

    /** It ends as planned. */
    public Credit(String source, GpuTime remaining, Instant from, @Nullable Instant until) {
        this(source, remaining, from, until, until);
    }

    boolean activeAt(Instant instant) {
        return !from.isAfter(instant) && (until == null || instant.isBefore(until));
    }

    Credit withRemaining(GpuTime left) {
        return new Credit(source, left, from, until, planned);
    }
}
