package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.GpuTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Something that is told once: that a share of a budget is used, or all of it.
 *
 * @param kind {@code Used80} and the like, or {@code Exhausted}
 * @param granted what the period gives; after a grant the same can be told again
 * @param due when it is true
 */
record Announcement(
        String budget,
        String uid,
        Instant periodStart,
        String kind,
        GpuTime granted,
        Instant due,
        String message) {

    static final String EXHAUSTED = "Exhausted";

    /** What the line of a budget will bring in this period, soonest first. */
    static List<Announcement> of(BudgetState state) {
        var announcements = new ArrayList<Announcement>();
        state.line()
                .ifPresent(line -> {
                    GpuTime granted = state.granted(state.asOf()).orElse(GpuTime.ZERO);
                    for (int percent : state.spec().warnAtPercent()) {
                        add(announcements, state, line, granted, percent);
                    }
                    add(announcements, state, line, granted, 100);
                });
        announcements.sort(Comparator.comparing(Announcement::due));
        return announcements;
    }

    private static void add(
            List<Announcement> announcements,
            BudgetState state,
            BudgetLine line,
            GpuTime granted,
            int percent) {
        GpuTime left = granted.minus(granted.percent(percent));
        boolean all = percent == 100;
        Instant due = all ? state.exhaustedAt() : line.whenRemaining(left);
        if (due == null) {
            return;
        }
        announcements.add(
                new Announcement(
                        state.name(),
                        state.uid(),
                        state.period().start(),
                        all ? EXHAUSTED : "Used" + percent,
                        granted,
                        due,
                        all
                                ? "All %s GPU-minutes of the period are used; onExhausted is %s"
                                        .formatted(granted.minutes(), state.spec().onExhausted())
                                : "%d %% of %s GPU-minutes are used"
                                        .formatted(percent, granted.minutes())));
    }
}
