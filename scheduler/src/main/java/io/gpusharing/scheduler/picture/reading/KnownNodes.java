package io.gpusharing.scheduler.picture.reading;

import io.fabric8.kubernetes.api.model.Node;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.picture.NodeView;
import io.gpusharing.sharing.Amounts;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

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

    /**
     * A node as it stands, without what our device plugin says of it.
     *
     * @param view the same as another provider's
     * @param allocatable its sums
     */
    record BareNode(NodeView view, Amounts allocatable) {

        String name() {
            return view.name();
        }

        /**
         * The node with what is known of its GPUs.
         *
         * @param shared its GPUs where our device plugin hands them out; then no annotation of
         *     another provider counts
         * @param kept room on them that is kept
         */
        NodeView with(@Nullable SharedNode shared, List<KeptRoom> kept) {
            return new NodeView(
                    view.name(),
                    view.labels(),
                    view.taints(),
                    view.unschedulable(),
                    shared == null ? view.empty() : shared.empty(allocatable),
                    shared,
                    kept);
        }
    }
}
