package io.gpusharing.scheduler.gpus;

import static java.util.Objects.requireNonNull;

import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.Leftover;
import io.gpusharing.placement.NodeOccupancy;
import io.gpusharing.placement.PodPlacement;
import io.gpusharing.placement.Reason;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.placement.Shortage;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The GPUs of one node, and who holds what of them. What the device plugin granted a pod counts
 * before what was written on it, and that before what is only reserved. Belongs to one thread at a
 * time.
 */
final class NodeGpus {

    /** Kinds of pods that are remembered not to fit. */
    private static final int MOST_REFUSED = 100;

    /** What the device plugin says; null where there is none of ours. */
    private @Nullable SharedNode node;

    /** Bound pods by UID, each container on the GPUs that were chosen for it if any were. */
    private final Map<String, GpuPod> bound = new HashMap<>();

    /** Which of them are being deleted, and by when they are to have ended. */
    private final Map<String, Instant> leaving = new HashMap<>();

    private final Map<String, List<GpuHold>> reserved = new HashMap<>();

    /** All GPUs, healthy or not, as if nobody held any. */
    private GpuLayout all = new GpuLayout(List.of());

    /** What follows from all that; null when something has changed since. */
    private @Nullable View view;

    /**
     * @param lowest the lowest priority of those that may be pushed aside here
     * @param refused what did not fit; many pods ask for the same
     */
    private record View(NodeOccupancy occupancy, int lowest, Set<List<ContainerAsk>> refused) {}

    void describe(@Nullable SharedNode now) {
        node = now;
        all = now == null ? new GpuLayout(List.of()) : now.all();
        view = null;
    }

    /** A pod that is bound to this node. */
    void bind(GpuPod pod) {
        bound.put(pod.uid(), pod);
        if (pod.end() != null) {
            leaving.put(pod.uid(), pod.end());
        }
        view = null;
    }

    /** A pod that is about to be bound. */
    void reserve(String podUid, List<GpuHold> holds) {
        reserved.put(podUid, holds);
        view = null;
    }

    void release(String podUid) {
        reserved.remove(podUid);
        view = null;
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

    /** How much of it is in use. */
    NodeUse use() {
        SharedNode shared = requireNonNull(node);
        return NodeUse.of(shared, all, free(), holds(shared).values());
    }

    /** Who has memory of which GPU; those that are split by MIG are left out. */
    NodeMemory memory() {
        SharedNode shared = requireNonNull(node);
        return NodeMemory.of(shared, all, bound, holds(shared));
    }

    /** What there is instead of what a pod asks for, among the GPUs where it may be. */
    Shortage.Node shortage(String name, GpuPod pod) {
        return Shortage.Node.of(name, pod.asks(), free(), all);
    }

    /** Whether it has any GPU where a pod may be. */
    boolean isEligible(GpuPod pod) {
        return !PodPlacement.eligible(pod.asks(), all).gpus().isEmpty();
    }

    /**
     * The GPU of a pod of a group; null if nobody says which it is, or the pod is going to give it
     * back.
     */
    @Nullable String gpuOf(String podUid) {
        if (leaving.containsKey(podUid)) {
            return null;
        }
        GpuPod pod = bound.get(podUid);
        return pod == null
                ? reserved.getOrDefault(podUid, List.of()).stream()
                        .map(GpuHold::gpu)
                        .findFirst()
                        .orElse(null)
                : SharedNode.gpu(node, podUid, pod.asks()).orElse(null);
    }

    /** Where what is written about its GPUs does not agree. */
    List<Drift> drift() {
        SharedNode shared = requireNonNull(node);
        return new DriftCheck(shared, all, bound, reserved.keySet(), holds(shared)).drift();
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
    Optional<List<ContainerPlacement>> place(GpuPod pod, List<KeptRoom> kept) {
        return PodPlacement.placed(pod.asks(), free(kept), pod.strategy());
    }

    /** How much would be left then; see {@link Leftover}. Empty if it does not fit. */
    OptionalLong left(GpuPod pod, List<KeptRoom> kept) {
        SharedNode shared = node;
        if (shared == null || !isEligible(pod)) {
            return OptionalLong.empty();
        }
        Set<List<ContainerAsk>> refused = view(shared).refused();
        // What does not fit into all that is free does not fit into less.
        if (refused.contains(pod.asks())) {
            return OptionalLong.empty();
        }
        OptionalLong left = Leftover.of(pod.asks(), free(kept), pod.strategy());
        if (left.isEmpty() && kept.isEmpty() && refused.size() < MOST_REFUSED) {
            refused.add(pod.asks());
        }
        return left;
    }

    /** What programs of another provider are told of a pod that is placed here. */
    Map<String, String> besides(GpuPod pod, List<ContainerPlacement> placed, Instant now) {
        SharedNode shared = node;
        if (shared == null
                || ContainerPlacement.held(placed).stream()
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
        reserved.remove(podUid);
        view = null;
        boolean sound = Leftover.fits(own, free());
        reserve(podUid, own);
        return sound;
    }

    /** Why a pod does not fit here, as it does not. */
    Reason whyNot(GpuPod pod, boolean isKept) {
        return Reason.of(pod.asks(), all, free(), () -> isKept && left(pod, List.of()).isPresent());
    }

    /**
     * Whether there may be room for a pod when others go that are less important. Of one that is
     * not bound yet nobody says how important it is.
     */
    boolean hasLessImportant(int priority) {
        return node != null && (!reserved.isEmpty() || view(node).lowest() < priority);
    }

    /** What is left of each GPU on which containers may start. */
    private GpuLayout free() {
        return node == null ? new GpuLayout(List.of()) : view(node).occupancy().free();
    }

    private GpuLayout free(List<KeptRoom> kept) {
        return node == null ? new GpuLayout(List.of()) : view(node).occupancy().free(kept);
    }

    private View view(SharedNode shared) {
        View known = view;
        if (known == null) {
            known =
                    new View(
                            new NodeOccupancy(
                                    shared,
                                    holds(shared),
                                    uid -> bound.containsKey(uid) || reserved.containsKey(uid),
                                    leaving),
                            bound.values().stream()
                                    .mapToInt(GpuPod::priority)
                                    .min()
                                    .orElse(Integer.MAX_VALUE),
                            new HashSet<>());
            view = known;
        }
        return known;
    }

    /** See {@link NodeOccupancy#willHave}; false while its victims are there and none goes. */
    boolean willHave(KeptRoom room) {
        List<String> there = room.victims().stream().filter(bound::containsKey).toList();
        return node != null
                && (there.isEmpty() || there.stream().anyMatch(leaving::containsKey))
                && view(node).occupancy().willHave(room);
    }

    /**
     * Who holds what, by UID, apart from this pod.
     *
     * @param only the one GPU where the pod may be; null if it may be on any
     * @param kept for whom room is kept besides
     */
    HeldGpus heldBeside(String podUid, @Nullable String only, List<KeptRoom> kept) {
        SharedNode shared = node;
        if (shared == null) {
            return new HeldGpus(new GpuLayout(List.of()), Map.of());
        }
        Map<String, List<GpuHold>> holds = holds(shared);
        holds.remove(podUid);
        kept.forEach(room -> holds.put(room.podUid(), room.held()));
        return new HeldGpus(
                new GpuLayout(
                        shared.gpus().stream()
                                .filter(gpu -> only == null || gpu.id().equals(only))
                                .toList()),
                holds);
    }

    private Map<String, List<GpuHold>> holds(SharedNode shared) {
        var holds = new HashMap<>(reserved);
        bound.forEach((uid, pod) -> {
            List<ContainerAsk> asks = pod.asks();
            if (SharedNode.isPlaced(asks) || !reserved.containsKey(uid)) {
                holds.put(uid, shared.held(uid, asks));
            }
        });
        holds.putAll(shared.granted());
        return holds;
    }
}
