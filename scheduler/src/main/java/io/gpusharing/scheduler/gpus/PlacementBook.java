package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.scheduler.gpus.Filtered.Chosen;
import io.gpusharing.sharing.GpuGroup;
import io.gpusharing.wire.ContainerPlacement;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The book of placements: which pods hold GPUs of which node, for which pods GPUs are reserved
 * until they are bound, and for which pods room is kept. Belongs to one thread at a time.
 */
final class PlacementBook {

    private final NodeTable nodes = new NodeTable();
    private final Reservations reservations = new Reservations();

    /** The node of each bound pod, by UID. */
    private final Map<String, String> bound = new HashMap<>();

    private final KeptRooms kept = new KeptRooms();
    private final GpuGroups groups = new GpuGroups();

    /** How often there may have come to be more room. */
    private long changes;

    long changes() {
        return changes;
    }

    NodeTable nodes() {
        return nodes;
    }

    void describe(SharedNode node) {
        changes++;
        nodes.describe(node);
    }

    void remove(String node) {
        changes++;
        nodes.remove(node);
    }

    /** A pod is bound: whatever was reserved or kept for it has served its purpose. */
    void bind(GpuPod pod, String node) {
        String before = bound.put(pod.uid(), node);
        if (before != null && !before.equals(node)) {
            forget(pod.uid(), before);
        }
        release(pod.uid());
        stopKeeping(pod.uid(), RoomEnd.Taken);
        groups.join(pod);
        if (pod.group() != null && pod.end() != null) {
            // It holds the others of its group no more.
            changes++;
        }
        nodes.bind(pod, node);
    }

    /** The node of a bound pod; null if it is not bound. */
    @Nullable String boundTo(String podUid) {
        return bound.get(podUid);
    }

    /** The node of a pod that is bound, or that a request may bind at this moment. */
    Optional<String> mayBeOn(String podUid) {
        return reservations.claimedOn(podUid).or(() -> Optional.ofNullable(bound.get(podUid)));
    }

    /** A pod has ended or was deleted. */
    void forget(String podUid) {
        release(podUid);
        stopKeeping(podUid, RoomEnd.Dropped);
        String node = bound.remove(podUid);
        groups.remove(podUid);
        if (node != null) {
            forget(podUid, node);
        }
    }

    private void forget(String podUid, String node) {
        changes++;
        nodes.forget(podUid, node);
    }

    /** What is reserved for it, if anything is. */
    void release(String podUid) {
        reservations
                .remove(podUid)
                .ifPresent(placement -> {
                    changes++;
                    groups.remove(podUid);
                    NodeGpus gpus = nodes.get(placement.node());
                    if (gpus != null) {
                        gpus.release(podUid);
                    }
                });
    }

    /** Keeps room for a pod, in place of what was kept for it before. */
    void keep(KeptRoom room) {
        changes++;
        kept.put(room);
    }

    void stopKeeping(String podUid, RoomEnd how) {
        if (kept.remove(podUid, how)) {
            changes++;
        }
    }

    /** The room that is kept for all pods. */
    KeptRooms kept() {
        return kept;
    }

    /** Reservations and rooms whose time is over are given to others. */
    void expire(Instant now) {
        reservations.late(now).forEach(this::release);
        if (kept.expire(now)) {
            changes++;
        }
    }

    /**
     * UIDs of pods that have a GPU, or are about to have one, and with which a pod is to share it.
     */
    Set<String> companions(String podUid, @Nullable GpuGroup group) {
        return Set.copyOf(groups.others(podUid, group));
    }

    /** The same pod, where it is to share a GPU on that GPU alone. */
    GpuPod beside(GpuPod pod) {
        String gpu = sharedGpu(pod.uid(), pod.group());
        return gpu == null ? pod : pod.only(gpu);
    }

    /**
     * The GPU of those with which a pod is to share one, which is that of who came first; where
     * none of them has one yet, that on which room is being made for one of them, maybe for itself.
     * Null if there is neither.
     */
    private @Nullable String sharedGpu(String podUid, @Nullable GpuGroup group) {
        if (group == null) {
            return null;
        }
        for (String uid : groups.others(podUid, group)) {
            NodeGpus node = nodes.get(bound.getOrDefault(uid, reservations.node(uid)));
            String gpu = node == null ? null : node.gpuOf(uid);
            if (gpu != null) {
                return gpu;
            }
        }
        return kept.firstGpu(groups.waiting(group));
    }

    /** What is kept from a pod for others, by node. */
    private Map<String, List<KeptRoom>> keptFrom(String podUid, int priority) {
        return kept.against(
                podUid, priority, uid -> bound.containsKey(uid) || reservations.has(uid));
    }

    private OptionalLong left(GpuPod pod, String name, Map<String, List<KeptRoom>> kept) {
        NodeGpus node = nodes.get(name);
        return node == null
                ? OptionalLong.empty()
                : node.left(pod, kept.getOrDefault(name, List.of()));
    }

    private Optional<Placement> reserve(
            GpuPod pod,
            String node,
            List<KeptRoom> others,
            boolean claimed,
            @Nullable Instant until,
            Instant now) {
        NodeGpus gpus = nodes.get(node);
        Optional<List<ContainerPlacement>> containers =
                gpus == null ? Optional.empty() : gpus.place(pod, others);
        if (gpus == null || containers.isEmpty()) {
            return Optional.empty();
        }
        var placement =
                new Placement(node, containers.get(), gpus.besides(pod, containers.get(), now));
        gpus.reserve(pod.uid(), placement.held());
        groups.join(pod);
        reservations.put(pod.uid(), placement, claimed, until);
        return Optional.of(placement);
    }

    boolean hasRoom(GpuPod pod) {
        Map<String, List<KeptRoom>> others = keptFrom(pod.uid(), pod.priority());
        return nodes.names().stream().anyMatch(name -> left(pod, name, others).isPresent());
    }

    /**
     * Chooses the best nodes by the pod's strategy, and reserves its GPUs on the first. Where there
     * is no room the pod's group knows that it waits.
     *
     * @param most how many nodes are named at most
     * @param until when the reservation ends
     */
    Filtered choose(
            GpuPod pod, Collection<String> candidates, int most, Instant until, Instant now) {
        Map<String, List<KeptRoom>> others = keptFrom(pod.uid(), pod.priority());
        List<String> best =
                BestNodes.of(candidates, name -> left(pod, name, others), pod.strategy(), most);
        if (!best.isEmpty()) {
            String first = best.getFirst();
            if (reserve(pod, first, others.getOrDefault(first, List.of()), false, until, now)
                    .isPresent()) {
                return new Chosen(first, best.subList(1, best.size()));
            }
        }
        groups.await(pod);
        String awaited = kept.of(pod.uid()).map(KeptRoom::node).orElse("");
        return WhyNot.nowhere(pod, candidates, nodes, others.keySet(), awaited);
    }

    /** What is reserved for a pod on this node. */
    Optional<Placement> reserved(String podUid, String node) {
        return reservations.on(podUid, node);
    }

    /**
     * Keeps the GPUs that are reserved for a pod on a node, for the request that binds it.
     *
     * @return empty if nothing is reserved there, or if the pod may not have these GPUs any more
     */
    Optional<Placement> claim(String podUid, String node) {
        Optional<Placement> reserved = reservations.on(podUid, node);
        if (reserved.isEmpty()) {
            return Optional.empty();
        }
        NodeGpus gpus = nodes.get(node);
        String shared = sharedGpu(podUid, groups.of(podUid));
        if (gpus == null
                || !gpus.isSound(podUid)
                || (shared != null && !shared.equals(gpus.gpuOf(podUid)))) {
            release(podUid);
            return Optional.empty();
        }
        reservations.put(podUid, reserved.get(), true, null);
        return reserved;
    }

    /** Takes GPUs of what is free on a node, for the request that binds a pod. */
    Optional<Placement> claim(GpuPod pod, String node, Instant now) {
        List<KeptRoom> others = keptFrom(pod.uid(), pod.priority()).getOrDefault(node, List.of());
        return reserve(beside(pod), node, others, true, null, now);
    }

    /** Whether a pod was bound by the request is not known. */
    void doubt(String podUid, Instant until) {
        reservations.doubt(podUid, until);
    }

    /** Whether a pod will have the room that is kept for it without anybody's going for it. */
    boolean awaitsRoom(String podUid) {
        return kept.of(podUid)
                .filter(room -> {
                    NodeGpus node = nodes.get(room.node());
                    return node != null && node.willHave(room);
                })
                .isPresent();
    }

    /** Who holds which GPUs of these nodes, by node, apart from a pod that looks for room there. */
    Map<String, HeldGpus> heldBeside(
            String podUid, @Nullable GpuGroup group, int priority, Collection<String> candidates) {
        String only = sharedGpu(podUid, group);
        Map<String, List<KeptRoom>> others = keptFrom(podUid, priority);
        var held = new HashMap<String, HeldGpus>();
        for (String name : candidates) {
            NodeGpus node = nodes.get(name);
            if (node != null && node.isUsable()) {
                held.put(name, node.heldBeside(podUid, only, others.getOrDefault(name, List.of())));
            }
        }
        return held;
    }
}
