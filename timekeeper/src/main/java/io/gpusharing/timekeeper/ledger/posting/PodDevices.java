package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.allocation.PlacedGpus;
import io.gpusharing.timekeeper.allocation.Weight;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What pods hold, by the GPUs on which they were placed. While of these nothing is known their node
 * speaks for them, and the pod is remembered: it costs by its GPUs once they have been read.
 */
final class PodDevices {

    private final ClusterView view;
    private final RequestGrammars grammars;
    private final ModelWeights weights;
    private final Map<UUID, Estimated> estimated = new HashMap<>();

    PodDevices(ClusterView view, RequestGrammars grammars, ModelWeights weights) {
        this.view = view;
        this.grammars = grammars;
        this.weights = weights;
    }

    /** What a pod holds, and what its GPUs cost. */
    record Devices(BoundShare held, Weight weight) {}

    /** A pod whose node speaks for its GPUs. */
    private record Estimated(PodFacts pod, Instant bound) {}

    /** By what is known now; null for a pod that asks for no GPU. */
    @Nullable Devices of(PodFacts pod, Instant bound) {
        NodeFacts facts = view.node(node(pod)).orElse(NodeFacts.UNKNOWN);
        PlacedGpus gpus = PlacedGpus.of(pod, view.gpus(node(pod)), facts);
        BoundShare held = pod.held(it -> gpus.of(it, facts), grammars).orElse(null);
        return held == null
                ? null
                : new Devices(
                        held,
                        weights.of(it -> gpus.weight(it, bound, pod.request(), facts, grammars)));
    }

    /**
     * A pod holds its share.
     *
     * @param bound by when its GPUs are weighed
     */
    void noteEstimate(PodFacts pod, Instant bound, PodAllocation allocation) {
        if (isEstimate(allocation) && !PlacedGpus.named(pod).isEmpty()) {
            estimated.put(pod.uid(), new Estimated(pod, bound));
        }
    }

    /**
     * Pods whose GPUs have been read since they began.
     *
     * @param allocations those that are open, by pod
     */
    Map<UUID, Devices> found(Function<UUID, @Nullable PodAllocation> allocations) {
        estimated
                .values()
                .removeIf(it -> {
                    PodAllocation allocation = allocations.apply(it.pod().uid());
                    return allocation == null
                            || !allocation.open()
                            || !isEstimate(allocation)
                            || wasFree(allocation);
                });
        var found = new HashMap<UUID, Devices>();
        estimated.forEach((uid, it) -> {
            Devices devices = isKnown(it.pod()) ? of(it.pod(), it.bound()) : null;
            if (devices != null) {
                found.put(uid, devices);
            }
        });
        return found;
    }

    /** They cost by their GPUs now. */
    void priced(Collection<UUID> pods) {
        estimated.keySet().removeAll(pods);
    }

    /** A rate of nothing left no charges: with another rate they would look forgotten. */
    private static boolean wasFree(PodAllocation allocation) {
        return allocation.rate() == 0 && allocation.postedUntil().isAfter(allocation.from());
    }

    private static boolean isEstimate(PodAllocation allocation) {
        return allocation.price().weight().memoryMiB() == 0;
    }

    private boolean isKnown(PodFacts pod) {
        return PlacedGpus.of(pod, view.gpus(node(pod)), NodeFacts.UNKNOWN).areKnown();
    }

    private static String node(PodFacts pod) {
        return Objects.requireNonNull(pod.placement().node());
    }
}
