package io.gpusharing.scheduler.picture;

import io.fabric8.kubernetes.api.model.Taint;
import io.gpusharing.placement.FreeCapacity;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.wire.GpuHold;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A node, as the scheduler sees it.
 *
 * @param empty what it has while nobody runs there
 * @param shared its GPUs where our device plugin hands them out; null where another provider does
 * @param kept room on them that is kept for waiting pods
 */
public record NodeView(
        String name,
        Map<String, String> labels,
        List<Taint> taints,
        boolean unschedulable,
        FreeCapacity empty,
        @Nullable SharedNode shared,
        List<KeptRoom> kept) {

    public NodeView {
        kept = List.copyOf(kept);
        labels = Map.copyOf(labels);
        taints = List.copyOf(taints);
    }

    /** The same with more room that is kept, in place of what was kept for the same pod. */
    NodeView keeping(KeptRoom room) {
        return new NodeView(
                name,
                labels,
                taints,
                unschedulable,
                empty,
                shared,
                Stream.concat(
                                kept.stream().filter(it -> !it.podUid().equals(room.podUid())),
                                room.held().isEmpty() ? Stream.empty() : Stream.of(room))
                        .toList());
    }

    /** What others of its priority or a higher one are to have. */
    public List<KeptRoom> keptFrom(Waiter waiter) {
        return KeptRoom.against(waiter.pod().uid(), waiter.priority(), kept, uid -> false);
    }

    /**
     * What a pod that is here holds of GPUs, by the word of whoever hands out the node's; null if
     * nobody knows.
     */
    public @Nullable List<GpuHold> gpus(Holder pod) {
        return shared == null
                ? pod.hold().gpus()
                : shared.held(pod.pod().uid(), pod.hold().containers());
    }

    /** Micro-GPUs that a pod holds here, of the very GPUs that it is on where that is known. */
    public long share(Holder gpuPod) {
        return shared == null
                ? gpuPod.share()
                : shared.share(gpuPod.pod().uid(), gpuPod.hold().containers())
                        .orElse(gpuPod.share());
    }

    /**
     * What the device plugin says that pods hold that are here no more: their processes may live
     * on, and until they have ended their GPUs are not free.
     *
     * @param here the pods that are
     */
    public List<GpuHold> leftBehind(Collection<Holder> here) {
        Map<String, List<GpuHold>> granted =
                new HashMap<>(shared == null ? Map.of() : shared.granted());
        here.forEach(gpuPod -> granted.remove(gpuPod.pod().uid()));
        return granted.values().stream().flatMap(List::stream).toList();
    }
}
