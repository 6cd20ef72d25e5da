package io.gpusharing.scheduler.picture;

import java.time.Instant;

/**
 * An earlier eviction, as its receipt has it.
 *
 * @param plan evictions with the same one made room for one waiter together
 * @param settlesAt by when the waiter should be bound: the victims' grace and a minute
 * @param helped whether it was
 * @param node where room was made
 * @param went whether the victim went, or may have; else the plan counts for the waiter alone, for
 *     whom the same would be planned again
 */
public record PastEviction(
        String plan,
        Instant at,
        Instant settlesAt,
        PodRef waiter,
        String workload,
        String waiterBudget,
        String victimBudget,
        String node,
        boolean went,
        boolean helped) {}
