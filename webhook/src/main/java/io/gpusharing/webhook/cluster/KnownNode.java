package io.gpusharing.webhook.cluster;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What is read of one node.
 *
 * @param facts what GPUs it has
 * @param labelled whether our device plugin is to run there
 * @param offers which of the resources that ours may offer are there. What a node says that is away
 *     may be what ours offered there once: none
 */
record KnownNode(String name, NodeFacts facts, boolean labelled, Set<String> offers) {

    /**
     * What is read of all nodes.
     *
     * @param facts what GPUs they have
     * @param labelled names of those on which our device plugin is to run
     * @param elsewhere what others offer of the same
     * @param others what others have, also those that are away
     */
    record All(
            List<NodeFacts> facts,
            Set<String> labelled,
            Set<String> elsewhere,
            Set<String> others) {

        static final All NONE = new All(List.of(), Set.of(), Set.of(), Set.of());

        /** Of nodes with the same GPUs one is enough: they are looked through at every request. */
        static All of(Collection<KnownNode> nodes) {
            return new All(
                    nodes.stream()
                            .map(KnownNode::facts)
                            .filter(facts -> !facts.capacity().isEmpty())
                            .distinct()
                            .toList(),
                    nodes.stream()
                            .filter(KnownNode::labelled)
                            .map(KnownNode::name)
                            .collect(Collectors.toSet()),
                    nodes.stream()
                            .filter(node -> !node.labelled())
                            .flatMap(node -> node.offers().stream())
                            .collect(Collectors.toSet()),
                    nodes.stream()
                            .filter(node -> !node.labelled())
                            .flatMap(node -> node.facts().capacity().entrySet().stream())
                            .filter(amount -> !amount.getValue().isZero())
                            .map(Map.Entry::getKey)
                            .collect(Collectors.toSet()));
        }
    }

    /**
     * Reads a node.
     *
     * @param gpuResource resources that ask for GPUs
     */
    static KnownNode of(Node node, Predicate<String> gpuResource, PlacementProperties placement) {
        NodeStatus status = Objects.requireNonNullElseGet(node.getStatus(), NodeStatus::new);
        Map<String, String> labels =
                Objects.requireNonNullElse(
                        node.getMetadata().getLabels(), Map.<String, String>of());
        return new KnownNode(
                node.getMetadata().getName(),
                new NodeFacts(
                        ResourceReader.amounts(status.getCapacity(), gpuResource),
                        ofGpus(labels),
                        Objects.requireNonNullElse(node.getMetadata().getAnnotations(), Map.of())),
                placement.isLabelled(labels),
                isReady(status) ? offered(status, placement) : Set.of());
    }

    /** Labels that say what the GPUs are; others differ from node to node. */
    private static Map<String, String> ofGpus(Map<String, String> labels) {
        var kept = new HashMap<>(labels);
        kept.keySet().removeIf(name -> !name.startsWith("nvidia.com/gpu."));
        return kept;
    }

    private static boolean isReady(NodeStatus status) {
        return status.getConditions().stream()
                .anyMatch(it -> "Ready".equals(it.getType()) && "True".equals(it.getStatus()));
    }

    private static Set<String> offered(NodeStatus status, PlacementProperties placement) {
        Map<String, Quantity> amounts =
                ResourceReader.amounts(status.getAllocatable(), placement.resources()::contains);
        amounts.values().removeIf(amount -> amount.value().signum() <= 0);
        return Set.copyOf(amounts.keySet());
    }
}
