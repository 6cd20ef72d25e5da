/**
 * Budgets as the ledger's thread knows them. {@link Budgets} holds the account of each budget, says
 * who pays for a namespace ({@link PayerTable}), and follows postings; {@link Balances} computes
 * from the rows what was left at any time in the past.
 *
 * <p>{@code account} is the arithmetic, {@code store} the rows, {@code status} the objects in the
 * cluster, {@code notify} what people are notified of, {@code grant} time on top.
 */
@NullMarked
package io.gpusharing.timekeeper.budget;

import org.jspecify.annotations.NullMarked;
