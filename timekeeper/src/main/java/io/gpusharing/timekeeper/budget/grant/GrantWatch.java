package io.gpusharing.timekeeper.budget.grant;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.ObjectWatch;
import io.gpusharing.timekeeper.budget.account.Grant;
import io.gpusharing.timekeeper.leader.Leadership;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import java.util.Collection;
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
                client.resources(GpuGrant.class).runnableInformer(0),
                writer,
                CompletableFuture.completedFuture(null));
        this.budgets = budgets;
        this.leadership = leadership;
        leadership.listen(this::tell, () -> {});
    }

    @Override
    protected @Nullable Grant read(GpuGrant object) {
        try {
            return object.grant();
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
}
