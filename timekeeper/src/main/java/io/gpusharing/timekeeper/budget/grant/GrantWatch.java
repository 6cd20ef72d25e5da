package io.gpusharing.timekeeper.budget.grant;

import static io.gpusharing.timekeeper.allocation.PodReader.storable;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.Names;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.kubernetes.GpuGrant;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.ObjectWatch;
import io.gpusharing.timekeeper.budget.account.Grant;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Follows the {@code GpuGrant} objects. The leader writes them down, the others read that. */
@Component
public final class GrantWatch extends ObjectWatch<GpuGrant, Grant> {

    private static final Logger log = LoggerFactory.getLogger(GrantWatch.class);

    private final Budgets budgets;
    private final Leadership leadership;

    public GrantWatch(
            KubernetesClient client, Budgets budgets, LedgerWriter writer, Leadership leadership) {
        super(
                "gpugrants",
                client.resources(GpuGrant.class),
                writer,
                CompletableFuture.completedFuture(null));
        this.budgets = budgets;
        this.leadership = leadership;
        leadership.listen(this::publish, () -> {});
    }

    @Override
    protected @Nullable Grant read(GpuGrant object) {
        try {
            return grant(object);
        } catch (RuntimeException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("grant", object.getMetadata().getName())
                    .log("this grant cannot be read and does not count");
            return null;
        }
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

    /** It never counts before it was made. */
    private static Grant grant(GpuGrant object) {
        Instant created = Instant.parse(object.getMetadata().getCreationTimestamp());
        Instant notBefore = instant(object.getSpec().notBefore());
        Instant expires = instant(object.getSpec().expiresAt());
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
                storable(object.getSpec().reason()),
                author == null ? null : storable(author),
                notBefore == null || notBefore.isBefore(created) ? created : notBefore,
                expires);
    }

    private static @Nullable Instant instant(@Nullable String time) {
        return time == null ? null : OffsetDateTime.parse(time).toInstant();
    }
}
