package io.gpusharing.timekeeper.reclaim.plan;

import io.gpusharing.placement.GpuHold;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A pod that holds resources of a node.
 *
 * @param since when it was bound
 * @param requests what it holds, as the scheduler counts it
 * @param share micro-GPUs it holds; none for a pod without GPUs
 * @param gpus which physical GPUs it holds; null if that is unknown
 * @param gang pods with the same one are evicted together or not at all: the owning Job, a pod
 *     group, or the pod itself, as always for one that should be gone already
 * @param leaving whether it is being deleted and will be gone within the longest grace that reclaim
 *     gives; not if it should be gone already
 * @param exemption why it must never be evicted, in words; null if nothing speaks for that
 * @param disruptionBudgets names of the PodDisruptionBudgets of its namespace that select it
 * @param grace what it has to end: its own grace, or what it was deleted with if that is longer
 */
public record GpuPod(
        PodRef pod,
        String node,
        Instant since,
        int priority,
        Amounts requests,
        long share,
        @Nullable List<GpuHold> gpus,
        String gang,
        boolean leaving,
        @Nullable String exemption,
        Set<String> disruptionBudgets,
        Duration grace) {

    boolean hasGpu() {
        return share > 0;
    }

    GpuPod asLeaving() {
        return new GpuPod(
                pod,
                node,
                since,
                priority,
                requests,
                share,
                gpus,
                gang,
                true,
                exemption,
                disruptionBudgets,
                grace);
    }
}
