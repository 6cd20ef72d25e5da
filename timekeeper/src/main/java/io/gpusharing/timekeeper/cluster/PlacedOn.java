package io.gpusharing.timekeeper.cluster;

import static java.util.Objects.requireNonNullElse;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.StreamedList;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.timekeeper.allocation.PhysicalGpu;
import io.gpusharing.timekeeper.allocation.PlacedGpus;
import io.gpusharing.wire.GpuNodeStatus.Gpu;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Learns the GPUs on which pods are placed from the {@code GpuNode} of their node, before the pod
 * is handled. Of a GPU whose memory is known nothing is asked again; a placement that names one of
 * which nobody says anything is not waited for, and its node speaks for it.
 */
final class PlacedOn {

    private static final Logger log = LoggerFactory.getLogger(PlacedOn.class);

    private static final int ATTEMPTS = 3;
    private static final int MOST_NODES = 10_000;
    private static final Duration ASKED_AGAIN = Duration.ofSeconds(10);

    private final KubernetesClient client;
    private final ClusterView view;
    private final UnreadableObjects unreadable;

    /** Nodes that were asked for in vain, a moment ago. */
    private final Cache<String, Boolean> unknown =
            Caffeine.newBuilder().maximumSize(MOST_NODES).expireAfterWrite(ASKED_AGAIN).build();

    PlacedOn(KubernetesClient client, ClusterView view, UnreadableObjects unreadable) {
        this.client = client;
        this.view = view;
        this.unreadable = unreadable;
    }

    /**
     * Knows the GPUs of all nodes afterwards: asked one by one, those of a large cluster take
     * minutes.
     */
    void learnAll() {
        try {
            StreamedList.of(client, GpuNode.class)
                    .forEach(node ->
                            unreadable.handOver(
                                    node, it -> put(it.getMetadata().getName(), gpus(it))));
        } catch (KubernetesClientException e) {
            log.atWarn().setCause(e).log("cannot list the GpuNodes: each is asked for by itself");
        }
    }

    /** Knows the pod's GPUs afterwards, if anybody does. */
    void learn(PodFacts pod) {
        String node = pod.placement().node();
        Set<String> named = PlacedGpus.named(pod);
        if (node == null || isKnown(node, named) || unknown.getIfPresent(node) != null) {
            return;
        }
        put(node, gpus(node));
        if (!isKnown(node, named)) {
            unknown.put(node, true);
            log.atWarn()
                    .addKeyValue("node", node)
                    .addKeyValue("pod", pod.namespace() + "/" + pod.name())
                    .addKeyValue("gpus", named)
                    .log(
                            "its GpuNode does not say what the GPUs of a pod are: it is charged as if all GPUs of the node were alike");
        }
    }

    private void put(String node, List<Gpu> gpus) {
        for (Gpu gpu : gpus) {
            view.putGpus(node, Map.of(gpu.uuid(), PhysicalGpu.of(gpu.model(), gpu.memoryMiB())));
        }
    }

    private boolean isKnown(String node, Set<String> named) {
        Map<String, PhysicalGpu> known = view.gpus(node);
        return named.stream().map(known::get).allMatch(gpu -> gpu != null && gpu.memoryMiB() > 0);
    }

    private static List<Gpu> gpus(GpuNode node) {
        return node.getStatus() == null
                ? List.of()
                : requireNonNullElse(node.getStatus().gpus(), List.<Gpu>of());
    }

    private List<Gpu> gpus(String node) {
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            try {
                return client
                        .resources(GpuNode.class)
                        .withField("metadata.name", node)
                        .list()
                        .getItems()
                        .stream()
                        .flatMap(it -> gpus(it).stream())
                        .toList();
            } catch (KubernetesClientException e) {
                log.atWarn().addKeyValue("node", node).setCause(e).log("cannot read its GpuNode");
            }
        }
        return List.of();
    }
}
