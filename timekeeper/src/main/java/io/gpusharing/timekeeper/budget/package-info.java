/** Periods, balances and standings of budgets, and how they are told. */
@NullMarked
package io.gpusharing.timekeeper.budget;

import org.jspecify.annotations.NullMarked;
