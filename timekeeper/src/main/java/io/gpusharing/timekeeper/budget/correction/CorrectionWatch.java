package io.gpusharing.timekeeper.budget.correction;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.GpuCorrection;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.timekeeper.budget.ObjectWatch;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Follows the {@code GpuCorrection} objects that are neither written nor refused. */
@Component
class CorrectionWatch extends ObjectWatch<GpuCorrection, OrderedCorrection> {

    private Runnable listener = () -> {};

    CorrectionWatch(KubernetesClient client, UnreadableObjects unreadable, LedgerWriter writer) {
        super(
                "gpucorrections",
                client.resources(GpuCorrection.class),
                unreadable,
                writer,
                CompletableFuture.completedFuture(null));
    }

    /**
     * @param listener called after each change
     */
    void listen(Runnable listener) {
        this.listener = listener;
    }

    /** Those there are now, in the order in which they are to be written. */
    List<OrderedCorrection> pending() {
        return all().stream().sorted(OrderedCorrection.IN_ORDER).toList();
    }

    @Override
    protected @Nullable OrderedCorrection read(GpuCorrection object) {
        return OrderedCorrection.of(object);
    }

    @Override
    protected void note(Collection<OrderedCorrection> all) {
        listener.run();
    }

    @Override
    protected void take(Collection<OrderedCorrection> all) {}
}
