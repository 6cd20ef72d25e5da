package io.gpusharing.scheduler.pods;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.gpusharing.ApiTime;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** What a pod's status says of who made it end (Kubernetes, {@code DisruptionTarget}). */
public final class Disruption {

    /** The type of the condition. */
    public static final String CONDITION = "DisruptionTarget";

    /** Of a pod that kube-scheduler ends for one of a higher priority. */
    public static final String BY_SCHEDULER = "PreemptionByScheduler";

    private Disruption() {}

    /**
     * When it was said last that this is why a pod ends, in whole seconds; empty if it never was.
     *
     * @param reason of the condition, for instance {@link #BY_SCHEDULER}
     */
    public static Optional<Instant> at(Pod pod, String reason) {
        if (pod.getStatus() == null) {
            return Optional.empty();
        }
        return requireNonNullElse(pod.getStatus().getConditions(), List.<PodCondition>of()).stream()
                .filter(it -> CONDITION.equals(it.getType()))
                .filter(it -> "True".equals(it.getStatus()))
                .filter(it -> reason.equals(it.getReason()))
                .map(PodCondition::getLastTransitionTime)
                .filter(Objects::nonNull)
                .map(ApiTime::read)
                .max(Comparator.naturalOrder());
    }
}
