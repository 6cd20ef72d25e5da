package io.gpusharing.scheduler.budgets;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.ObjectInformer;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * When each budget got its last grant, as the watch shows it. Any thread may ask while another
 * follows the cluster.
 *
 * <p>Of a {@code GpuGrant} two things are read, from the object as it is stored: which budget it
 * names, and when it was made. Whatever else it says keeps no grant from being known. Where the
 * instant cannot be read, the grant may be newer than any status, and its budget is in doubt until
 * the grant is deleted. A grant that names no budget could be meant for any, and puts none in
 * doubt: that would let one object stop everybody. It is not likely to be missed. The schema
 * refuses such an object, so that it was stored before there was one or past the API server, and
 * the timekeeper grants nothing by it. Both are told as objects that cannot be read.
 */
public final class KnownGrants implements ObjectInformer.Handler<GenericKubernetesResource> {

    /**
     * A grant.
     *
     * @param created by the API server's clock, in whole seconds; {@link Instant#MAX} if it cannot
     *     be read
     */
    private record Granted(String budget, Instant created) {}

    private final Map<String, Granted> byName = new ConcurrentHashMap<>();
    private volatile boolean known;

    /** Whether all grants have been listed. */
    boolean areKnown() {
        return known;
    }

    /**
     * When the newest grant of each budget was made, by the budget's name; {@link Instant#MAX} for
     * a budget that has one of which that cannot be read.
     */
    Map<String, Instant> byBudget() {
        return byName.values().stream()
                .collect(
                        Collectors.toMap(
                                Granted::budget,
                                Granted::created,
                                (one, other) -> one.isAfter(other) ? one : other));
    }

    @Override
    public void onListed() {
        known = true;
    }

    /**
     * Takes a grant that is new or has changed.
     *
     * @throws RuntimeException if it cannot be read
     */
    @Override
    public void onUpdate(GenericKubernetesResource grant) {
        String name = grant.getMetadata().getName();
        String budget = budget(grant);
        try {
            Instant created = ApiTime.read(grant.getMetadata().getCreationTimestamp());
            byName.put(name, new Granted(budget, created));
        } catch (RuntimeException e) {
            byName.put(name, new Granted(budget, Instant.MAX));
            throw e;
        }
    }

    private static String budget(GenericKubernetesResource grant) {
        if (grant.getAdditionalProperties().get("spec") instanceof Map<?, ?> spec
                && spec.get("budget") instanceof String budget
                && !budget.isEmpty()) {
            return budget;
        }
        throw new IllegalArgumentException("spec.budget is not the name of a budget");
    }

    @Override
    public void onDelete(GenericKubernetesResource grant) {
        byName.remove(grant.getMetadata().getName());
    }
}
