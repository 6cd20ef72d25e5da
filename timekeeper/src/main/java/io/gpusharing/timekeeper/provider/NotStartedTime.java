package io.gpusharing.timekeeper.provider;

import io.gpusharing.kubernetes.RefusedStart;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.web.LeaderTask;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * The whole seconds in which a device plugin of ours kept a pod from its GPUs.
 *
 * @param to not after {@code from} if nothing is left
 */
record NotStartedTime(Instant from, Instant to) {

    /**
     * The seconds of an allocation; empty until they are over. Parts of a second count as the
     * pod's, and so does what a wrong clock of the node puts before the pod's begin or after its
     * end.
     */
    static Optional<NotStartedTime> of(RefusedStart start, PodAllocation allocation, Instant now) {
        Instant end = LeaderTask.sooner(start.until(), allocation.until());
        return end == null || end.isAfter(now)
                ? Optional.empty()
                : Optional.of(
                        new NotStartedTime(
                                later(start.since().plusNanos(999_999_999), allocation.from()),
                                seconds(end)));
    }

    boolean isEmpty() {
        return !from.isBefore(to);
    }

    private static Instant later(Instant one, Instant other) {
        Instant second = seconds(one);
        return second.isBefore(other) ? other : second;
    }

    private static Instant seconds(Instant instant) {
        return instant.truncatedTo(ChronoUnit.SECONDS);
    }
}
