package io.gpusharing.webhook.cluster;

import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.ObjectInformer;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/**
 * Reads budgets as they are in the cluster. One that cannot be understood counts as it was when it
 * was understood last, until the timekeeper has marked it as not understood: from then on it has no
 * limit, and the cluster says so.
 */
final class BudgetReader implements ObjectInformer.Handler<GpuBudget> {

    private final Clock clock;
    private final PublishedBudgets budgets;

    /**
     * @param shared see {@link PublishedBudgets}
     */
    BudgetReader(Clock clock, Optional<String> shared) {
        this.clock = clock;
        this.budgets = new PublishedBudgets(List.of(), shared);
    }

    /** All that were read, as they are now. */
    PublishedBudgets budgets() {
        return budgets;
    }

    @Override
    public void onUpdate(GpuBudget object) {
        PublishedBudget budget = object.published();
        // Here, and not at the review of a pod, which would fail then.
        var _ = budget.standingAt(clock.instant());
        budgets.put(budget, object.isMadeByDefault());
    }

    @Override
    public void onDelete(GpuBudget object) {
        budgets.remove(object.getMetadata().getName());
    }
}
