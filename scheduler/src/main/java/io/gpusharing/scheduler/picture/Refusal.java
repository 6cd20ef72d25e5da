package io.gpusharing.scheduler.picture;

import java.time.Instant;

/**
 * An eviction that the API server refused, mostly because of a PodDisruptionBudget, as its receipt
 * has it.
 *
 * @param waiter UID of the pod for which it was asked
 * @param workload what the waiter belongs to
 * @param victim UID of the pod that was not let go
 */
public record Refusal(Instant at, String waiter, String workload, String victim) {}
