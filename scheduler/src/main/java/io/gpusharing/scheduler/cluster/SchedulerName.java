package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.Names;
import java.util.Map;

/** The {@code spec.schedulerName} of the pods that are placed here. */
public record SchedulerName(String name) {

    /** Whether we see what becomes of a pod; see {@link PodWatch}. */
    public boolean follows(Pod pod) {
        Map<String, String> labels = pod.getMetadata().getLabels();
        return name.equals(pod.getSpec().getSchedulerName())
                || (labels != null && "true".equals(labels.get(Names.METERED_LABEL)));
    }
}
