package io.gpusharing.timekeeper.reclaim.snapshot;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Standing;
import java.time.Duration;

/**
 * The budget that pays for a pod, at the instant of the decision.
 *
 * @param minimumRun how long a pod of it may run before it may be evicted
 * @param paused whether an administrator wants reclaim to leave its pods alone
 */
public record BudgetAccount(
        String name,
        Standing standing,
        OnExhausted onExhausted,
        Duration minimumRun,
        boolean paused) {

    public boolean isOver() {
        return standing instanceof Standing.OverBudget;
    }

    public GpuTime overrun() {
        return standing instanceof Standing.OverBudget(GpuTime overrun) ? overrun : GpuTime.ZERO;
    }
}
