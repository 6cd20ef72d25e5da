package io.gpusharing.scheduler.reclaiming.plan;

import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How careful reclaim is. What the properties {@code gpusharing.reclaim} say of each holds here,
 * too.
 *
 * @param insistAfter null for ever
 * @param paused whether nothing is evicted at all now
 */
public record Rules(
        Duration patience,
        Duration schedulerPatience,
        Duration settle,
        int maxPerMinute,
        Duration noReturn,
        Duration maxGrace,
        @Nullable Duration insistAfter,
        boolean paused) {

    /** Whether the scheduler is trusted to preempt for a waiter: for a while, where it may. */
    boolean trustScheduler(Waiter waiter, Instant now) {
        return waiter.preempts() && now.isBefore(waiter.since().plus(schedulerPatience));
    }
}
