package io.gpusharing.timekeeper.budget.account;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import io.gpusharing.budget.PeriodRule;
import io.gpusharing.budget.Terms;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A budget's line as the ledger's rows make it, from the opening of a period to the last step
 * before an instant.
 *
 * @param period that the instant is in
 * @param counted since when its use counts
 * @param base the last step, or where the opening begins to count
 * @param line as of {@code base}; null if it was unlimited
 * @param late what became known late and counts since the opening, by namespace
 * @param begun the periods that have begun since, as they are to be opened
 */
public record BalanceReplay(
        Period period,
        Instant counted,
        Instant base,
        @Nullable BudgetLine line,
        Map<String, GpuTime> late,
        List<CarryOver> begun) {

    /** What was posted for [from, to), by namespace; {@code to} is null for all there is. */
    public interface Usage {
        Map<String, GpuTime> posted(Instant from, @Nullable Instant to);

        /** What was posted since an instant for spans before another. */
        Map<String, GpuTime> late(Instant before, Instant since);
    }

    /**
     * Goes from step to step.
     *
     * @param periods how periods are cut
     * @param terms that count for them; null if it was unlimited
     * @param grants all that count at or after the opening
     */
    public static BalanceReplay of(
            CarryOver carryOver,
            PeriodRule periods,
            @Nullable Terms terms,
            List<Grant> grants,
            Usage usage,
            Instant now) {
        var begun = new ArrayList<CarryOver>();
        Instant counted = carryOver.countedFrom();
        Instant base = carryOver.countedFrom();
        Period period = carryOver.period();
        Map<String, GpuTime> late = usage.late(carryOver.countedFrom(), carryOver.openedAt());
        BudgetLine line = terms == null ? null : carryOver.line(terms, grants);
        Instant step = nextStep(line, period);
        while (step != null && !step.isAfter(now)) {
            GpuTime used = sum(usage.posted(base, step));
            if (base.equals(carryOver.countedFrom())) {
                used = used.plus(sum(late));
            }
            BudgetLine before = line;
            line = before == null ? null : before.after(used, step);
            if (step.equals(period.end())) {
                period = new Period(step, periods.at(step).end());
                counted = step;
                begun.add(CarryOver.following(before, used, line, grants, period));
            }
            base = step;
            step = nextStep(line, period);
        }
        return new BalanceReplay(period, counted, base, line, late, begun);
    }

    /** The next instant at which something changes by itself; null if nothing does. */
    static @Nullable Instant nextStep(@Nullable BudgetLine line, Period period) {
        return line == null ? period.end() : line.nextStep();
    }

    public static GpuTime sum(Map<String, GpuTime> used) {
        return used.values().stream().reduce(GpuTime.ZERO, GpuTime::plus);
    }
}
