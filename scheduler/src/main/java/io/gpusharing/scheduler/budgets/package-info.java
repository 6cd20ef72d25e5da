/**
 * Budgets as the cluster's objects have them, and whether they may be acted on now: whose money it
 * is knows the timekeeper alone, which says it in the status of each {@code GpuBudget}.
 */
@NullMarked
package io.gpusharing.scheduler.budgets;

import org.jspecify.annotations.NullMarked;
