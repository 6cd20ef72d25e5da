package io.gpusharing.timekeeper.budget.notify;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Something to be announced once: that a part of a budget is used, or all of it, or soon will be.
 *
 * @param kind {@code Used80} and the like, {@code EndsSoon} or {@code Exhausted}
 * @param granted what the period gives; after a grant the same can be due again
 * @param due when it is true
 */
public record BudgetNotification(
        String budget,
        Instant periodStart,
        String kind,
        GpuTime granted,
        Instant due,
        String message) {

    public static final String USED = "Used";
    public static final String EXHAUSTED = "Exhausted";
    public static final String ENDS_SOON = "EndsSoon";

    /** How long before the end of a budget its running pods are annotated. */
    static final Duration NOTICE = Duration.ofMinutes(15);

    /** What the line of a budget will bring in this period, soonest first. */
    public static List<BudgetNotification> of(BudgetState state) {
        var notifications = new ArrayList<BudgetNotification>();
        state.line()
                .ifPresent(line -> {
                    GpuTime granted = state.granted(state.asOf()).orElse(GpuTime.ZERO);
                    for (int percent : state.spec().warnAtPercent()) {
                        if (leftAt(state, percent) != null) {
                            add(notifications, state, line, granted, percent);
                        }
                    }
                    add(notifications, state, line, granted, 100);
                    addEndsSoon(notifications, state, granted);
                });
        notifications.sort(Comparator.comparing(BudgetNotification::due));
        return notifications;
    }

    /**
     * What is left when so much of the granted time is used; null for an unlimited budget, and for
     * one of nothing, which has no part to warn of.
     */
    static @Nullable GpuTime leftAt(BudgetState state, int percent) {
        return state.granted(state.asOf())
                .filter(GpuTime::isPositive)
                .map(granted -> granted.minus(granted.percent(percent)))
                .orElse(null);
    }

    /** The instant is known ahead, so the owners of running pods can be warned. */
    private static void addEndsSoon(
            List<BudgetNotification> notifications, BudgetState state, GpuTime granted) {
        Instant end = state.exhaustedAt();
        if (end == null || state.exhaustedSince() != null) {
            return;
        }
        Instant notice = end.minus(NOTICE);
        notifications.add(
                new BudgetNotification(
                        state.name(),
                        state.period().start(),
                        ENDS_SOON,
                        granted,
                        // An end that is nearer when it comes into sight is notified then.
                        notice.isBefore(state.asOf()) ? state.asOf() : notice,
                        "At the present rate nothing of %s GPU-minutes is left at %s; onExhausted is %s"
                                .formatted(granted.minutes(), end, state.spec().onExhausted())));
    }

    private static void add(
            List<BudgetNotification> notifications,
            BudgetState state,
            BudgetLine line,
            GpuTime granted,
            int percent) {
        GpuTime left = granted.minus(granted.percent(percent));
        boolean all = percent == 100;
        Instant due = all ? state.exhaustedAt() : line.whenRemaining(left);
        Instant step = line.nextStep();
        if (due == null || (step != null && !due.isBefore(step))) {
            // What a grant takes with it when it expires was not used; what is true then is
            // notified by
            // what is granted then.
            return;
        }
        notifications.add(
                new BudgetNotification(
                        state.name(),
                        state.period().start(),
                        all ? EXHAUSTED : USED + percent,
                        granted,
                        due,
                        all
                                ? "All %s GPU-minutes of the period are used; onExhausted is %s"
                                        .formatted(granted.minutes(), state.spec().onExhausted())
                                : "%d %% of %s GPU-minutes are used"
                                        .formatted(percent, granted.minutes())));
    }
}
