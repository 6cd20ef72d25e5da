package io.gpusharing.scheduler.picture;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Standing;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The budget that pays for a pod, at the instant of the decision.
 *
 * @param minimumRun how long a pod of it may run before it may be evicted
 * @param paused whether an administrator wants reclaim to leave its pods alone
 * @param doubt why nobody may act on its standing, neither against its pods nor for them, in words;
 *     null if they may
 */
public record BudgetAccount(
        String name,
        Standing standing,
        OnExhausted onExhausted,
        Duration minimumRun,
        boolean paused,
        @Nullable String doubt) {

    public boolean isOver() {
        return standing instanceof Standing.OverBudget;
    }

    public GpuTime overrun() {
        return standing instanceof Standing.OverBudget(GpuTime overrun) ? overrun : GpuTime.ZERO;
    }

    /**
     * Whether a pod of it may be evicted, as far as the budget says.
     *
     * @param lowered whether it was admitted over it, with the class of that
     * @param since since when the pod, or the first of its gang, runs
     */
    public boolean letsGo(boolean lowered, Instant since, Instant now) {
        return doubt == null
                && isOver()
                && onExhausted.allowsEviction(lowered)
                && !paused
                && !now.isBefore(since.plus(minimumRun));
    }

    /** When it ends at the present rate; null if it has ended, or does not. */
    public @Nullable Instant exhaustedAt() {
        return standing instanceof Standing.InBudget in ? in.exhaustedAt() : null;
    }

    /** The same while reclaim leaves its pods alone. */
    public BudgetAccount asPaused() {
        return new BudgetAccount(name, standing, onExhausted, minimumRun, true, doubt);
    }

    /** The same at a later instant of the same period, if nothing starts and nothing ends. */
    public BudgetAccount at(Instant later) {
        Instant end = exhaustedAt();
        return end == null || later.isBefore(end)
                ? this
                : new BudgetAccount(
                        name,
                        new Standing.OverBudget(GpuTime.ZERO),
                        onExhausted,
                        minimumRun,
                        paused,
                        doubt);
    }
}
