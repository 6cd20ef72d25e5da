/**
 * The arithmetic of a budget, pure: an {@link Account} of a {@link Budget} adds up entries and
 * grants over periods, {@link CarryOver} is what one leaves to the next, {@link BudgetState} is
 * what is known of it now, {@link AccountStatement} and {@link BalanceReplay} compute it for any
 * time in the past.
 */
@NullMarked
package io.gpusharing.timekeeper.budget.account;

import org.jspecify.annotations.NullMarked;
