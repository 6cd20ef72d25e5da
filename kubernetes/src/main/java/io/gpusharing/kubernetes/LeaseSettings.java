package io.gpusharing.kubernetes;

import java.time.Duration;

/**
 * The lease by which replicas agree on the one that leads.
 *
 * @param namespace where the lease is
 * @param identity what this replica is called in it
 * @param duration how long the others wait for a leader that does not renew it; whole seconds
 * @param renewDeadline how long a leader leads that cannot renew it; shorter, so that it has
 *     stopped before another one begins
 * @param retry how often it is renewed, and read by the others
 */
public record LeaseSettings(
        String namespace,
        String name,
        String identity,
        Duration duration,
        Duration renewDeadline,
        Duration retry) {

    /**
     * By how much two clocks may differ that are both right: what the lease leaves between the last
     * moment of a leader that cannot renew it and the first of the next, 15 s − 10 s.
     */
    public static final Duration SKEW = Duration.ofSeconds(5);
}
