package io.gpusharing.scheduler.picture.reading;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuGroup;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which pods share a GPU by wish, and which GPU that is. As for our scheduler it is that of who
 * came first and is not about to go, or else the one where room is being made for one of them.
 */
public final class GroupGpus {

    private final Map<String, GpuGroup> waiting = new HashMap<>();
    private final Map<GpuGroup, List<Holder>> bound = new HashMap<>();
    private final Map<GpuGroup, String> gpus = new HashMap<>();

    /** A pod of a group waits. */
    void waits(GpuGroup group, Waiter pod) {
        waiting.put(pod.pod().uid(), group);
    }

    /** A pod of a group is bound. */
    void holds(GpuGroup group, Holder pod) {
        bound.computeIfAbsent(group, it -> new ArrayList<>()).add(pod);
    }

    /** The group of a pod that waits or holds something; null if it is in none. */
    static @Nullable GpuGroup group(
            Pod pod, @Nullable Waiter waiter, @Nullable KnownHolder holder) {
        List<ContainerAsk> asks =
                waiter != null
                        ? waiter.ask().containers()
                        : holder != null ? holder.hold().containers() : List.of();
        return group(pod, asks).orElse(null);
    }

    private static Optional<GpuGroup> group(Pod pod, List<ContainerAsk> asks) {
        return GpuGroup.of(
                pod.getMetadata().getNamespace(), pod.getMetadata().getAnnotations(), asks);
    }

    /**
     * All pods are known.
     *
     * @param nodes whose GPUs our device plugin hands out, by name
     * @param kept room that is kept for pods that wait
     */
    void complete(Map<String, SharedNode> nodes, Collection<KeptRoom> kept) {
        // Of several rooms always the same one, as for our scheduler.
        kept.stream()
                .filter(room -> waiting.containsKey(room.podUid()) && !room.held().isEmpty())
                .sorted(Comparator.comparing(KeptRoom::podUid))
                .forEach(room ->
                        gpus.putIfAbsent(waiting.get(room.podUid()), room.held().getFirst().gpu()));
        bound.forEach((group, pods) ->
                pods.stream()
                        .filter(pod -> pod.end() == null)
                        .sorted(Comparator.comparing(Holder::since))
                        .flatMap(pod -> gpu(pod, nodes).stream())
                        .findFirst()
                        .ifPresent(gpu -> gpus.put(group, gpu)));
    }

    private static Optional<String> gpu(Holder pod, Map<String, SharedNode> nodes) {
        return SharedNode.gpu(nodes.get(pod.node()), pod.pod().uid(), pod.hold().containers());
    }

    /**
     * Those for whom somebody may be evicted, each of a group on its GPU alone. Where a group has
     * none yet that is only the one who waits longest: room for another might be made on another
     * GPU, and be of no use.
     */
    List<Waiter> beside(List<Waiter> waiters) {
        var first = new HashMap<GpuGroup, String>();
        waiters.stream()
                .sorted(Comparator.comparing(Waiter::since).thenComparing(it -> it.pod().uid()))
                .map(it -> it.pod().uid())
                .filter(waiting::containsKey)
                .forEach(uid -> first.putIfAbsent(waiting.get(uid), uid));
        var beside = new ArrayList<Waiter>();
        for (Waiter waiter : waiters) {
            GpuGroup group = waiting.get(waiter.pod().uid());
            String gpu = gpus.get(group);
            if (gpu != null) {
                beside.add(waiter.only(gpu));
            } else if (group == null || waiter.pod().uid().equals(first.get(group))) {
                beside.add(waiter);
            }
        }
        return beside;
    }

    /** A pod that somebody asks about, on the GPU of its group alone if that has one. */
    public Waiter beside(Pod pod, Waiter read) {
        return group(pod, read.ask().containers()).map(gpus::get).map(read::only).orElse(read);
    }
}
