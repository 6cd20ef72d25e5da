package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.Names;
import java.util.Map;

/**
 * The {@code spec.schedulerName} of the pods that are placed here.
 *
 * @param name empty where the cluster's own scheduler asks us, which places most of its pods: then
 *     those are followed that admission has labelled, and no others
 */
public record SchedulerName(String name) {

    /** Whether pods are followed for the scheduler that they name. */
    public boolean isNamed() {
        return !name.isEmpty();
    }

    /** Whether we see what becomes of a pod; see {@link PodWatch}. */
    public boolean follows(Pod pod) {
        Map<String, String> labels = pod.getMetadata().getLabels();
        return (isNamed() && name.equals(pod.getSpec().getSchedulerName()))
                || (labels != null && "true".equals(labels.get(Names.METERED_LABEL)));
    }

    /** What somebody is told whose pod is not followed. */
    public String whyNot() {
        return isNamed()
                ? "the extender follows pods that name the scheduler %s: set gpusharing.scheduler.name"
                        .formatted(name)
                : "the extender follows pods that GPUSharing has admitted, and this one has no label %s: it is older, or of an excluded namespace"
                        .formatted(Names.METERED_LABEL);
    }
}
