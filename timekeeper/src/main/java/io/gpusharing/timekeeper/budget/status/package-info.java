/**
 * {@code GpuBudget} objects: {@link BudgetWatch}, {@link QuotaWatch} and {@link NamespaceWatch}
 * follow what budgets depend on, {@link DefaultBudgets} creates those of namespaces that no budget
 * names, {@link StatusPublisher} writes their status, {@link LedgerWord} says up to when it can be
 * relied on, {@link BudgetMetrics} and {@link BudgetController} show it; the former on a page of
 * its own ({@link BudgetMetricsController}), since it has names. {@link UnpaidWatch} tells who uses
 * GPUs without one.
 */
@NullMarked
package io.gpusharing.timekeeper.budget.status;

import org.jspecify.annotations.NullMarked;
