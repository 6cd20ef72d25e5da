package io.gpusharing.scheduler.preemption;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A pod that is bound to a node, and what decides whether it has to go for another.
 *
 * @param started when its kubelet began with it; {@link Instant#MAX} if it has not yet
 * @param deletion until when it may take to end, if it is being deleted; null if it is not
 * @param grace how long it may take once it is told to end
 * @param gang names the pods that go together with it or not at all; its UID if there are none
 */
public record RunningPod(
        String uid,
        String namespace,
        String name,
        Map<String, String> labels,
        int priority,
        Instant started,
        @Nullable Instant deletion,
        Duration grace,
        String gang) {

    /** As kube-scheduler compares them: of equal ones, who runs longer. */
    static final Comparator<RunningPod> MOST_IMPORTANT_FIRST =
            Comparator.comparingInt(RunningPod::priority)
                    .reversed()
                    .thenComparing(RunningPod::started)
                    .thenComparing(RunningPod::uid);

    /** By when it is to have ended, or this if that is later. */
    Instant deletionOr(Instant other) {
        return deletion == null || deletion.isBefore(other) ? other : deletion;
    }

    boolean isDeleted() {
        return deletion != null;
    }

    /** Returns the pod as one that goes alone. */
    RunningPod alone() {
        return new RunningPod(
                uid, namespace, name, labels, priority, started, deletion, grace, uid);
    }
}
