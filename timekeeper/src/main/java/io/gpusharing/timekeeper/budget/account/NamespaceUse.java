package io.gpusharing.timekeeper.budget.account;

import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.GpuTime;
import java.time.Instant;

/**
 * What a namespace used of a budget in the present period, and holds now.
 *
 * @param rate micro-GPUs
 */
public record NamespaceUse(String namespace, GpuTime used, long rate) {

    NamespaceUse at(Instant from, Instant to) {
        return new NamespaceUse(namespace, used.plus(GpuTime.accrued(rate, from, to)), rate);
    }

    /** The same as people read it. */
    public GpuBudgetStatus.NamespaceUse published() {
        return new GpuBudgetStatus.NamespaceUse(
                namespace, used.microGpuSeconds(), used.minutes(), rate);
    }
}
