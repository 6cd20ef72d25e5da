/**
 * Makes room for a pod in budget that the scheduler cannot place, and only then.
 *
 * <p>A round, driven by {@link Reclaimer}: {@link ClusterSnapshotReader} reads the cluster, the
 * planner of {@code plan} decides for each waiting pod, {@link ReclaimEvictions} writes the plan
 * down as a {@code GpuEviction}, which the scheduler's evictor carries out. What became of earlier
 * ones is read from these objects, as {@link ReclaimPlan}.
 */
@NullMarked
package io.gpusharing.timekeeper.reclaim;

import org.jspecify.annotations.NullMarked;
