package io.gpusharing.scheduler.preemption;

import io.gpusharing.sharing.Amounts;
import java.util.List;

/**
 * What a node has and what pods take of it, as kube-scheduler counts it.
 *
 * @param allocatable what pods may take altogether
 * @param bound pods that are bound and have not ended
 * @param nominated pods for which room is being made there
 */
public record NodePods(Amounts allocatable, List<Load> bound, List<Load> nominated) {

    public NodePods {
        bound = List.copyOf(bound);
        nominated = List.copyOf(nominated);
    }

    /** A pod and what it takes. */
    public record Load(RunningPod pod, Amounts requests) {}

    /** Of pods of which only the GPUs matter. */
    static NodePods byGpusAlone(List<RunningPod> pods) {
        return new NodePods(
                Amounts.NONE,
                pods.stream().map(pod -> new Load(pod, Amounts.NONE)).toList(),
                List.of());
    }
}
