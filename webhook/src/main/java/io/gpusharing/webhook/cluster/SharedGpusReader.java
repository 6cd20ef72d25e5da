package io.gpusharing.webhook.cluster;

import io.gpusharing.kubernetes.GpuNode;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads what device plugins offer; see {@link SharedGpus}, which knows nothing of the cluster's
 * objects.
 */
final class SharedGpusReader {

    private SharedGpusReader() {}

    /** What a node's device plugin says that it offers, of what it may. */
    record Offer(String node, List<String> resources) {}

    static Offer offer(GpuNode found, PlacementProperties placement) {
        List<String> resources = found.getStatus() == null ? null : found.getStatus().resources();
        return new Offer(
                found.getMetadata().getName(),
                resources == null
                        ? List.of()
                        : resources.stream().filter(placement.resources()::contains).toList());
    }

    /** Names of nodes by what is offered there. */
    static Map<String, Set<String>> nodes(Collection<Offer> offers) {
        var nodes = new HashMap<String, Set<String>>();
        offers.forEach(offer ->
                offer.resources()
                        .forEach(resource ->
                                nodes.computeIfAbsent(resource, _ -> new HashSet<>())
                                        .add(offer.node())));
        return nodes;
    }
}
