/**
 * Budgets: their periods, balances and standings, and how people learn of them.
 *
 * <p>Objects: {@link BudgetWatch}, {@link GrantWatch} and {@link QuotaWatch} follow the cluster,
 * {@link DefaultBudgets} and {@link GrantOrders} make objects in it.
 *
 * <p>Arithmetic: {@link Budgets} holds an {@link Account} for each {@link Budget} and computes its
 * {@link BudgetState}; {@link Assignment} and {@link PayerTable} say who pays for a namespace.
 *
 * <p>Rows: {@link PeriodRepository} with their {@link CarryOver}, {@link GrantRepository}, {@link
 * TermsRepository}. {@link Balances} and {@link AccountStatement} answer from them what was left at
 * any time in the past.
 *
 * <p>Output: {@link StatusPublisher} writes {@code GpuBudget.status}, {@link BudgetNotifier} writes
 * Events, {@link PodAnnotator} annotates running pods by each {@link PodAnnotation}, {@link
 * BudgetMetrics} shows gauges.
 */
@NullMarked
package io.gpusharing.timekeeper.budget;

import org.jspecify.annotations.NullMarked;
