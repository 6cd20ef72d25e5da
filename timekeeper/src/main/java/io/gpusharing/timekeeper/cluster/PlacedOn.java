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
import io.gpusharing.web.LeaderTask;
import io.gpusharing.wire.GpuNodeStatus.Gpu;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.stereotype.Component;

/**
 * Learns the GPUs on which pods are placed from the {@code GpuNode} of their node, before the pod
 * is handled. What a GPU is may change, with ECC its memory does: a pod that is bound is priced by
 * what was read within the last minute. A placement that names a GPU of which nobody says anything
 * is not waited for, and its node speaks for it; so it does while the API server does not answer,
 * which is asked again until it does.
 */
@Component
final class PlacedOn extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(PlacedOn.class);

    private static final int ATTEMPTS = 3;
    private static final int MOST_NODES = 10_000;
    private static final Duration ASKED_AGAIN = Duration.ofSeconds(10);
    private static final Duration FRESH = Duration.ofMinutes(1);

    private final KubernetesClient client;
    private final ClusterView view;
    private final UnreadableObjects unreadable;

    /** Nodes that were asked for in vain, a moment ago. */
    private final Cache<String, Boolean> unknown;

    /** Nodes that were read a moment ago. */
    private final Cache<String, Boolean> fresh;

    /** Nodes that could not be read and are asked for again. */
    private final Set<String> unread = ConcurrentHashMap.newKeySet();

    PlacedOn(KubernetesClient client, ClusterView view, UnreadableObjects unreadable, Clock clock) {
        super("gpu-nodes", clock);
        this.client = client;
        this.view = view;
        this.unreadable = unreadable;
        this.unknown = remembered(ASKED_AGAIN, clock);
        this.fresh = remembered(FRESH, clock);
    }

    private static Cache<String, Boolean> remembered(Duration time, Clock clock) {
        return Caffeine.newBuilder()
                .maximumSize(MOST_NODES)
                .expireAfterWrite(time)
                .ticker(() -> TimeUnit.MILLISECONDS.toNanos(clock.millis()))
                .build();
    }

    /** Asks again for what could not be read. */
    @Override
    protected Instant work(Instant now) {
        unread.forEach(node -> read(node, 1));
        return now.plus(ASKED_AGAIN);
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
        if (node == null || named.isEmpty() || unknown.getIfPresent(node) != null) {
            return;
        }
        if (isKnown(node, named) && (wasThere(pod) || fresh.getIfPresent(node) != null)) {
            return;
        }
        read(node, ATTEMPTS);
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

    /** What it holds is frozen already. */
    private boolean wasThere(PodFacts pod) {
        return view.pod(pod.uid()).filter(it -> it.placement().node() != null).isPresent();
    }

    private void put(String node, List<Gpu> gpus) {
        for (Gpu gpu : gpus) {
            view.putGpus(node, Map.of(gpu.uuid(), PhysicalGpu.of(gpu.model(), gpu.memoryMiB())));
        }
        fresh.put(node, true);
        unread.remove(node);
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

    private void read(String node, int attempts) {
        for (int attempt = 1; attempt <= attempts; attempt++) {
            try {
                put(
                        node,
                        client
                                .resources(GpuNode.class)
                                .withField("metadata.name", node)
                                .list()
                                .getItems()
                                .stream()
                                .flatMap(it -> gpus(it).stream())
                                .toList());
                return;
            } catch (KubernetesClientException e) {
                boolean isNew = unread.add(node);
                log.atLevel(isNew ? Level.WARN : Level.DEBUG)
                        .addKeyValue("node", node)
                        .setCause(e)
                        .log("cannot read its GpuNode");
            }
        }
    }
}
