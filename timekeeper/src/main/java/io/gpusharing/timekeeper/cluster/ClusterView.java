package io.gpusharing.timekeeper.cluster;

import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.allocation.PhysicalGpu;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.springframework.stereotype.Component;

/** The metered pods and the nodes as they are now, as far as the API server has reported. */
@Component
public class ClusterView {

    private final Map<UUID, PodFacts> pods = new ConcurrentHashMap<>();
    private final Map<String, NodeFacts> nodes = new ConcurrentHashMap<>();
    private final Map<String, Map<String, PhysicalGpu>> gpus = new ConcurrentHashMap<>();
    private volatile boolean listed;

    /** All metered pods, waiting ones and ended ones included. */
    public Collection<PodFacts> pods() {
        return List.copyOf(pods.values());
    }

    /** One pod; empty if it is not there any more. */
    public Optional<PodFacts> pod(UUID uid) {
        return Optional.ofNullable(pods.get(uid));
    }

    /** A node, with the last capacity that named a GPU; empty if it was never seen. */
    public Optional<NodeFacts> node(String name) {
        return Optional.ofNullable(nodes.get(name));
    }

    /**
     * GPUs of a node by their UUIDs: those on which pods were placed, as soon as the first was;
     * also those that are gone.
     */
    public Map<String, PhysicalGpu> gpus(String node) {
        return gpus.getOrDefault(node, Map.of());
    }

    /** Whether the pods have ever been listed. */
    public boolean listed() {
        return listed;
    }

    /**
     * @param unread pods that are there and cannot be read; they stay what they were known as last
     */
    void replacePods(List<PodFacts> present, Set<UUID> unread) {
        Map<UUID, PodFacts> byUid =
                present.stream().collect(Collectors.toMap(PodFacts::uid, Function.identity()));
        pods.keySet().removeIf(uid -> !byUid.containsKey(uid) && !unread.contains(uid));
        pods.putAll(byUid);
        listed = true;
    }

    void put(PodFacts pod) {
        pods.put(pod.uid(), pod);
    }

    void remove(PodFacts pod) {
        pods.remove(pod.uid());
    }

    void put(String name, NodeFacts node) {
        nodes.put(name, node);
    }

    void putGpus(String node, Map<String, PhysicalGpu> found) {
        gpus.computeIfAbsent(node, name -> new ConcurrentHashMap<>()).putAll(found);
    }

    void putIfAbsent(String name, NodeFacts node) {
        nodes.putIfAbsent(name, node);
    }
}
