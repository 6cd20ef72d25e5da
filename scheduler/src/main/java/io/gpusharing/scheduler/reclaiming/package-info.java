/**
 * Makes room for a pod in budget that kube-scheduler cannot place, and only then.
 *
 * <p>A round, driven by {@link io.gpusharing.scheduler.reclaiming.Reclaimer}: {@code
 * picture.reading} reads the cluster, the planner of {@code plan} decides for each waiting pod,
 * {@link io.gpusharing.scheduler.reclaiming.ReclaimEvictions} writes the plan down as a {@code
 * GpuEviction}, which {@code evicting} carries out. What became of earlier ones is read from these
 * objects, as {@link io.gpusharing.scheduler.reclaiming.ReclaimPlan}.
 */
@NullMarked
package io.gpusharing.scheduler.reclaiming;

import org.jspecify.annotations.NullMarked;
