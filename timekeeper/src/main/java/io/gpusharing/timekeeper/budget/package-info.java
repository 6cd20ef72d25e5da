/**
 * Budgets: their periods, balances and standings, and how people learn of them.
 *
 * <p>Objects: {@link BudgetWatch}, {@link GrantWatch} and {@link QuotaWatch} follow the cluster,
 * {@link DefaultBudgets} and {@link GrantOrders} make objects in it.
 *
 * <p>Arithmetic: {@link Budgets} holds an {@link Account} for each {@link Budget} and computes its
 * {@link BudgetState}; {@link Assignment} and {@link TariffTable} say who pays for a namespace.
 *
 * <p>Rows: {@link Periods} with their {@link Opening}, {@link GrantBook}, {@link TermsBook}. {@link
 * Balances} and {@link Course} answer from them what was left at any time in the past.
 *
 * <p>Output: {@link StatusPublisher} writes {@code GpuBudget.status}, {@link Announcer} writes
 * Events, {@link Marker} annotates running pods by each {@link Mark}, {@link BudgetMetrics} shows
 * gauges.
 */
@NullMarked
package io.gpusharing.timekeeper.budget;

import org.jspecify.annotations.NullMarked;
