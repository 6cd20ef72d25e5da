package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.SharedNode;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of which something is known: that they share GPUs, or that pods of theirs hold some.
 * Belongs to one thread at a time.
 */
final class NodeTable {

    private final Map<String, NodeGpus> nodes = new HashMap<>();

    /** What is known of a node; null if nothing is, or no node is named. */
    @Nullable NodeGpus get(@Nullable String node) {
        return nodes.get(node);
    }

    Set<String> names() {
        return nodes.keySet();
    }

    /** The nodes that share their GPUs. */
    Stream<NodeGpus> shared() {
        return nodes.values().stream().filter(NodeGpus::isShared);
    }

    void describe(SharedNode node) {
        nodes.computeIfAbsent(node.name(), name -> new NodeGpus()).describe(node);
    }

    void bind(GpuPod pod, String node) {
        nodes.computeIfAbsent(node, name -> new NodeGpus()).bind(pod);
    }

    /** A node shares its GPUs no more; its pods are known until they end. */
    void remove(String node) {
        nodes.computeIfPresent(
                node,
                (name, gpus) -> {
                    gpus.describe(null);
                    return gpus.isEmpty() ? null : gpus;
                });
    }

    /** A pod has left a node. */
    void forget(String podUid, String node) {
        nodes.computeIfPresent(
                node,
                (name, gpus) -> {
                    gpus.forget(podUid);
                    return gpus.isEmpty() ? null : gpus;
                });
    }
}
