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

    static final Duration LONGEST_GRACE = Duration.ofMinutes(5);
    static final Duration OVERDUE = Duration.ofMinutes(1);

    /** By when it is to have ended, or this if that is later. */
    Instant deletionOr(Instant other) {
        return deletion == null || deletion.isBefore(other) ? other : deletion;
    }

    boolean isDeleted() {
        return deletion != null;
    }

    /**
     * Whether it is gone in a moment. Whoever deletes a pod may give it a year, and one that its
     * kubelet does not end in time may stay for ever: nobody is to wait for these.
     */
    boolean isLeaving(Instant now) {
        return deletion != null
                && !deletion.isAfter(now.plus(LONGEST_GRACE))
                && !deletion.isBefore(now.minus(OVERDUE));
    }
}
