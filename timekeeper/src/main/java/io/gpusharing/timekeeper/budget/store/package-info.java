/** Rows of budgets: the terms that held, the periods that were closed, the grants. */
@NullMarked
package io.gpusharing.timekeeper.budget.store;

import org.jspecify.annotations.NullMarked;
