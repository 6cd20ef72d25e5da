package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.placement.Shortage;
import io.gpusharing.scheduler.gpus.Filtered.Chosen;
import io.gpusharing.scheduler.gpus.Filtered.Nowhere;
import io.gpusharing.sharing.GpuGroup;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The GPUs of all nodes that share theirs, who holds them, and who is about to. Safe for any
 * thread.
 *
 * <p>kube-scheduler asks for the next pod before it has bound the last one, so the GPUs of a pod
 * are taken when its node is chosen, not when it is bound. Whoever is not bound in time loses them.
 */
public final class ClusterGpus {

    private final Duration patience;
    private final int most;
    private final Map<String, NodeGpus> nodes = new HashMap<>();
    private final Reservations reservations = new Reservations();

    /** The node of each bound pod, by UID. */
    private final Map<String, String> bound = new HashMap<>();

    private final RefusedPods refused = new RefusedPods();

    private final ToldPods told = new ToldPods();

    private final KeptRooms kept = new KeptRooms();

    private final GpuGroups groups = new GpuGroups();

    /** How often there may have come to be more room. */
    private long changes;

    /** Names one node for each pod. */
    public ClusterGpus(Duration patience) {
        this(patience, 1);
    }

    /**
     * @param patience how long GPUs are kept for a pod that is not being bound
     * @param most how many nodes are named for a pod; its GPUs are kept on the best alone
     */
    public ClusterGpus(Duration patience, int most) {
        this.patience = patience;
        this.most = most;
    }

    /** A node shares its GPUs, or has changed. */
    public synchronized void describe(SharedNode node) {
        changes++;
        nodes.computeIfAbsent(node.name(), name -> new NodeGpus()).describe(node);
    }

    /** A node shares its GPUs no more. */
    public synchronized void remove(String node) {
        changes++;
        nodes.computeIfPresent(
                node,
                (name, gpus) -> {
                    gpus.describe(null);
                    return gpus.isEmpty() ? null : gpus;
                });
    }

    /** A pod is bound and has not ended; each container is on the GPUs that it names, if any. */
    public synchronized void bind(GpuPod pod, String node) {
        String before = bound.put(pod.uid(), node);
        if (before != null && !before.equals(node)) {
            forget(pod.uid(), before);
        }
        refused.remove(pod.uid());
        told.bound(pod);
        release(pod.uid());
        stopKeeping(pod.uid(), RoomEnd.Taken);
        groups.join(pod);
        if (pod.group() != null && pod.end() != null) {
            // It holds the others of its group no more.
            changes++;
        }
        nodes.computeIfAbsent(node, name -> new NodeGpus()).bind(pod);
    }

    /**
     * A pod that cannot be read is bound and has not ended. It may hold any of the node's GPUs, as
     * far as the device plugin does not say more; of one that could be read before that still
     * holds.
     */
    public synchronized void bindUnread(String podUid, String namespace, String name, String node) {
        if (!node.equals(bound.get(podUid))) {
            bind(GpuPod.unread(podUid, namespace, name), node);
        }
    }

    /** A pod has ended or was deleted. */
    public synchronized void forget(String podUid) {
        refused.remove(podUid);
        told.forget(podUid);
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
        nodes.computeIfPresent(
                node,
                (name, gpus) -> {
                    gpus.forget(podUid);
                    return gpus.isEmpty() ? null : gpus;
                });
    }

    /** What is reserved for it, if anything is. */
    private void release(String podUid) {
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

    /** Room is kept for a pod until it is bound, has gone, or is late. */
    public synchronized void keep(KeptRoom room) {
        changes++;
        kept.put(room);
    }

    /** None is kept for it any more. */
    public synchronized void stopKeeping(String podUid) {
        stopKeeping(podUid, RoomEnd.Dropped);
    }

    private void stopKeeping(String podUid, RoomEnd how) {
        if (kept.remove(podUid, how)) {
            changes++;
        }
    }

    /** For how many pods room is kept. */
    public synchronized int rooms() {
        return kept.size();
    }

    /** For how many it is not any more, since the start. */
    public synchronized long roomsEnded(RoomEnd how) {
        return kept.ended(how);
    }

    /** How many pods are known to wait for room. */
    public synchronized int waiting() {
        return refused.size();
    }

    /** How much of each node that shares its GPUs is in use. */
    public synchronized List<NodeUse> use() {
        return nodes.values().stream().filter(NodeGpus::isShared).map(NodeGpus::use).toList();
    }

    /** Who has the memory of the GPUs of each node that shares them. */
    public synchronized List<NodeMemory> memory() {
        return nodes.values().stream().filter(NodeGpus::isShared).map(NodeGpus::memory).toList();
    }

    /**
     * The same of one node.
     *
     * @return empty if it shares no GPUs
     */
    public synchronized Optional<NodeMemory> memory(String node) {
        return Optional.ofNullable(nodes.get(node))
                .filter(NodeGpus::isShared)
                .map(NodeGpus::memory);
    }

    /** Where what is written about GPUs does not agree. */
    public synchronized List<Drift> drift() {
        return nodes.values().stream()
                .filter(NodeGpus::isShared)
                .flatMap(node -> node.drift().stream())
                .toList();
    }

    /**
     * Whether room is kept for a pod that it will have as soon as those are gone of whom the
     * cluster is already rid, or will be: nobody else has to go for it. Until one of them is seen
     * to go nothing says that whoever wanted to end them has heard of it.
     */
    public synchronized boolean awaitsRoom(String podUid, Instant now) {
        expire(now);
        return kept.of(podUid)
                .filter(room -> {
                    NodeGpus node = nodes.get(room.node());
                    return node != null && node.willHave(room);
                })
                .isPresent();
    }

    /**
     * UIDs of pods that have a GPU, or are about to have one, and with which a pod is to share it.
     */
    public synchronized Set<String> companions(String podUid, @Nullable GpuGroup group) {
        return Set.copyOf(groups.others(podUid, group));
    }

    /** The same pod, where it is to share a GPU on that GPU alone. */
    private GpuPod beside(GpuPod pod) {
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
        return groups.waiting(group).stream()
                .flatMap(uid -> kept.of(uid).stream())
                .flatMap(room -> room.held().stream())
                .map(GpuHold::gpu)
                .findFirst()
                .orElse(null);
    }

    /** What is kept from a pod for others, by node. */
    private Map<String, List<KeptRoom>> keptFrom(String podUid, int priority) {
        return kept.against(
                podUid, priority, uid -> bound.containsKey(uid) || reservations.has(uid));
    }

    /**
     * Chooses the best nodes by the pod's strategy, and reserves its GPUs on the first, in place of
     * those that were reserved before. A pod that may be bound at this moment keeps what it has.
     *
     * @param candidates nodes that fit otherwise
     */
    public synchronized Filtered filter(GpuPod asked, Collection<String> candidates, Instant now) {
        expire(now);
        Optional<String> claimedOn = reservations.claimedOn(asked.uid());
        if (claimedOn.isPresent()) {
            return WhyNot.only(claimedOn.get(), candidates);
        }
        String boundTo = bound.get(asked.uid());
        if (boundTo != null) {
            return WhyNot.only(boundTo, candidates);
        }
        release(asked.uid());
        GpuPod pod = beside(asked);
        Map<String, List<KeptRoom>> others = keptFrom(pod.uid(), pod.priority());
        List<String> best = best(pod, candidates, others);
        if (!best.isEmpty()
                && reserve(
                                pod,
                                best.getFirst(),
                                others.getOrDefault(best.getFirst(), List.of()),
                                false,
                                now.plus(patience),
                                now)
                        .isPresent()) {
            refused.remove(pod.uid());
            return new Chosen(best.getFirst(), best.subList(1, best.size()));
        }
        String awaited = kept.of(pod.uid()).map(KeptRoom::node).orElse("");
        Nowhere nowhere = WhyNot.nowhere(pod, candidates, nodes, others.keySet(), awaited);
        refused.put(asked);
        groups.await(asked);
        told.refused(pod, shortage(pod, nowhere, candidates), now);
        return nowhere;
    }

    /** The few best nodes; of equals who was named first comes first. */
    private List<String> best(
            GpuPod pod, Collection<String> candidates, Map<String, List<KeptRoom>> kept) {
        var best = new ArrayList<String>();
        var lefts = new ArrayList<Long>();
        for (String name : candidates) {
            OptionalLong left = left(pod, name, kept);
            if (left.isEmpty()) {
                continue;
            }
            int place = best.size();
            while (place > 0 && pod.strategy().prefers(left.getAsLong(), lefts.get(place - 1))) {
                place--;
            }
            if (place < most) {
                best.add(place, name);
                lefts.add(place, left.getAsLong());
            }
            if (best.size() > most) {
                best.removeLast();
                lefts.removeLast();
            }
        }
        return best;
    }

    private OptionalLong left(GpuPod pod, String name, Map<String, List<KeptRoom>> kept) {
        NodeGpus node = nodes.get(name);
        return node == null
                ? OptionalLong.empty()
                : node.left(pod, kept.getOrDefault(name, List.of()));
    }

    /** Whether GPUs of this node are reserved for a pod. */
    public synchronized boolean isReserved(String podUid, String node) {
        return reservations.on(podUid, node).isPresent();
    }

    private Shortage shortage(GpuPod pod, Nowhere nowhere, Collection<String> candidates) {
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

    /**
     * The GPUs that are reserved for a pod on a node, to bind it with them. From now on they are
     * kept until {@link #bind}, {@link #forget}, {@link #cancel} or, some time after it, {@link
     * #doubt}.
     *
     * @return empty if the pod has no reservation there, or may not have these GPUs any more
     */
    public synchronized Optional<Placement> claim(String podUid, String node, Instant now) {
        expire(now);
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

    /**
     * The same for a pod without a reservation there: of what is free now.
     *
     * @return empty if it does not fit, or may be bound to another node at this moment
     */
    public synchronized Optional<Placement> claim(GpuPod pod, String node, Instant now) {
        expire(now);
        if (mayBeBound(pod.uid())) {
            return Optional.empty();
        }
        release(pod.uid());
        List<KeptRoom> others = keptFrom(pod.uid(), pod.priority()).getOrDefault(node, List.of());
        return reserve(beside(pod), node, others, true, null, now);
    }

    /** Whether it is, or a request to do it may be under way. */
    private boolean mayBeBound(String podUid) {
        return bound.containsKey(podUid) || reservations.claimedOn(podUid).isPresent();
    }

    /** It was not bound, and will not be by that request. */
    public synchronized void cancel(String podUid) {
        release(podUid);
    }

    /** Whether it was bound is not known; its GPUs are kept for a while. */
    public synchronized void doubt(String podUid, Instant now) {
        reservations.doubt(podUid, now.plus(patience));
    }

    /**
     * Who holds which GPUs, by node, apart from a pod that looks for room there; and for whom they
     * are kept that it may not push aside.
     *
     * @param group with whom the pod is to share a GPU: where any of them has one no other GPU is
     *     named; null if with nobody
     * @return empty if the pod is bound, or may be at this moment
     */
    public synchronized Map<String, HeldGpus> heldBeside(
            String podUid,
            @Nullable GpuGroup group,
            int priority,
            Collection<String> candidates,
            Instant now) {
        expire(now);
        String only = sharedGpu(podUid, group);
        Map<String, List<KeptRoom>> others = keptFrom(podUid, priority);
        var held = new HashMap<String, HeldGpus>();
        if (!mayBeBound(podUid)) {
            for (String name : candidates) {
                NodeGpus node = nodes.get(name);
                if (node != null && node.isUsable()) {
                    held.put(
                            name,
                            node.heldBeside(podUid, only, others.getOrDefault(name, List.of())));
                }
            }
        }
        return held;
    }

    /** Nobody could say who is to go for a pod: it is to be tried again soon. */
    public synchronized void unanswered(GpuPod pod) {
        refused.unanswered(pod);
    }

    /**
     * Pods that were refused for want of room, and for which there is room by now: so many at most,
     * and only of the next few kinds of pods; and after them those for which nobody could say
     * whether there is.
     */
    public synchronized List<GpuPod> wakeable(int most, Instant now) {
        expire(now);
        return refused.wakeable(
                most, changes, this::beside, pod -> kept.of(pod.uid()).isPresent(), this::hasRoom);
    }

    private boolean hasRoom(GpuPod pod) {
        Map<String, List<KeptRoom>> others = keptFrom(pod.uid(), pod.priority());
        return nodes.keySet().stream().anyMatch(name -> left(pod, name, others).isPresent());
    }

    /** What pods are to be told that wait, or that waited and are bound: of so many at most. */
    public synchronized List<PodNews> news(int most, Instant now) {
        for (String uid : told.forgotten(now)) {
            refused.remove(uid);
            told.forget(uid);
        }
        return told.due(most, now);
    }

    /** A pod was told. */
    public synchronized void told(PodNews news, Instant now) {
        told.told(news, bound.containsKey(news.pod().uid()), now);
    }

    /**
     * What is written on a bound pod: why it waits, or anything else. Maybe another replica has
     * told it why, and has ended since.
     */
    public synchronized void written(GpuPod pod, boolean waits, Instant now) {
        told.written(pod, waits, now);
    }

    /** It could not be told; it will be tried again after the others. */
    public synchronized void failed(PodNews news, Instant now) {
        told.failed(news, now);
    }

    /** Nobody needs to be told again that there is room for it, until it is refused again. */
    public synchronized void woken(String podUid, Instant now) {
        refused.remove(podUid);
        told.woken(podUid, now);
    }

    /** It could not be told; it will be tried again after the others. */
    public synchronized void notWoken(String podUid) {
        refused.putOff(podUid);
    }

    private void expire(Instant now) {
        reservations.late(now).forEach(this::release);
        if (kept.expire(now)) {
            changes++;
        }
    }
}
