package io.gpusharing.scheduler.preemption;

import io.gpusharing.placement.Gpu;
import io.gpusharing.scheduler.gpus.HeldGpus;
import io.gpusharing.scheduler.preemption.NodePods.Load;
import io.gpusharing.scheduler.preemption.NodeState.Gang;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.wire.GpuHold;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Who may go for a pod, and what is left beside all others.
 *
 * @param companions UIDs of pods with which it is to share a GPU: without them it would not
 * @param spread gangs that run on several nodes: to take a part of one would end all of it
 */
record VictimFilter(Preemptor preemptor, Set<String> companions, Set<String> spread, Instant now) {

    /**
     * @param expendable UIDs of pods: nobody goes but these and who is in a gang with one of them
     */
    NodeState filter(String node, HeldGpus gpus, NodePods pods, Set<String> expendable) {
        // What nobody takes out stays held: by those that stay, by those that are about to be
        // bound, and by those of whom nothing is known.
        var held = new HashMap<>(gpus.held());
        var left = pods.allocatable();
        Instant lastEnd = now;
        var byGang = new TreeMap<String, List<Load>>();
        for (Load load : pods.bound()) {
            RunningPod pod = load.pod();
            if (!pod.isDeleted()) {
                byGang.computeIfAbsent(pod.gang(), gang -> new ArrayList<>()).add(load);
            } else if (pod.isLeaving(now)) {
                held.remove(pod.uid());
                lastEnd = pod.deletionOr(lastEnd);
            } else {
                left = left.minus(load.requests());
            }
        }
        var gangs = new ArrayList<Gang>();
        for (Map.Entry<String, List<Load>> gang : byGang.entrySet()) {
            if (mayGo(gang.getKey(), gang.getValue(), expendable)) {
                gangs.add(gang(gang.getValue(), held));
            } else {
                left = left.minus(requests(gang.getValue()));
            }
        }
        return new NodeState(node, left, beside(gpus, held), gangs, nominated(pods), lastEnd);
    }

    private boolean mayGo(String gang, List<Load> pods, Set<String> expendable) {
        return !spread.contains(gang)
                && !gang.equals(preemptor.gang())
                && pods.stream().anyMatch(load -> expendable.contains(load.pod().uid()))
                && pods.stream().noneMatch(load -> companions.contains(load.pod().uid()))
                && pods.stream().allMatch(load -> load.pod().priority() < preemptor.priority());
    }

    /** Takes out what they hold. */
    private static Gang gang(List<Load> pods, Map<String, List<GpuHold>> held) {
        var own = new ArrayList<GpuHold>();
        for (Load load : pods) {
            List<GpuHold> holds = held.remove(load.pod().uid());
            own.addAll(holds == null ? List.of() : holds);
        }
        return new Gang(pods.stream().map(Load::pod).toList(), requests(pods), own);
    }

    private static List<Gpu> beside(HeldGpus gpus, Map<String, List<GpuHold>> held) {
        var left = new LinkedHashMap<String, Gpu>();
        gpus.all().gpus().forEach(gpu -> left.put(gpu.id(), gpu));
        for (List<GpuHold> holds : held.values()) {
            for (GpuHold hold : holds) {
                left.computeIfPresent(hold.gpu(), (uuid, gpu) -> gpu.without(hold));
            }
        }
        return List.copyOf(left.values());
    }

    private Amounts nominated(NodePods pods) {
        return requests(
                pods.nominated().stream()
                        .filter(load -> !load.pod().uid().equals(preemptor.uid()))
                        .filter(load -> load.pod().priority() >= preemptor.priority())
                        .toList());
    }

    private static Amounts requests(List<Load> pods) {
        Amounts sum = Amounts.NONE;
        for (Load load : pods) {
            sum = sum.plus(load.requests());
        }
        return sum;
    }
}
