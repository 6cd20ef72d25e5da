/**
 * Whom to evict for whom, pure. {@link Planner} makes a {@link Decision} for each waiting pod of a
 * cluster snapshot: {@link WaiterQueue} says whose turn it is, {@link WaiterFilter} whether
 * anything is done for it, {@link FitCheck} what there is for it, {@link VictimFilter} who may be
 * evicted, {@link DisruptionGuard} who can go now, {@link VictimSelector} who goes, by {@link
 * BudgetOrder}.
 */
@NullMarked
package io.gpusharing.scheduler.reclaiming.plan;

import org.jspecify.annotations.NullMarked;
