package io.gpusharing.scheduler.budgets;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.LedgerLease;
import io.gpusharing.kubernetes.OutageLog;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.cluster.PodLookup;
import io.gpusharing.scheduler.cluster.PromptClient;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;

/** Says whether budgets may be acted on, and reads them as they are stored now. */
public final class FreshBudgets {

    private final KubernetesClient client;
    private final String namespace;
    private final KnownGrants grants;
    private final Supplier<Optional<String>> whyOld;
    private final UnreadableObjects unreadable;

    /**
     * @param namespace our own, where the timekeeper's word is
     * @param whyOld why what the watches show may be old; empty if it is not
     */
    public FreshBudgets(
            KubernetesClient client,
            String namespace,
            KnownGrants grants,
            Supplier<Optional<String>> whyOld,
            UnreadableObjects unreadable) {
        this.client = PromptClient.of(client);
        this.namespace = namespace;
        this.grants = grants;
        this.whyOld = whyOld;
        this.unreadable = unreadable.ofReader();
    }

    /** Whether all grants have been listed. */
    public boolean knowsGrants() {
        return grants.areKnown();
    }

    /**
     * What stands against acting on budgets. It holds for what is read of them afterwards: their
     * statuses are at least as new as the timekeeper's word.
     *
     * @param now the instant of the decision, by our clock
     * @throws KubernetesClientException if the API server is away
     */
    public Doubts doubts(Instant now) {
        Optional<String> old = whyOld.get();
        if (old.isPresent()) {
            return Doubts.ofAll(old.get(), now);
        }
        try {
            return Doubts.of(LedgerLease.read(client, namespace), grants.byBudget(), now);
        } catch (KubernetesClientException e) {
            if (e.getCode() <= 0 || OutageLog.isOutageForAll(e)) {
                throw e;
            }
            return Doubts.ofAll(
                    "the lease %s cannot be read, and the scheduler's service account needs get on it: the API server answered %d"
                            .formatted(LedgerLease.NAME, e.getCode()),
                    now);
        }
    }

    /**
     * Whether an administrator has stopped reclaim for all budgets, as it is stored now.
     *
     * @throws KubernetesClientException if the API server does not answer, or does not let us read
     */
    public boolean isPaused() {
        Namespace own = client.namespaces().withName(namespace).get();
        return own != null
                && PodLookup.isTrue(
                        own.getMetadata().getAnnotations(), Names.RECLAIM_PAUSED_ANNOTATION);
    }

    /**
     * A budget as it is stored now: a watch may be late.
     *
     * @return empty if there is none of that name
     * @throws KubernetesClientException if the API server does not answer, or does not let us read
     */
    public Optional<KnownBudget> afresh(String budget, Instant now) {
        GpuBudget object = client.resources(GpuBudget.class).withName(budget).get();
        return Optional.ofNullable(object)
                .map(it ->
                        unreadable
                                .read(it, stored -> KnownBudget.of(stored, now))
                                .orElseGet(() -> KnownBudget.unreadable(it)));
    }
}
