package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.Reason;
import io.gpusharing.placement.Shortage;
import io.gpusharing.scheduler.gpus.Filtered.Chosen;
import io.gpusharing.scheduler.gpus.Filtered.Nowhere;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Why a pod may not go to nodes that fit otherwise. */
final class WhyNot {

    private WhyNot() {}

    /** It may be bound to this node at this moment, and goes to no other. */
    static Filtered only(String node, Collection<String> candidates) {
        if (candidates.contains(node)) {
            return new Chosen(node);
        }
        var failed = new HashMap<String, Reason>();
        candidates.forEach(name -> failed.put(name, Reason.BEING_BOUND));
        return new Nowhere(failed, Map.of());
    }

    /**
     * It fits on none. kube-scheduler looks for pods that could go on each node that is not said to
     * be hopeless, which with a thousand nodes takes it longer than all else: so nodes are said to
     * be where nobody is less important.
     *
     * @param keptFrom nodes where room is kept for others
     * @param awaited where room is kept for it; empty if nowhere
     */
    static Nowhere nowhere(
            GpuPod pod,
            Collection<String> candidates,
            NodeTable nodes,
            Set<String> keptFrom,
            String awaited) {
        var failed = new HashMap<String, Reason>();
        var unresolvable = new HashMap<String, Reason>();
        for (String name : candidates) {
            NodeGpus node = nodes.get(name);
            Reason reason =
                    node == null ? Reason.NOT_SHARED : node.whyNot(pod, keptFrom.contains(name));
            boolean mayPass =
                    reason.passes()
                            && node != null
                            && (name.equals(awaited) || node.hasLessImportant(pod.priority()));
            (mayPass ? failed : unresolvable).put(name, reason);
        }
        return new Nowhere(failed, unresolvable);
    }

    /** What is lacking on the nodes with GPUs where the pod may be. */
    static Shortage shortage(
            GpuPod pod, Nowhere nowhere, Collection<String> candidates, NodeTable nodes) {
        var reasons = new HashSet<>(nowhere.failed().values());
        reasons.addAll(nowhere.unresolvable().values());
        var shared = new ArrayList<Shortage.Node>();
        for (String name : candidates) {
            NodeGpus node = nodes.get(name);
            if (node != null && node.isShared() && node.isEligible(pod)) {
                shared.add(node.shortage(name, pod));
            }
        }
        return Shortage.of(reasons, shared);
    }
}
