package io.gpusharing.scheduler.picture.reading;

import io.fabric8.kubernetes.api.model.Node;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.RequestGrammars;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What each node says that decides what a share of its GPUs is. A device plugin that restarts
 * reports a capacity of 0 for a while; the GPUs are still there, so the last one that named any
 * holds.
 */
final class KnownNodes {

    private final RequestGrammars grammars;
    private final Map<String, NodeFacts> byName = new ConcurrentHashMap<>();

    KnownNodes(RequestGrammars grammars) {
        this.grammars = grammars;
    }

    /** Notes what a node says now. */
    void put(Node node) {
        var meta = node.getMetadata();
        var facts =
                new NodeFacts(
                        capacity(node),
                        Objects.requireNonNullElse(meta.getLabels(), Map.of()),
                        Objects.requireNonNullElse(meta.getAnnotations(), Map.of()));
        if (facts.capacity().values().stream().anyMatch(it -> !it.isZero())) {
            byName.put(meta.getName(), facts);
        } else {
            byName.putIfAbsent(meta.getName(), facts);
        }
    }

    private Map<String, Quantity> capacity(Node node) {
        return node.getStatus() == null
                ? Map.of()
                : ResourceReader.amounts(node.getStatus().getCapacity(), grammars::reads);
    }

    /** These are there, and no others. */
    void retain(Set<String> names) {
        byName.keySet().retainAll(names);
    }

    /**
     * What is known of a node.
     *
     * @param name null for no node
     */
    NodeFacts of(@Nullable String name) {
        return name == null ? NodeFacts.UNKNOWN : byName.getOrDefault(name, NodeFacts.UNKNOWN);
    }
}
