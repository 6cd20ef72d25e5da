package io.gpusharing.scheduler.picture.reading;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Claimed;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.HalfPlaced;
import io.gpusharing.scheduler.picture.Reach;
import io.gpusharing.scheduler.picture.reading.KnownHolder.HolderReader;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.sharing.GpuGroup;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The pods with our label: each is read once, when it changes. One that cannot be read fills the
 * node that it is bound to; where it waits, it stops nobody and nobody is evicted for it.
 */
final class KnownPods implements ObjectInformer.Handler<Pod> {

    private final Map<String, KnownPod> byUid = new ConcurrentHashMap<>();

    private final RequestGrammars grammars;
    private final PodReader pods;
    private final WaiterReader waiters;
    private final HolderReader holders;
    private final Gangs gangs;
    private final Interned interned = new Interned();

    /**
     * @param gangs which pods go together
     * @param reach which nodes the schedulers of waiting pods can use
     * @param overBudgetPriority of the class that pods get when they are admitted over budget
     */
    KnownPods(
            RequestGrammars grammars,
            CapacityReader capacity,
            Gangs gangs,
            SchedulerReach reach,
            int overBudgetPriority) {
        this.grammars = grammars;
        this.pods =
                new PodReader(grammars::reads, pod -> Claimed.NONE, interned::one, interned::one);
        this.waiters = new WaiterReader(capacity, reach);
        this.holders = new HolderReader(capacity, gangs, overBudgetPriority);
        this.gangs = gangs;
    }

    /** All of them, as they are known now. */
    Collection<KnownPod> all() {
        return Collections.unmodifiableCollection(byUid.values());
    }

    /**
     * Whether there is one for which its scheduler has found no place, nor makes any, since then or
     * for longer.
     */
    boolean anyWaitsSince(Instant then) {
        return byUid.values().stream()
                .map(KnownPod::waiter)
                .anyMatch(it -> it != null && isStuck(it) && !it.since().isAfter(then));
    }

    /** Those of which a scheduler that goes by sums has found no place since then or for longer. */
    List<Waiter> waitingBySums(Instant then) {
        return byUid.values().stream()
                .filter(pod -> pod.hasWaitedSince(then))
                .flatMap(pod -> Stream.ofNullable(pod.waiter()))
                .filter(it -> it.reach() == Reach.BySums)
                .toList();
    }

    /**
     * Gangs of which some pods hold GPUs while another one has found no place since then or for
     * longer.
     */
    List<HalfPlaced> halfPlaced(Instant then) {
        var byGang = new TreeMap<String, List<KnownPod>>();
        for (KnownPod pod : byUid.values()) {
            if (pod.gang() != null) {
                byGang.computeIfAbsent(pod.gang(), gang -> new ArrayList<>()).add(pod);
            }
        }
        byGang.values()
                .removeIf(gang ->
                        gang.stream().noneMatch(KnownPod::isPlaced)
                                || gang.stream().noneMatch(pod -> pod.hasWaitedSince(then)));
        return byGang.entrySet().stream()
                .map(it -> halfPlaced(it.getKey(), it.getValue()))
                .toList();
    }

    private static HalfPlaced halfPlaced(String gang, List<KnownPod> pods) {
        List<Waiter> waiting =
                pods.stream()
                        .flatMap(pod -> Stream.ofNullable(pod.waiter()))
                        .sorted(
                                Comparator.comparing(Waiter::since)
                                        .thenComparing(waiter -> waiter.pod().uid()))
                        .toList();
        return new HalfPlaced(
                gang,
                (int) pods.stream().filter(KnownPod::isPlaced).count(),
                waiting.size(),
                waiting.getFirst());
    }

    private static boolean isStuck(Waiter waiter) {
        return waiter.nominatedNode() == null && !waiter.gated();
    }

    @Override
    public void onUpdate(Pod pod) {
        String uid = pod.getMetadata().getUid();
        try {
            put(uid, isMetered(pod) ? read(pod) : Optional.empty());
        } catch (RuntimeException | StackOverflowError e) {
            put(uid, HolderReader.filling(pod).map(it -> new KnownPod(null, it, null, null)));
            throw e;
        }
    }

    private void put(String uid, Optional<KnownPod> pod) {
        pod.ifPresentOrElse(it -> byUid.put(uid, it), () -> byUid.remove(uid));
    }

    @Override
    public void onDelete(Pod pod) {
        byUid.remove(pod.getMetadata().getUid());
    }

    private static boolean isMetered(Pod pod) {
        Map<String, String> labels = pod.getMetadata().getLabels();
        return labels != null && "true".equals(labels.get(Names.METERED_LABEL));
    }

    /** Empty for one that neither waits nor holds anything. */
    private Optional<KnownPod> read(Pod pod) {
        PodFacts facts = pods.read(pod);
        // Devices of claims are neither preempted nor made room for.
        if (!pod.getSpec().getResourceClaims().isEmpty()
                && grammars.grammarOf(facts.request()).isEmpty()) {
            return Optional.empty();
        }
        Waiter waiter = WaiterReader.waits(pod, facts) ? waiters.read(pod, facts) : null;
        KnownHolder holder = HolderReader.holds(facts) ? holders.read(pod, facts) : null;
        return waiter == null && holder == null
                ? Optional.empty()
                : Optional.of(
                        new KnownPod(
                                waiter,
                                holder,
                                GroupGpus.group(pod, waiter, holder),
                                gangs.startsTogether(pod) ? interned.one(gangs.of(pod)) : null));
    }

    /**
     * What any pod of a node holds there, with our label or without.
     *
     * @return empty if it has ended
     */
    Optional<KnownHolder> holder(Pod pod) {
        PodFacts facts = pods.read(pod);
        return HolderReader.holds(facts) ? Optional.of(holders.read(pod, facts)) : Optional.empty();
    }

    /**
     * What is kept of a pod with our label.
     *
     * @param waiter null if it does not wait
     * @param holder null if it holds nothing, and no room is being made for it
     * @param group with which it shares a GPU by wish; null if with none
     * @param gang without which it may be of no use; null if it works alone
     */
    record KnownPod(
            @Nullable Waiter waiter,
            @Nullable KnownHolder holder,
            @Nullable GpuGroup group,
            @Nullable String gang) {

        /** Whether it holds GPUs, and will go on doing so. */
        boolean isPlaced() {
            return holder != null && holder.isBound() && holder.end() == null;
        }

        boolean hasWaitedSince(Instant then) {
            return waiter != null && !waiter.since().isAfter(then);
        }
    }
}
