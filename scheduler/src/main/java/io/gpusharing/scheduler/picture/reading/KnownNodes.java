package io.gpusharing.scheduler.picture.reading;

import io.fabric8.kubernetes.api.model.Node;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.RequestGrammars;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The nodes, and what each says that decides what a share of its GPUs is. A device plugin that
 * restarts reports a capacity of 0 for a while; the GPUs are still there, so the last one that
 * named any holds. A node that cannot be read offers nothing, and so is none.
 */
final class KnownNodes implements ObjectInformer.Handler<Node> {

    private final RequestGrammars grammars;
    private final CapacityReader capacity;
    private final Map<String, NodeFacts> byName = new ConcurrentHashMap<>();
    private final Map<String, BareNode> readable = new ConcurrentHashMap<>();

    KnownNodes(RequestGrammars grammars, CapacityReader capacity) {
        this.grammars = grammars;
        this.capacity = capacity;
    }

    @Override
    public void onUpdate(Node node) {
        String name = node.getMetadata().getName();
        try {
            put(node);
            readable.put(name, capacity.node(node));
        } catch (RuntimeException | StackOverflowError e) {
            readable.remove(name);
            throw e;
        }
    }

    @Override
    public void onDelete(Node node) {
        String name = node.getMetadata().getName();
        byName.remove(name);
        readable.remove(name);
    }

    /** All that can be read. */
    Collection<BareNode> all() {
        return Collections.unmodifiableCollection(readable.values());
    }

    private void put(Node node) {
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

    /** What is known of a node. */
    NodeFacts of(String name) {
        return byName.getOrDefault(name, NodeFacts.UNKNOWN);
    }
}
