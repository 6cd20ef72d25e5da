package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.Set;

/** What a pod's phase says (Kubernetes API, {@code PodStatus}). */
public final class PodPhase {

    private static final Set<String> ENDED = Set.of("Succeeded", "Failed");

    private PodPhase() {}

    /**
     * Whether none of its containers runs, or will run again. Whoever may write a status may write
     * one without a phase: that pod has not ended.
     */
    public static boolean hasEnded(Pod pod) {
        return pod.getStatus() != null
                && ENDED.contains(String.valueOf(pod.getStatus().getPhase()));
    }
}
