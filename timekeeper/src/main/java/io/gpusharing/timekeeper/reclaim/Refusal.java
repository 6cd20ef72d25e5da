package io.gpusharing.timekeeper.reclaim;

import java.time.Instant;

/**
 * The API server's no to an eviction that was asked for, as its receipt tells it: mostly that of a
 * PodDisruptionBudget.
 *
 * @param waiter UID of the pod for which it was asked
 * @param workload what the waiter belongs to
 * @param victim UID of the pod that was not let go
 */
record Refusal(Instant at, String waiter, String workload, String victim) {}
