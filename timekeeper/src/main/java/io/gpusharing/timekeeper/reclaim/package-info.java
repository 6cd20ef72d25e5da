/**
 * Makes room for a pod in budget that the scheduler cannot place, and only then.
 *
 * <p>A round, driven by {@link Reclaimer}: {@link ClusterSnapshotReader} reads the cluster, the
 * planner of {@code plan} decides for each waiting pod, {@link EvictionPlans} writes the plan down,
 * {@link Evictions} carries it out. {@link EvictionReceipts} shows them to people.
 */
@NullMarked
package io.gpusharing.timekeeper.reclaim;

import org.jspecify.annotations.NullMarked;
