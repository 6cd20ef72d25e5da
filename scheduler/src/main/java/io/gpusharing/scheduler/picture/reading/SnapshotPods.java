package io.gpusharing.scheduler.picture.reading;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.kubernetes.StreamedList;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.picture.Holder;
import io.gpusharing.scheduler.picture.Waiter;
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
    private final List<Holder> gpuPods = new ArrayList<>();
    final GroupGpus groups = new GroupGpus();

    private final RequestGrammars grammars;
    private final PodReader pods;
    private final WaiterReader waiterReader;
    private final BiFunction<Pod, PodFacts, Holder> gpuPod;
    private final UnreadableObjects unreadable;

    /**
     * @param gpuPod reads a pod that holds resources of a node
     */
    SnapshotPods(
            RequestGrammars grammars,
            PodReader pods,
            WaiterReader waiterReader,
            BiFunction<Pod, PodFacts, Holder> gpuPod,
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
            HolderReader.filling(pod).ifPresent(gpuPods::add);
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
        Holder holder = HolderReader.holds(facts) ? gpuPod.apply(pod, facts) : null;
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
    List<Holder> gpuPods() {
        return inGangs(gpuPods);
    }

    /**
     * A gang that no plan could name is none, lest its size protect its pods: they go one by one.
     */
    private List<Holder> inGangs(List<Holder> pods) {
        Map<String, Long> sizes =
                gpuPods.stream()
                        .collect(Collectors.groupingBy(Holder::gang, Collectors.counting()));
        return pods.stream()
                .map(it ->
                        sizes.getOrDefault(it.gang(), 1L) > GpuEviction.MOST_VICTIMS
                                ? it.alone()
                                : it)
                .toList();
    }

    /** All pods of a node, also those without a GPU. */
    List<Holder> allOf(StreamedList<Pod> onNode) {
        var found = new ArrayList<Holder>();
        onNode.forEach(pod -> {
            boolean read =
                    unreadable.handOver(
                            pod,
                            it -> {
                                PodFacts facts = pods.read(it);
                                if (HolderReader.holds(facts)) {
                                    found.add(gpuPod.apply(it, facts));
                                }
                            });
            if (!read) {
                HolderReader.filling(pod).ifPresent(found::add);
            }
        });
        return inGangs(found);
    }
}
