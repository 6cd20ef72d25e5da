package io.gpusharing.timekeeper.cluster;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.GpuNames;
import io.gpusharing.request.grammar.RequestGrammars;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the nodes of the {@link ClusterView}, also those that are gone: pods that were bound to one
 * may become known later than its end. A node that cannot be read has the GPUs that it had: none
 * vanishes because a number in it is odd. If it never could be, its pods are charged as on a node
 * that is not known.
 */
final class NodeWatch implements AutoCloseable, ObjectInformer.Handler<Node> {

    private static final Logger log = LoggerFactory.getLogger(NodeWatch.class);

    private final KubernetesClient client;
    private final RequestGrammars grammars;
    private final ClusterView view;
    private final UnreadableObjects unreadable;
    private final ObjectInformer<Node> informer;
    private CompletableFuture<Void> synced = new CompletableFuture<>();

    NodeWatch(
            KubernetesClient client,
            RequestGrammars grammars,
            ClusterView view,
            UnreadableObjects unreadable) {
        this.client = client;
        this.grammars = grammars;
        this.view = view;
        this.unreadable = unreadable.ofReader();
        this.informer = new ObjectInformer<>("nodes", client.nodes(), unreadable);
    }

    void start() {
        synced = informer.start(this).toCompletableFuture();
    }

    /** Returns when all nodes are known, so that shares are frozen by real capacities. */
    void awaitSynced() {
        synced.join();
    }

    /**
     * The GPUs of each node, read by a grammar or not, by resource name; empty until all are known.
     */
    Optional<List<Map<String, Quantity>>> offered() {
        return informer.hasSynced()
                ? Optional.of(
                        informer.objects().list().stream()
                                .flatMap(node -> unreadable.read(node, this::gpus).stream())
                                .toList())
                : Optional.empty();
    }

    /** What is known of each node that is there; empty until all are known. */
    List<NodeFacts> present() {
        return informer.hasSynced()
                ? informer.objects().list().stream()
                        .flatMap(node -> view.node(node.getMetadata().getName()).stream())
                        .toList()
                : List.of();
    }

    /** Asks for a node that a pod was bound to before the watch reported it. */
    void fetch(String name) {
        try {
            Node node = client.nodes().withName(name).get();
            if (node != null) {
                unreadable.handOver(node, this::onUpdate);
            }
        } catch (KubernetesClientException e) {
            log.atWarn().addKeyValue("node", name).setCause(e).log("cannot read node");
        }
    }

    @Override
    public void onUpdate(Node node) {
        NodeFacts facts = facts(node);
        // A device plugin that restarts reports 0 for a while; the GPUs are still there.
        boolean hasGpus = facts.capacity().values().stream().anyMatch(it -> !it.isZero());
        String name = node.getMetadata().getName();
        if (hasGpus || view.node(name).isEmpty()) {
            view.put(name, facts);
        }
    }

    @Override
    public void close() {
        informer.close();
    }

    private NodeFacts facts(Node node) {
        return new NodeFacts(
                capacity(node, grammars::reads),
                Objects.requireNonNullElse(node.getMetadata().getLabels(), Map.of()),
                Objects.requireNonNullElse(node.getMetadata().getAnnotations(), Map.of()));
    }

    private Map<String, Quantity> gpus(Node node) {
        return capacity(node, GpuNames::isGpu);
    }

    private static Map<String, Quantity> capacity(Node node, Predicate<String> wanted) {
        return node.getStatus() == null
                ? Map.of()
                : ResourceReader.amounts(node.getStatus().getCapacity(), wanted);
    }
}
