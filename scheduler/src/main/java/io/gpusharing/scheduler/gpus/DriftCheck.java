package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.wire.GpuHold;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Compares what a node's device plugin has granted with what is written on the node's pods.
 *
 * @param node what the device plugin says
 * @param all the node's GPUs, healthy or not
 * @param bound the node's pods by UID
 * @param reserved UIDs of pods that are about to be bound
 * @param holds what each pod holds by UID, as it is counted
 */
record DriftCheck(
        SharedNode node,
        GpuLayout all,
        Map<String, GpuPod> bound,
        Set<String> reserved,
        Map<String, List<GpuHold>> holds) {

    /** All that does not agree. */
    List<Drift> drift() {
        var drift = new ArrayList<Drift>();
        var known = new HashMap<>(holds);
        bound.forEach((uid, pod) -> {
            List<ContainerAsk> asks = pod.asks();
            List<GpuHold> granted = node.granted().get(uid);
            if (!SharedNode.isPlaced(asks)) {
                if (granted == null && !node.refused().contains(uid)) {
                    drift.add(new Drift(Drift.Kind.UNPLACED, node.name(), uid));
                    // It is counted on each GPU, and overbooks none.
                    known.remove(uid);
                }
            } else if (granted != null && !gpus(granted).equals(gpus(asks))) {
                drift.add(new Drift(Drift.Kind.ELSEWHERE, node.name(), uid));
            }
        });
        node.granted().keySet().stream()
                .filter(uid -> !bound.containsKey(uid) && !reserved.contains(uid))
                .forEach(uid -> drift.add(new Drift(Drift.Kind.GONE, node.name(), uid)));
        for (Gpu gpu : all.gpus()) {
            List<GpuHold> held =
                    known.values().stream()
                            .flatMap(List::stream)
                            .filter(hold -> hold.gpu().equals(gpu.id()))
                            .toList();
            if (isOverbooked(gpu, held)) {
                drift.add(new Drift(Drift.Kind.OVERBOOKED, node.name(), gpu.id()));
            }
        }
        return drift;
    }

    private static boolean isOverbooked(Gpu gpu, List<GpuHold> held) {
        return held.stream().mapToLong(GpuHold::cores).sum() > gpu.cores()
                // Of one that is known by its name alone nobody knows how much it has.
                || (gpu.memory() > 0
                        && held.stream().mapToLong(GpuHold::memory).sum() > gpu.memory())
                || (held.size() > 1 && held.stream().anyMatch(GpuHold::whole));
    }

    private static Set<String> gpus(List<GpuHold> holds) {
        return holds.stream().map(GpuHold::gpu).collect(Collectors.toSet());
    }

    private static Set<String> gpus(Collection<ContainerAsk> asks) {
        return asks.stream().flatMap(ask -> ask.on().stream()).collect(Collectors.toSet());
    }
}
