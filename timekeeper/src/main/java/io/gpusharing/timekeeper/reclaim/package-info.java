/**
 * Makes room for a pod in budget that the scheduler cannot place, and only then.
 *
 * <p>A round, driven by {@link Reclaimer}: {@link ClusterSnapshotReader} reads the cluster into a
 * {@link Scene}, {@link Planner} makes a {@link Decision} for each {@link Waiter}, {@link Receipts}
 * writes a plan down, {@link Evictions} carries it out. {@link EvictionRepository} shows the
 * receipts to people.
 *
 * <p>What the planner asks: {@link WaiterQueue} whose turn it is, {@link FitCheck} where the waiter
 * would fit, {@link VictimFilter} who may be evicted, {@link DisruptionGuard} who can go now,
 * {@link Selection} who goes.
 *
 * <p>Resources of nodes, as the scheduler counts them: {@link PodTranslation}, {@link PodAmounts},
 * {@link Amounts}, {@link SchedulingConstraints}. Physical GPUs, by the annotations of whoever
 * hands them out: {@link Placement} for {@link VcudaPlacement} and {@link HamiPlacement}, {@link
 * GpuLayout}.
 */
@NullMarked
package io.gpusharing.timekeeper.reclaim;

import org.jspecify.annotations.NullMarked;
