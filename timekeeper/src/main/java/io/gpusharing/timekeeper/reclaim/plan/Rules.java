package io.gpusharing.timekeeper.reclaim.plan;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How careful reclaim is.
 *
 * @param patience how long a pod must have been unschedulable before anything is done for it
 * @param schedulerPatience for how long the scheduler is trusted to preempt what it can preempt
 * @param settle how long after the victims' grace the waiter may take to be bound
 * @param maxPerMinute evictions in any minute; a gang that is larger goes alone
 * @param noReturn for how long after an eviction of budget A for budget B nothing of B is evicted
 *     for A
 * @param maxGrace no victim is given longer than this to end
 * @param insistAfter for how long a victim that the API server refuses is asked for before it is
 *     deleted all the same; null for ever
 * @param paused whether nothing is evicted at all
 */
public record Rules(
        Duration patience,
        Duration schedulerPatience,
        Duration settle,
        int maxPerMinute,
        Duration noReturn,
        Duration maxGrace,
        @Nullable Duration insistAfter,
        boolean paused) {}
