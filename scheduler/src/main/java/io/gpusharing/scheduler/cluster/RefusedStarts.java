package io.gpusharing.scheduler.cluster;

import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.RefusedStart;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.stereotype.Component;

/**
 * Pods that their nodes' device plugins did not let start. What a node said last holds while it
 * cannot be read; of one with an entry that cannot be read, the others count.
 */
@Component
public final class RefusedStarts {

    private final Map<String, List<RefusedStart>> byNode = new ConcurrentHashMap<>();
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private volatile boolean known;

    /** Says that all nodes have been described. */
    public void onListed() {
        known = true;
    }

    /** Whether all nodes have ever been described. */
    public boolean areKnown() {
        return known;
    }

    /**
     * Takes what a node says.
     *
     * @throws RuntimeException if an entry cannot be read, when the others have been taken
     */
    public void describe(GpuNode node) {
        put(node.getMetadata().getName(), RefusedStart.of(node, _ -> {}));
        RefusedStart.requireReadable(node);
    }

    /** A node that is gone has refused nobody. */
    public void remove(String node) {
        put(node, List.of());
    }

    private void put(String node, List<RefusedStart> starts) {
        List<RefusedStart> before =
                starts.isEmpty() ? byNode.remove(node) : byNode.put(node, starts);
        if (!starts.equals(before == null ? List.of() : before)) {
            listeners.forEach(Runnable::run);
        }
    }

    /**
     * Has a listener called after each change.
     *
     * @param listener is quick
     */
    public void listen(Runnable listener) {
        listeners.add(listener);
    }

    /** All that wait now. */
    public List<RefusedStart> waiting() {
        return byNode.values().stream()
                .flatMap(List::stream)
                .filter(it -> it.until() == null)
                .toList();
    }

    /** What its node says of a pod that waits now. */
    public Optional<RefusedStart> waiting(String node, String podUid) {
        return byNode.getOrDefault(node, List.of()).stream()
                .filter(it -> it.until() == null && it.pod().toString().equals(podUid))
                .findFirst();
    }
}
