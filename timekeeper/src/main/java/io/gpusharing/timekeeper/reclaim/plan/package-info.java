/**
 * Whom to evict for whom, pure. {@link Planner} makes a {@link Decision} for each {@link Waiter} of
 * a {@link ClusterSnapshot}; it asks {@link WaiterQueue} whose turn it is, {@link FitCheck} where
 * the waiter would fit, {@link VictimFilter} who may be evicted, {@link DisruptionGuard} who can go
 * now, {@link Selection} who goes.
 *
 * <p>Resources of nodes, as the scheduler counts them: {@link PodAmounts}, {@link Amounts}, {@link
 * SchedulingConstraints}. Physical GPUs, by the annotations of whoever hands them out: {@link
 * Placement} for {@link VcudaPlacement} and {@link HamiPlacement}.
 */
@NullMarked
package io.gpusharing.timekeeper.reclaim.plan;

import org.jspecify.annotations.NullMarked;
