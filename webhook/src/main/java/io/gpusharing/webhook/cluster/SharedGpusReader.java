package io.gpusharing.webhook.cluster;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.GpuNodeStatus;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Reads what device plugins offer; see {@link SharedGpus}, which knows nothing of the cluster's
 * objects.
 */
final class SharedGpusReader {

    private SharedGpusReader() {}

    /**
     * What a node's device plugin says that it offers, of what it may.
     *
     * @param largestMiB memory of the node's largest GPU; 0 if it is not known
     */
    record Offer(String node, List<String> resources, long largestMiB) {}

    /**
     * What all of them offer.
     *
     * @param nodes names of nodes by what is offered there
     * @param largest nodes with the largest GPU: what a node has altogether makes it no smaller
     */
    record Offers(Map<String, Set<String>> nodes, List<NodeFacts> largest) {

        static final Offers NONE = new Offers(Map.of(), List.of());

        static Offers of(Collection<Offer> offers) {
            long most = offers.stream().mapToLong(Offer::largestMiB).max().orElse(0);
            return new Offers(
                    SharedGpusReader.nodes(offers),
                    most == 0 ? List.of() : List.of(ProviderAsk.alike(NodeFacts.UNKNOWN, most)));
        }

        /** All nodes with GPUs. */
        Collection<NodeFacts> with(Collection<NodeFacts> others) {
            return largest.isEmpty()
                    ? others
                    : Stream.concat(others.stream(), largest.stream()).toList();
        }
    }

    static Offer offer(GpuNode found, PlacementProperties placement) {
        GpuNodeStatus status = found.getStatus();
        List<String> resources = status == null ? null : status.resources();
        List<GpuNodeStatus.Gpu> gpus = status == null ? null : status.gpus();
        return new Offer(
                found.getMetadata().getName(),
                resources == null
                        ? List.of()
                        : resources.stream().filter(placement.resources()::contains).toList(),
                requireNonNullElse(gpus, List.<GpuNodeStatus.Gpu>of()).stream()
                        .map(GpuNodeStatus.Gpu::memoryMiB)
                        .filter(Objects::nonNull)
                        .mapToLong(memory -> Math.max(0, memory))
                        .max()
                        .orElse(0));
    }

    private static Map<String, Set<String>> nodes(Collection<Offer> offers) {
        var nodes = new HashMap<String, Set<String>>();
        offers.forEach(offer ->
                offer.resources()
                        .forEach(resource ->
                                nodes.computeIfAbsent(resource, _ -> new HashSet<>())
                                        .add(offer.node())));
        return nodes;
    }
}
