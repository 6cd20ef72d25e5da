package io.gpusharing.scheduler.preemption;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** All pods that ask for GPUs of ours and are bound. Safe for any thread. */
public final class RunningPods {

    private final Map<String, Map<String, RunningPod>> byNode = new HashMap<>();

    /** The node of each, by UID. */
    private final Map<String, String> nodes = new HashMap<>();

    /** A pod is bound to a node and has not ended, or has changed. */
    public synchronized void put(RunningPod pod, String node) {
        remove(pod.uid());
        nodes.put(pod.uid(), node);
        byNode.computeIfAbsent(node, name -> new HashMap<>()).put(pod.uid(), pod);
    }

    /** A pod has ended or was deleted. */
    public synchronized void remove(String uid) {
        String node = nodes.remove(uid);
        if (node != null) {
            byNode.computeIfPresent(
                    node,
                    (name, pods) -> {
                        pods.remove(uid);
                        return pods.isEmpty() ? null : pods;
                    });
        }
    }

    synchronized List<RunningPod> on(String node) {
        return List.copyOf(byNode.getOrDefault(node, Map.of()).values());
    }

    /**
     * The gangs that run on more than one node. Nobody can protect one by a pod that is being
     * deleted and does not end.
     */
    synchronized Set<String> spreadGangs() {
        var nodeOf = new HashMap<String, String>();
        var spread = new HashSet<String>();
        byNode.forEach((node, pods) ->
                pods.values().stream()
                        .filter(pod -> !pod.isDeleted() && !pod.gang().equals(pod.uid()))
                        .forEach(pod -> {
                            if (!node.equals(nodeOf.computeIfAbsent(pod.gang(), gang -> node))) {
                                spread.add(pod.gang());
                            }
                        }));
        return spread;
    }
}
