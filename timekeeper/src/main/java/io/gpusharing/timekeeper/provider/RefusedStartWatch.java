package io.gpusharing.timekeeper.provider;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.RefusedStart;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.timekeeper.budget.ObjectWatch;
import io.gpusharing.timekeeper.cluster.GpuNodeObserver;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Follows what device plugins publish of pods that they did not let start, and shows each {@code
 * GpuNode} to who reads its GPUs. What a node said last holds while it cannot be read; of one with
 * an entry that cannot be read, the others count.
 */
@Component
class RefusedStartWatch extends ObjectWatch<GpuNode, RefusedStartWatch.OfNode> {

    private final GpuNodeObserver observer;
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    RefusedStartWatch(
            KubernetesClient client,
            UnreadableObjects unreadable,
            LedgerWriter writer,
            GpuNodeObserver observer) {
        super(
                "gpunodes",
                client.resources(GpuNode.class),
                unreadable,
                writer,
                CompletableFuture.completedFuture(null));
        this.observer = observer;
    }

    /** Those of one node, at least one. */
    record OfNode(List<RefusedStart> starts) {}

    /**
     * @param listener called after each change
     */
    void listen(Runnable listener) {
        listeners.add(listener);
    }

    /** All that are known now. */
    List<RefusedStart> refused() {
        return all().stream().flatMap(node -> node.starts().stream()).toList();
    }

    @Override
    protected @Nullable OfNode read(GpuNode node) {
        List<RefusedStart> starts = RefusedStart.of(node, problem -> {});
        return starts.isEmpty() ? null : new OfNode(starts);
    }

    /**
     * @throws RuntimeException if an entry cannot be read, when the others have been taken
     */
    @Override
    public void onUpdate(GpuNode node) {
        try {
            observer.onGpuNode(node);
        } finally {
            super.onUpdate(node);
        }
        RefusedStart.requireReadable(node);
    }

    @Override
    protected void take(Collection<OfNode> all) {
        listeners.forEach(Runnable::run);
    }
}
