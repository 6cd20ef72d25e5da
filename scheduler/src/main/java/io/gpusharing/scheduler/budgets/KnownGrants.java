package io.gpusharing.scheduler.budgets;

import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.GpuGrant;
import io.gpusharing.kubernetes.ObjectInformer;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * When each budget got its last grant, as the watch shows it. Any thread may ask while another
 * follows the cluster.
 */
public final class KnownGrants implements ObjectInformer.Handler<GpuGrant> {

    /**
     * A grant.
     *
     * @param created by the API server's clock, in whole seconds
     */
    private record Granted(String budget, Instant created) {}

    private final Map<String, Granted> byName = new ConcurrentHashMap<>();
    private volatile boolean known;

    /** Whether all grants have been listed. */
    boolean areKnown() {
        return known;
    }

    /** When the newest grant of each budget was made, by the budget's name. */
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

    @Override
    public void onUpdate(GpuGrant grant) {
        byName.put(
                grant.getMetadata().getName(),
                new Granted(
                        grant.getSpec().budget(),
                        ApiTime.read(grant.getMetadata().getCreationTimestamp())));
    }

    @Override
    public void onDelete(GpuGrant grant) {
        byName.remove(grant.getMetadata().getName());
    }
}
