package io.gpusharing.scheduler.pods;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is expected of a pod that is being deleted, by when its grace ends.
 *
 * @param overdue one whose grace ended before then is not waited for: its kubelet ends it by a
 *     longer grace that it was deleted with before (kubernetes/kubernetes#113883), or has gone
 * @param awaited one whose grace ends later, for it gave itself a year, is not waited for either
 */
public record Ending(Instant overdue, Instant awaited) {

    /**
     * The same, at this instant.
     *
     * @param settle how long after its grace a pod may still be there
     * @param maxGrace for how much grace it is waited
     */
    public static Ending at(Instant now, Duration settle, Duration maxGrace) {
        return new Ending(now.minus(settle), now.plus(maxGrace));
    }

    /**
     * Whether a pod will be gone in a moment.
     *
     * @param end when its grace ends; null if it is not being deleted
     */
    public boolean isAwaited(@Nullable Instant end) {
        return end != null && !isOverdue(end) && !end.isAfter(awaited);
    }

    /**
     * Whether a pod should be gone already. It goes with no gang: a job could protect all its pods
     * by one that does not end.
     *
     * @param end when its grace ends; null if it is not being deleted
     */
    public boolean isOverdue(@Nullable Instant end) {
        return end != null && end.isBefore(overdue);
    }
}
