package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/** The pods with our label for which their scheduler has found no place. */
@Component
public final class UnschedulablePods {

    /** Since when, by UID. */
    private final Map<String, Instant> since = new ConcurrentHashMap<>();

    /** Whether there is one that has been unschedulable since then or for longer. */
    public boolean anySince(Instant then) {
        return since.values().stream().anyMatch(it -> !it.isAfter(then));
    }

    /** A pod is new or has changed. */
    public void see(Pod pod) {
        String uid = pod.getMetadata().getUid();
        unschedulableSince(pod)
                .ifPresentOrElse(instant -> since.put(uid, instant), () -> since.remove(uid));
    }

    /** A pod has ended, or is gone. */
    void forget(String uid) {
        since.remove(uid);
    }

    private static boolean isMetered(Pod pod) {
        Map<String, String> labels = pod.getMetadata().getLabels();
        return labels != null && "true".equals(labels.get(Names.METERED_LABEL));
    }

    private static Optional<Instant> unschedulableSince(Pod pod) {
        PodSpec spec = pod.getSpec();
        PodStatus status = pod.getStatus();
        return status == null
                        || !isMetered(pod)
                        || pod.getMetadata().getDeletionTimestamp() != null
                        || spec.getNodeName() != null
                        || status.getNominatedNodeName() != null
                        || !spec.getSchedulingGates().isEmpty()
                ? Optional.empty()
                : status.getConditions().stream()
                        .filter(it -> "PodScheduled".equals(it.getType()))
                        .filter(it -> "Unschedulable".equals(it.getReason()))
                        .map(PodCondition::getLastTransitionTime)
                        .filter(Objects::nonNull)
                        .map(ApiTime::read)
                        .findFirst();
    }
}
