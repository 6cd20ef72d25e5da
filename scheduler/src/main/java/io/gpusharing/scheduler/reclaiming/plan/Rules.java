package io.gpusharing.scheduler.reclaiming.plan;

import java.time.Duration;
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
        boolean paused) {}
