package io.gpusharing.scheduler.picture.reading;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.StreamedList;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.SharedNode;
import java.net.HttpURLConnection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads which nodes our device plugin serves, and what it says of their GPUs. */
final class SharedNodeReader {

    private static final Logger log = LoggerFactory.getLogger(SharedNodeReader.class);

    private final KubernetesClient client;
    private final UnreadableObjects unreadable;
    private volatile boolean blind;

    SharedNodeReader(KubernetesClient client, UnreadableObjects unreadable) {
        this.client = client;
        this.unreadable = unreadable;
    }

    /**
     * Those that have GPUs to share, by name; none where the kind is not installed, or may not be
     * seen.
     */
    Map<String, SharedNode> read() {
        try {
            var nodes = new HashMap<String, SharedNode>();
            StreamedList.of(client, GpuNode.class)
                    .forEach(node -> read(node).forEach(it -> nodes.put(it.name(), it)));
            return nodes;
        } catch (KubernetesClientException e) {
            // Of any other failure more is known a round later: a guess could evict the wrong pods.
            switch (e.getCode()) {
                case HttpURLConnection.HTTP_NOT_FOUND -> {}
                case HttpURLConnection.HTTP_FORBIDDEN -> warn();
                default -> throw e;
            }
            return Map.of();
        }
    }

    /**
     * A node whose GPUs cannot be read has none that are known, and offers nothing: without it they
     * would be taken for another provider's, and pods be evicted by a guess.
     */
    private Stream<SharedNode> read(GpuNode node) {
        return unreadable
                .read(node, it -> SharedNode.of(it.getMetadata().getName(), it.getStatus()))
                .map(it -> Stream.of(it).filter(shared -> !shared.all().gpus().isEmpty()))
                .orElseGet(() -> Stream.of(withoutGpus(node.getMetadata().getName())));
    }

    private static SharedNode withoutGpus(String name) {
        return new SharedNode(name, List.of(), List.of(), Map.of());
    }

    private void warn() {
        if (!blind) {
            log.warn(
                    "Cannot list gpunodes.gpusharing.io: the API server answered 403. Reclaim does not"
                            + " know which pod holds which GPU. The service account"
                            + " gpusharing-scheduler needs get, list, watch on them");
        }
        blind = true;
    }
}
