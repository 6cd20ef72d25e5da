package io.gpusharing.scheduler.picture;

import io.gpusharing.placement.PodHold;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A pod that holds resources of a node.
 *
 * @param since when it was bound
 * @param share micro-GPUs it holds; none for a pod without GPUs
 * @param hold what it holds of the node
 * @param gang pods with the same one are evicted together or not at all: the owning Job, a pod
 *     group, or the pod itself, as always for one that should be gone already
 * @param leaving whether it is being deleted and will be gone within the longest grace that reclaim
 *     gives; not if it should be gone already
 * @param exemption why it must never be evicted, in words; null if nothing speaks for that
 * @param disruptionBudgets names of the PodDisruptionBudgets of its namespace that select it
 * @param end by when it is to have ended if it is being deleted; null if it is not
 * @param grace what it has to end: its own grace, or what it was deleted with if that is longer
 */
public record Holder(
        PodRef pod,
        String node,
        Instant since,
        int priority,
        long share,
        PodHold hold,
        String gang,
        boolean leaving,
        @Nullable String exemption,
        Set<String> disruptionBudgets,
        @Nullable Instant end,
        Duration grace) {

    public boolean hasGpu() {
        return share > 0;
    }

    /** Returns the pod as one that goes alone. */
    public Holder alone() {
        return new Holder(
                pod,
                node,
                since,
                priority,
                share,
                hold,
                pod.uid(),
                leaving,
                exemption,
                disruptionBudgets,
                end,
                grace);
    }

    /** The same pod, once it was asked to end. */
    public Holder asLeaving() {
        return new Holder(
                pod,
                node,
                since,
                priority,
                share,
                hold,
                gang,
                true,
                exemption,
                disruptionBudgets,
                end,
                grace);
    }
}
