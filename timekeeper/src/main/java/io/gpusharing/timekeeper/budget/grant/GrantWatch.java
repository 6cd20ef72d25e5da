package io.gpusharing.timekeeper.budget.grant;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.kubernetes.GpuGrant;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.ObjectWatch;
import io.gpusharing.timekeeper.budget.account.Grant;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Component;

/** Follows the {@code GpuGrant} objects. The leader writes them down, the others read that. */
@Component
public final class GrantWatch extends ObjectWatch<GpuGrant, Grant> {

    private final Budgets budgets;
    private final Leadership leadership;

    public GrantWatch(
            KubernetesClient client,
            Budgets budgets,
            UnreadableObjects unreadable,
            LedgerWriter writer,
            Leadership leadership) {
        super(
                "gpugrants",
                client.resources(GpuGrant.class),
                unreadable,
                writer,
                CompletableFuture.completedFuture(null));
        this.budgets = budgets;
        this.leadership = leadership;
        leadership.listen(this::publish, () -> {});
    }

    /**
     * It never counts before it was made. One that cannot be read does not count: nobody knows how
     * much it grants, and it was never another that could be.
     */
    @Override
    protected Grant read(GpuGrant object) {
        Instant created = ApiTime.read(object.getMetadata().getCreationTimestamp());
        Instant notBefore = ApiTime.readPresent(object.getSpec().notBefore());
        Instant expires = ApiTime.readPresent(object.getSpec().expiresAt());
        if (expires != null && expires.isBefore(Instant.EPOCH)) {
            throw new IllegalArgumentException(
                    "spec.expiresAt is " + expires + "; use a later day");
        }
        Map<String, String> annotations =
                Objects.requireNonNullElse(object.getMetadata().getAnnotations(), Map.of());
        String author = annotations.get(Names.AUTHOR_ANNOTATION);
        return new Grant(
                object.getMetadata().getUid(),
                object.getMetadata().getName(),
                object.getSpec().budget(),
                GpuTime.ofMinutes(object.getSpec().gpuMinutes()),
                object.getSpec().reason(),
                author,
                notBefore == null || notBefore.isBefore(created) ? created : notBefore,
                expires);
    }

    /** A grant never changes, but it can be deleted and made anew. */
    @Override
    protected boolean same(Grant before, Grant after) {
        return before.uid().equals(after.uid());
    }

    @Override
    protected void take(Collection<Grant> all) {
        if (leadership.leads()) {
            budgets.granted(all);
        }
    }
}
