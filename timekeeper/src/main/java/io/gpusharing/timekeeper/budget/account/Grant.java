package io.gpusharing.timekeeper.budget.account;

import io.gpusharing.budget.Credit;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * GPU time on top of a budget. It begins and ends with a whole second, as every charge does: parts
 * of a second that somebody wrote are cut off.
 *
 * @param from first instant at which it counts
 * @param expires first instant at which it does not; null for the end of the period in which it
 *     began
 * @param ended when its object was deleted; null while it stands
 */
public record Grant(
        String uid,
        String name,
        String budget,
        GpuTime amount,
        String reason,
        @Nullable String author,
        Instant from,
        @Nullable Instant expires,
        @Nullable Instant ended) {

    /** RFC 3339 ends with the year 9999; a later instant, by its offset, could not be published. */
    private static final Instant END_OF_TIME = Instant.parse("9999-12-31T23:59:59Z");

    public Grant {
        from = whole(from);
        expires = expires == null ? null : whole(expires);
    }

    /** One that stands. */
    public Grant(
            String uid,
            String name,
            String budget,
            GpuTime amount,
            String reason,
            @Nullable String author,
            Instant from,
            @Nullable Instant expires) {
        this(uid, name, budget, amount, reason, author, from, expires, null);
    }

    private static Instant whole(Instant instant) {
        return instant.isAfter(END_OF_TIME) ? END_OF_TIME : instant.truncatedTo(ChronoUnit.SECONDS);
    }

    /** Until when it counts; null for ever. */
    @Nullable Instant until(PeriodRule periods) {
        return isRevoked(periods) ? ended : planned(periods);
    }

    /** Whether it was deleted before it would have ended. */
    boolean isRevoked(PeriodRule periods) {
        Instant end = planned(periods);
        return ended != null && (end == null || ended.isBefore(end));
    }

    private @Nullable Instant planned(PeriodRule periods) {
        return expires != null ? expires : periods.at(from).end();
    }

    /**
     * Its credit.
     *
     * @param remaining what is left of it
     */
    Credit credit(GpuTime remaining, PeriodRule periods) {
        return new Credit(source(), remaining, from, until(periods), planned(periods));
    }

    /** Whether a credit of a budget's line is what is left of this grant. */
    boolean isSourceOf(Credit credit) {
        return credit.source().equals(source()) && credit.from().equals(from);
    }

    /**
     * Its name; but a grant may be called {@code rollover}, and must not be taken for one. No
     * object's name has a slash.
     */
    private String source() {
        boolean taken = name.equals(Credit.ALLOWANCE) || name.equals(Credit.ROLLOVER);
        return taken ? "grant/" + name : name;
    }
}
