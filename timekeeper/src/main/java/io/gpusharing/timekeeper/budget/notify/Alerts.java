package io.gpusharing.timekeeper.budget.notify;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.web.LeaderTask;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What of a budget calls for attention at an instant. Conditions say it; when it changes next is
 * known ahead.
 *
 * @param standing what people read of its standing
 * @param percent largest of {@code warnAtPercent} that is used; 0 if none is
 * @param endsSoon whether what is left lasts for 15 minutes at most
 */
public record Alerts(String standing, int percent, boolean endsSoon) {

    public static Alerts at(BudgetState state, Instant now) {
        int reached = 0;
        GpuTime left = state.remaining(now).orElse(null);
        if (left != null) {
            for (int percent : state.spec().warnAtPercent()) {
                GpuTime threshold = BudgetNotification.leftAt(state, percent);
                if (threshold != null && left.compareTo(threshold) <= 0) {
                    reached = Math.max(reached, percent);
                }
            }
        }
        Instant notice = notice(state);
        boolean over = left != null && !left.isPositive();
        boolean endsSoon = notice != null && !now.isBefore(notice) && !over;
        return new Alerts(state.standingWord(now), reached, endsSoon);
    }

    /** When that changes, as far as it is known; null if it does not in this period. */
    public static @Nullable Instant nextAfter(BudgetState state, Instant now) {
        Instant next = sooner(sooner(null, state.exhaustedAt(), now), notice(state), now);
        for (int percent : state.spec().warnAtPercent()) {
            GpuTime threshold = BudgetNotification.leftAt(state, percent);
            if (threshold != null) {
                next =
                        sooner(
                                next,
                                state.line()
                                        .map(line -> line.whenRemaining(threshold))
                                        .orElse(null),
                                now);
            }
        }
        return next;
    }

    private static @Nullable Instant notice(BudgetState state) {
        Instant end = state.exhaustedSince() == null ? state.exhaustedAt() : null;
        return end == null ? null : end.minus(BudgetNotification.NOTICE);
    }

    private static @Nullable Instant sooner(
            @Nullable Instant known, @Nullable Instant candidate, Instant after) {
        return candidate == null || !candidate.isAfter(after)
                ? known
                : LeaderTask.sooner(known, candidate);
    }
}
