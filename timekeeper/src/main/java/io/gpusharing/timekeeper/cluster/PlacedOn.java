package io.gpusharing.timekeeper.cluster;

import static java.util.Objects.requireNonNullElse;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.timekeeper.allocation.PhysicalGpu;
import io.gpusharing.timekeeper.allocation.PlacedGpus;
import io.gpusharing.wire.GpuNodeStatus.Gpu;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Learns the GPUs on which pods are placed from the {@code GpuNode} of their node, before the pod
 * is handled. What is read there of a GPU never changes, so each is asked for once; a placement
 * that names one of which nobody says anything is not waited for, and its node speaks for it.
 */
final class PlacedOn {

    private static final Logger log = LoggerFactory.getLogger(PlacedOn.class);

    private static final int ATTEMPTS = 3;
    private static final int MOST_NODES = 10_000;
    private static final Duration ASKED_AGAIN = Duration.ofSeconds(10);

    private final KubernetesClient client;
    private final ClusterView view;

    /** Nodes that were asked for in vain, a moment ago. */
    private final Cache<String, Boolean> unknown =
            Caffeine.newBuilder().maximumSize(MOST_NODES).expireAfterWrite(ASKED_AGAIN).build();

    PlacedOn(KubernetesClient client, ClusterView view) {
        this.client = client;
        this.view = view;
    }

    /** Knows the pod's GPUs afterwards, if anybody does. */
    void learn(PodFacts pod) {
        String node = pod.placement().node();
        Set<String> named = PlacedGpus.named(pod);
        if (node == null || isKnown(node, named) || unknown.getIfPresent(node) != null) {
            return;
        }
        for (Gpu gpu : gpus(node)) {
            view.putGpus(node, Map.of(gpu.uuid(), PhysicalGpu.of(gpu.model(), gpu.memoryMiB())));
        }
        if (!isKnown(node, named)) {
            unknown.put(node, true);
            log.atWarn()
                    .addKeyValue("node", node)
                    .addKeyValue("pod", pod.namespace() + "/" + pod.name())
                    .addKeyValue("gpus", named)
                    .log(
                            "its GpuNode does not name the GPUs of a pod: it is charged as if all GPUs of the node were alike");
        }
    }

    private boolean isKnown(String node, Set<String> named) {
        return view.gpus(node).keySet().containsAll(named);
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
                        .flatMap(it -> Stream.ofNullable(it.getStatus()))
                        .flatMap(it -> requireNonNullElse(it.gpus(), List.<Gpu>of()).stream())
                        .toList();
            } catch (KubernetesClientException e) {
                log.atWarn().addKeyValue("node", node).setCause(e).log("cannot read its GpuNode");
            }
        }
        return List.of();
    }
}
