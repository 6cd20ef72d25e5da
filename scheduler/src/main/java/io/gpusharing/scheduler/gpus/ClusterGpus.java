package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.scheduler.gpus.Filtered.Chosen;
import io.gpusharing.scheduler.gpus.Filtered.Nowhere;
import io.gpusharing.sharing.GpuGroup;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The GPUs of all nodes that share theirs, who holds them, and who is about to. Safe for any
 * thread.
 *
 * <p>kube-scheduler asks for the next pod before it has bound the last one, so the GPUs of a pod
 * are taken when its node is chosen, not when it is bound. Whoever is not bound in time loses them.
 *
 * <p>One lock guards the book of placements and the pods that wait together: a pod waits because of
 * the room that was seen, and a binding ends its reservation, its kept room and its waiting. With a
 * lock for each, two pods could be given one GPU, or one could wait beside room.
 */
public final class ClusterGpus {

    private final Duration patience;
    private final int most;
    private final PlacementBook book = new PlacementBook();
    private final RefusedPods refused = new RefusedPods();
    private final ToldPods told = new ToldPods();

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
        book.describe(node);
    }

    /** A node shares its GPUs no more. */
    public synchronized void remove(String node) {
        book.remove(node);
    }

    /** A pod is bound and has not ended; each container is on the GPUs that it names, if any. */
    public synchronized void bind(GpuPod pod, String node) {
        refused.remove(pod.uid());
        told.bound(pod);
        book.bind(pod, node);
    }

    /**
     * A pod that cannot be read is bound and has not ended. It may hold any of the node's GPUs, as
     * far as the device plugin does not say more; of one that could be read before that still
     * holds.
     */
    public synchronized void bindUnread(String podUid, String namespace, String name, String node) {
        if (!node.equals(book.boundTo(podUid))) {
            bind(GpuPod.unread(podUid, namespace, name), node);
        }
    }

    /** A pod has ended or was deleted. */
    public synchronized void forget(String podUid) {
        refused.remove(podUid);
        told.forget(podUid);
        book.forget(podUid);
    }

    /** Room is kept for a pod until it is bound, has gone, or is late. */
    public synchronized void keep(KeptRoom room) {
        book.keep(room);
    }

    /** None is kept for it any more. */
    public synchronized void stopKeeping(String podUid) {
        book.stopKeeping(podUid, RoomEnd.Dropped);
    }

    /** For how many pods room is kept. */
    public synchronized int rooms() {
        return book.kept().size();
    }

    /** For how many it is not any more, since the start. */
    public synchronized long roomsEnded(RoomEnd how) {
        return book.kept().ended(how);
    }

    /** How many pods are known to wait for room. */
    public synchronized int waiting() {
        return refused.size();
    }

    /** How much of each node that shares its GPUs is in use. */
    public synchronized List<NodeUse> use() {
        return book.nodes().shared().map(NodeGpus::use).toList();
    }

    /** Who has the memory of the GPUs of each node that shares them. */
    public synchronized List<NodeMemory> memory() {
        return book.nodes().shared().map(NodeGpus::memory).toList();
    }

    /**
     * The same of one node.
     *
     * @return empty if it shares no GPUs
     */
    public synchronized Optional<NodeMemory> memory(String node) {
        return Optional.ofNullable(book.nodes().get(node))
                .filter(NodeGpus::isShared)
                .map(NodeGpus::memory);
    }

    /** Where what is written about GPUs does not agree. */
    public synchronized List<Drift> drift() {
        return book.nodes().shared().flatMap(node -> node.drift().stream()).toList();
    }

    /**
     * Whether room is kept for a pod that it will have as soon as those are gone of whom the
     * cluster is already rid, or will be: nobody else has to go for it. Until one of them is seen
     * to go nothing says that whoever wanted to end them has heard of it.
     */
    public synchronized boolean awaitsRoom(String podUid, Instant now) {
        book.expire(now);
        return book.awaitsRoom(podUid);
    }

    /**
     * UIDs of pods that have a GPU, or are about to have one, and with which a pod is to share it.
     */
    public synchronized Set<String> companions(String podUid, @Nullable GpuGroup group) {
        return book.companions(podUid, group);
    }

    /**
     * Chooses the best nodes by the pod's strategy, and reserves its GPUs on the first, in place of
     * those that were reserved before. A pod that may be bound at this moment keeps what it has.
     *
     * @param candidates nodes that fit otherwise
     */
    public synchronized Filtered filter(GpuPod asked, Collection<String> candidates, Instant now) {
        book.expire(now);
        Optional<String> placed = book.mayBeOn(asked.uid());
        if (placed.isPresent()) {
            return WhyNot.only(placed.get(), candidates);
        }
        book.release(asked.uid());
        GpuPod pod = book.beside(asked);
        Filtered answer = book.choose(pod, candidates, most, now.plus(patience), now);
        switch (answer) {
            case Chosen _ -> refused.remove(pod.uid());
            case Nowhere nowhere -> {
                refused.put(asked);
                told.refused(pod, WhyNot.shortage(pod, nowhere, candidates, book.nodes()), now);
            }
        }
        return answer;
    }

    /** Whether GPUs of this node are reserved for a pod. */
    public synchronized boolean isReserved(String podUid, String node) {
        return book.reserved(podUid, node).isPresent();
    }

    /**
     * The GPUs that are reserved for a pod on a node, to bind it with them. From now on they are
     * kept until {@link #bind}, {@link #forget}, {@link #cancel} or, some time after it, {@link
     * #doubt}.
     *
     * @return empty if the pod has no reservation there, or may not have these GPUs any more
     */
    public synchronized Optional<Placement> claim(String podUid, String node, Instant now) {
        book.expire(now);
        return book.claim(podUid, node);
    }

    /**
     * The same for a pod without a reservation there: of what is free now.
     *
     * @return empty if it does not fit, or may be bound to another node at this moment
     */
    public synchronized Optional<Placement> claim(GpuPod pod, String node, Instant now) {
        book.expire(now);
        if (book.mayBeOn(pod.uid()).isPresent()) {
            return Optional.empty();
        }
        book.release(pod.uid());
        return book.claim(pod, node, now);
    }

    /** It was not bound, and will not be by that request. */
    public synchronized void cancel(String podUid) {
        book.release(podUid);
    }

    /** Whether it was bound is not known; its GPUs are kept for a while. */
    public synchronized void doubt(String podUid, Instant now) {
        book.doubt(podUid, now.plus(patience));
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
        book.expire(now);
        return book.mayBeOn(podUid).isPresent()
                ? Map.of()
                : book.heldBeside(podUid, group, priority, candidates);
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
        book.expire(now);
        return refused.wakeable(
                most,
                book.changes(),
                book::beside,
                pod -> book.kept().of(pod.uid()).isPresent(),
                book::hasRoom);
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
        told.told(news, book.boundTo(news.pod().uid()) != null, now);
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
}
