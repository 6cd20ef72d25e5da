package io.gpusharing.scheduler.preemption;

import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.preemption.NodePods.Load;
import java.util.ArrayList;
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

    /**
     * Which gangs are no gangs of one node.
     *
     * @param spread the pods of those that run on more than one
     * @param tooLarge those whose pods count one by one
     * @param labelled UIDs of the pods of those that a label alone names
     */
    record RunningGangs(
            Map<String, List<RunningPod>> spread, Set<String> tooLarge, Set<String> labelled) {

        /**
         * The same pod, alone where its gang is too large, or where a label alone puts it beside
         * pods with GPUs of ours and it has none: it would protect them.
         */
        Load asItGoes(Load load) {
            String gang = load.pod().gang();
            return tooLarge.contains(gang)
                            || (Gangs.isNamedByLabel(gang) && !labelled.contains(load.pod().uid()))
                    ? new Load(load.pod().alone(), load.requests())
                    : load;
        }
    }

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
     * The gangs of all nodes. Nobody can protect one by a pod that is being deleted and does not
     * end.
     */
    synchronized RunningGangs gangs() {
        var nodeOf = new HashMap<String, String>();
        var pods = new HashMap<String, List<RunningPod>>();
        var sizes = new HashMap<String, Integer>();
        var spread = new HashSet<String>();
        var labelled = new HashSet<String>();
        byNode.forEach((node, there) ->
                there.values().stream()
                        .filter(pod -> !pod.isDeleted() && !pod.gang().equals(pod.uid()))
                        .forEach(pod -> {
                            sizes.merge(pod.gang(), 1, Integer::sum);
                            pods.computeIfAbsent(pod.gang(), gang -> new ArrayList<>()).add(pod);
                            if (Gangs.isNamedByLabel(pod.gang())) {
                                labelled.add(pod.uid());
                            }
                            if (!node.equals(nodeOf.computeIfAbsent(pod.gang(), gang -> node))) {
                                spread.add(pod.gang());
                            }
                        }));
        pods.keySet().retainAll(spread);
        return new RunningGangs(pods, Gangs.tooLarge(sizes), labelled);
    }
}
