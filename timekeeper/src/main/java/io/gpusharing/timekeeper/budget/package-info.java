/**
 * Budgets as the ledger's thread knows them. {@link Budgets} says who pays for a namespace ({@link
 * PayerTable}) and follows postings; {@link Accounts} holds the account of each budget, {@link
 * PeriodOpener} opens its periods, {@link DueBudgets} says which of them has to be looked at;
 * {@link Balances} computes from the rows what was left at any time in the past. Payers, accounts
 * and the opener belong to the ledger writer's thread.
 *
 * <p>{@code account} is the arithmetic, {@code store} the rows, {@code status} the objects in the
 * cluster, {@code notify} what people are notified of, {@code grant} time on top.
 */
@NullMarked
package io.gpusharing.timekeeper.budget;

import org.jspecify.annotations.NullMarked;
