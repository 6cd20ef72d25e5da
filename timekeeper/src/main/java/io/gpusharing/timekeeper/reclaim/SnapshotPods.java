package io.gpusharing.timekeeper.reclaim;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.StreamedList;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.allocation.PodFacts;
import io.gpusharing.timekeeper.allocation.PodReader;
import io.gpusharing.timekeeper.reclaim.snapshot.GpuPod;
import io.gpusharing.timekeeper.reclaim.snapshot.Waiter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/**
 * Collects the pods of one snapshot: who waits, and who holds what. A pod that cannot be read fills
 * the node that it is bound to; where it waits, it stops nobody and nobody is evicted for it.
 */
final class SnapshotPods {

    final List<Waiter> waiters = new ArrayList<>();
    private final List<GpuPod> gpuPods = new ArrayList<>();
    final GroupGpus groups = new GroupGpus();

    private final RequestGrammars grammars;
    private final PodReader pods;
    private final WaiterReader waiterReader;
    private final BiFunction<Pod, PodFacts, GpuPod> gpuPod;
    private final UnreadableObjects unreadable;

    /**
     * @param gpuPod reads a pod that holds resources of a node
     */
    SnapshotPods(
            RequestGrammars grammars,
            PodReader pods,
            WaiterReader waiterReader,
            BiFunction<Pod, PodFacts, GpuPod> gpuPod,
            UnreadableObjects unreadable) {
        this.grammars = grammars;
        this.pods = pods;
        this.waiterReader = waiterReader;
        this.gpuPod = gpuPod;
        this.unreadable = unreadable;
    }

    /** Takes a pod with our label. */
    void add(Pod pod) {
        if (!unreadable.handOver(pod, this::read)) {
            GpuPodReader.filling(pod).ifPresent(gpuPods::add);
        }
    }

    private void read(Pod pod) {
        PodFacts facts = pods.read(pod);
        // Devices of claims are neither preempted nor made room for.
        if (!pod.getSpec().getResourceClaims().isEmpty()
                && grammars.grammarOf(facts.request()).isEmpty()) {
            return;
        }
        // Read as a whole before anything is noted, lest half of a pod stays here.
        Waiter waiter = WaiterReader.waits(pod, facts) ? waiterReader.read(pod, facts) : null;
        GpuPod holder = GpuPodReader.holds(facts) ? gpuPod.apply(pod, facts) : null;
        if (waiter != null) {
            groups.waits(pod, waiter);
            waiters.add(waiter);
        }
        if (holder != null) {
            if (facts.placement().node() != null) {
                groups.holds(pod, holder);
            }
            gpuPods.add(holder);
        }
    }

    /** All pods that hold GPUs. */
    List<GpuPod> gpuPods() {
        return inGangs(gpuPods);
    }

    /**
     * A gang that no plan could name is none, lest its size protect its pods: they go one by one.
     */
    private List<GpuPod> inGangs(List<GpuPod> pods) {
        Map<String, Long> sizes =
                gpuPods.stream()
                        .collect(Collectors.groupingBy(GpuPod::gang, Collectors.counting()));
        return pods.stream()
                .map(it ->
                        sizes.getOrDefault(it.gang(), 1L) > GpuEviction.MOST_VICTIMS
                                ? it.alone()
                                : it)
                .toList();
    }

    /** All pods of a node, also those without a GPU. */
    List<GpuPod> allOf(StreamedList<Pod> onNode) {
        var found = new ArrayList<GpuPod>();
        onNode.forEach(pod -> {
            boolean read =
                    unreadable.handOver(
                            pod,
                            it -> {
                                PodFacts facts = pods.read(it);
                                if (GpuPodReader.holds(facts)) {
                                    found.add(gpuPod.apply(it, facts));
                                }
                            });
            if (!read) {
                GpuPodReader.filling(pod).ifPresent(found::add);
            }
        });
        return inGangs(found);
    }
}
