package io.gpusharing.webhook.cluster;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.gpusharing.kubernetes.GpuNode;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** Reads what nodes share; see {@link SharedGpus}, which knows nothing of the cluster's objects. */
final class SharedGpusReader {

    private SharedGpusReader() {}

    /** Names of nodes by what their device plugins say that they offer. */
    static Map<String, Set<String>> offering(
            Collection<GpuNode> found, PlacementProperties placement) {
        var nodes = new HashMap<String, Set<String>>();
        for (GpuNode node : found) {
            List<String> resources = node.getStatus() == null ? null : node.getStatus().resources();
            for (String resource : resources == null ? List.<String>of() : resources) {
                if (placement.resources().contains(resource)) {
                    nodes.computeIfAbsent(resource, name -> new HashSet<>())
                            .add(node.getMetadata().getName());
                }
            }
        }
        return nodes;
    }

    /**
     * Which of the resources are there on nodes where our device plugin is not to run. What a node
     * says that is away may be what ours offered there once.
     */
    static Set<String> elsewhere(Collection<Node> found, PlacementProperties placement) {
        Set<String> ours = labelled(found, placement);
        return found.stream()
                .filter(node -> !ours.contains(node.getMetadata().getName()))
                .filter(SharedGpusReader::isReady)
                .map(node -> node.getStatus().getAllocatable())
                .filter(Objects::nonNull)
                .flatMap(allocatable -> allocatable.entrySet().stream())
                .filter(amount -> placement.resources().contains(amount.getKey()))
                .filter(amount -> amount.getValue().getNumericalAmount().signum() > 0)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    private static boolean isReady(Node node) {
        return node.getStatus() != null
                && node.getStatus().getConditions().stream()
                        .anyMatch(it ->
                                "Ready".equals(it.getType()) && "True".equals(it.getStatus()));
    }

    /** Names of nodes on which our device plugin is to run. */
    static Set<String> labelled(Collection<Node> found, PlacementProperties placement) {
        return found.stream()
                .map(Node::getMetadata)
                .filter(node -> node.getLabels() != null && placement.isLabelled(node.getLabels()))
                .map(ObjectMeta::getName)
                .collect(Collectors.toSet());
    }
}
