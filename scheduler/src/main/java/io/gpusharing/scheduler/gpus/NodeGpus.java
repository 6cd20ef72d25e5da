package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.ContainerPlacement;
import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.GpuAsk;
import io.gpusharing.placement.GpuHold;
import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.PodPlacement;
import io.gpusharing.placement.PodPlacement.ContainerAsk;
import io.gpusharing.placement.SharedNode;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The GPUs of one node, and who holds what of them. What the device plugin granted a pod counts
 * before what was written on it, and that before what is only reserved. Belongs to one thread at a
 * time.
 */
final class NodeGpus {

    /** A whole GPU's memory, in the unit of its processors. */
    private static final long ALL = 100;

    /** What the device plugin says; null where there is none of ours. */
    private @Nullable SharedNode node;

    /** What bound pods ask for, each container on the GPUs that were chosen for it if any were. */
    private final Map<String, List<ContainerAsk>> bound = new HashMap<>();

    /** Which of them are being deleted. */
    private final Set<String> leaving = new HashSet<>();

    private final Map<String, List<GpuHold>> reserved = new HashMap<>();

    /** All GPUs, healthy or not, as if nobody held any. */
    private GpuLayout all = new GpuLayout(List.of());

    /** What is left of each GPU; null when something has changed since. */
    private @Nullable GpuLayout free;

    void describe(@Nullable SharedNode now) {
        node = now;
        all = now == null ? new GpuLayout(List.of()) : now.all();
        free = null;
    }

    /** A pod that is bound to this node. */
    void bind(GpuPod pod) {
        bound.put(pod.uid(), pod.asks());
        if (pod.leaving()) {
            leaving.add(pod.uid());
        }
        free = null;
    }

    /** A pod that is about to be bound. */
    void reserve(String podUid, List<GpuHold> holds) {
        reserved.put(podUid, holds);
        free = null;
    }

    void release(String podUid) {
        reserved.remove(podUid);
        free = null;
    }

    /** The pod has gone. What the device plugin says that it holds it holds still. */
    void forget(String podUid) {
        bound.remove(podUid);
        leaving.remove(podUid);
        release(podUid);
    }

    /** Whether there is nothing to remember of it. */
    boolean isEmpty() {
        return node == null && bound.isEmpty() && reserved.isEmpty();
    }

    /** Whether it has GPUs that our device plugin shares. */
    boolean isShared() {
        return !all.gpus().isEmpty();
    }

    /** Whether containers may start on any of its GPUs. */
    boolean isUsable() {
        return node != null && !node.gpus().isEmpty();
    }

    /**
     * Where the pod's containers would run if it came to this node now.
     *
     * @param kept what is kept for others
     */
    Optional<List<ContainerPlacement>> place(
            List<ContainerAsk> asks, Collection<List<GpuHold>> kept) {
        return PodPlacement.placed(asks, free(kept));
    }

    /** What programs of another provider are told of a pod that is placed here. */
    Map<String, String> besides(GpuPod pod, List<ContainerPlacement> placed, Instant now) {
        SharedNode shared = node;
        if (shared == null
                || PodPlacement.held(placed).stream()
                        .anyMatch(hold -> !shared.indexes().containsKey(hold.gpu()))) {
            return Map.of();
        }
        return pod.dialect().annotations(pod.containers(), placed, shared, now);
    }

    /** Whether a pod may still have what is reserved for it: the GPUs are usable, and it fits. */
    boolean isSound(String podUid) {
        List<GpuHold> own = reserved.get(podUid);
        if (own == null) {
            return false;
        }
        release(podUid);
        boolean sound = own.stream().allMatch(this::isFree);
        reserve(podUid, own);
        return sound;
    }

    private boolean isFree(GpuHold hold) {
        return free().gpus().stream()
                .filter(gpu -> gpu.id().equals(hold.gpu()))
                .anyMatch(gpu ->
                        hold.whole()
                                ? gpu.untouched()
                                : gpu.cores() >= hold.cores() && gpu.memory() >= hold.memory());
    }

    /** Whether it would fit if nobody else were here and all GPUs were healthy. */
    boolean couldFit(List<ContainerAsk> asks) {
        for (ContainerAsk ask : asks) {
            if (all.gpus().stream().filter(ask.ask()::fitsOn).count() < ask.ask().count()) {
                return false;
            }
        }
        return asks.size() == 1 || PodPlacement.placed(asks, all).isPresent();
    }

    /**
     * How much would be left of the GPUs that a pod would get, in hundredths of processors and
     * hundredths of memory: the less, the better it is packed. Empty if it does not fit.
     *
     * @param kept what is kept for others
     */
    OptionalLong left(List<ContainerAsk> asks, Collection<List<GpuHold>> kept) {
        GpuLayout layout = free(kept);
        // Nearly every pod is one container with a part of one GPU, and is looked at on all nodes.
        if (asks.size() == 1 && !asks.getFirst().ask().whole()) {
            return left(layout, asks.getFirst().ask());
        }
        return PodPlacement.placed(asks, layout)
                .map(containers ->
                        OptionalLong.of(leftBeside(layout, PodPlacement.held(containers))))
                .orElseGet(OptionalLong::empty);
    }

    private static OptionalLong left(GpuLayout layout, GpuAsk ask) {
        Gpu fullest = null;
        for (Gpu gpu : layout.gpus()) {
            if (ask.fitsOn(gpu)
                    && (fullest == null || GpuLayout.FULLEST_FIRST.compare(gpu, fullest) < 0)) {
                fullest = gpu;
            }
        }
        return fullest == null
                ? OptionalLong.empty()
                : OptionalLong.of(left(fullest.without(ask.on(fullest))));
    }

    private static long leftBeside(GpuLayout layout, List<GpuHold> held) {
        long left = 0;
        for (Gpu gpu : layout.gpus()) {
            Optional<GpuHold> own =
                    held.stream().filter(hold -> hold.gpu().equals(gpu.id())).findFirst();
            if (own.isPresent()) {
                left += left(gpu.without(own.get()));
            } else if (gpu.untouched()) {
                // Whole GPUs leave nothing of their own; of idle ones few nodes should have many.
                left++;
            }
        }
        return left;
    }

    private static long left(Gpu gpu) {
        return gpu.cores() + (gpu.size() == 0 ? 0 : gpu.memory() * ALL / gpu.size());
    }

    /** What is left of each GPU on which containers may start. */
    private GpuLayout free() {
        GpuLayout known = free;
        if (known == null) {
            known = node == null ? new GpuLayout(List.of()) : free(node, holds(node).values());
            free = known;
        }
        return known;
    }

    private static GpuLayout free(SharedNode shared, Collection<List<GpuHold>> holds) {
        var gpus = new LinkedHashMap<String, Gpu>();
        shared.gpus().forEach(gpu -> gpus.put(gpu.id(), gpu));
        for (List<GpuHold> held : holds) {
            for (GpuHold hold : held) {
                gpus.computeIfPresent(hold.gpu(), (uuid, gpu) -> gpu.without(hold));
            }
        }
        return new GpuLayout(List.copyOf(gpus.values()));
    }

    /**
     * The same where some of it is kept for others: what is free now, as far as it will still be
     * free once they have come and those have gone that are being deleted.
     */
    private GpuLayout free(Collection<List<GpuHold>> kept) {
        SharedNode shared = node;
        GpuLayout now = free();
        if (kept.isEmpty() || shared == null) {
            return now;
        }
        Map<String, List<GpuHold>> staying = holds(shared);
        staying.keySet().removeAll(leaving);
        List<Gpu> then =
                free(shared, Stream.concat(staying.values().stream(), kept.stream()).toList())
                        .gpus();
        return new GpuLayout(
                IntStream.range(0, then.size())
                        .mapToObj(gpu -> less(now.gpus().get(gpu), then.get(gpu)))
                        .toList());
    }

    private static Gpu less(Gpu one, Gpu other) {
        return new Gpu(
                one.id(),
                Math.min(one.cores(), other.cores()),
                Math.min(one.memory(), other.memory()),
                one.untouched() && other.untouched(),
                one.size());
    }

    /**
     * Who holds what, by UID, apart from this pod.
     *
     * @param kept for whom room is kept besides, by UID
     */
    HeldGpus heldBeside(String podUid, Map<String, List<GpuHold>> kept) {
        SharedNode shared = node;
        if (shared == null) {
            return new HeldGpus(new GpuLayout(List.of()), Map.of());
        }
        Map<String, List<GpuHold>> holds = holds(shared);
        holds.remove(podUid);
        holds.putAll(kept);
        return new HeldGpus(new GpuLayout(shared.gpus()), holds);
    }

    private Map<String, List<GpuHold>> holds(SharedNode shared) {
        var holds = new HashMap<>(reserved);
        bound.forEach((uid, asks) -> {
            if (SharedNode.isPlaced(asks) || !reserved.containsKey(uid)) {
                holds.put(uid, shared.held(uid, asks));
            }
        });
        holds.putAll(shared.granted());
        return holds;
    }
}
