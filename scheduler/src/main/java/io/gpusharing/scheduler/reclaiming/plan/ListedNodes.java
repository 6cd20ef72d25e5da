package io.gpusharing.scheduler.reclaiming.plan;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.reducing;
import static java.util.stream.Collectors.toSet;

import io.gpusharing.placement.PodHold;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.sharing.Amounts;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What pods without GPUs took of the nodes whose pods were listed lately. A node that has no memory
 * left for a waiter need not be listed again each second to find that out, nor all nodes one after
 * the other where none has. {@link RoundPicture} has nobody evicted by it. For one thread.
 */
public final class ListedNodes {

    /**
     * A waiter may be left alone for so long though a node has room by now; for longer where
     * thousands of nodes are remembered.
     */
    static final Duration REMEMBERED = Duration.ofMinutes(3);

    private final Map<String, Listed> byName = new HashMap<>();

    /** Waiters for whom somebody would go by what is remembered, since when that is looked into. */
    private final Map<String, Instant> doubted = new HashMap<>();

    private Instant forgotten = Instant.EPOCH;

    private record Listed(Instant at, List<Holder> others) {}

    /** Whom kube-scheduler may preempt depends on the priority, and who is leaving goes anyway. */
    private record Kind(int priority, boolean leaving) {}

    /**
     * @param pods all that the node has now and no watch follows
     */
    void remember(String node, List<Holder> pods, Instant now) {
        Map<Kind, Amounts> sums =
                pods.stream()
                        .filter(pod -> !pod.hasGpu())
                        .collect(
                                groupingBy(
                                        pod -> new Kind(pod.priority(), pod.leaving()),
                                        mapping(
                                                pod -> pod.hold().requests(),
                                                reducing(Amounts.NONE, Amounts::plus))));
        Stream<Holder> others =
                Stream.concat(
                        pods.stream().filter(Holder::hasGpu),
                        sums.entrySet().stream()
                                .map(it -> others(node, it.getKey(), it.getValue(), now)));
        byName.put(node, new Listed(now, others.toList()));
    }

    private static Holder others(String node, Kind of, Amounts requests, Instant now) {
        var nobody = new PodRef("", "", "others");
        return new Holder(
                nobody,
                node,
                now,
                of.priority(),
                0,
                new PodHold(requests, List.of(), List.of()),
                nobody.uid(),
                of.leaving(),
                "it has no GPU",
                Set.of(),
                null,
                Duration.ZERO,
                false);
    }

    /**
     * Forgets waiters that are gone, and what is too old, a few nodes at a time: were it all at
     * once, a waiter that looks at thousands of nodes might find the first ones forgotten whenever
     * it comes to the last.
     */
    void forget(ClusterSnapshot snapshot) {
        Instant now = snapshot.now();
        // After a while in which nobody looked, and after the clock was set back, all is too old.
        if (now.isBefore(forgotten) || now.isAfter(forgotten.plus(REMEMBERED))) {
            clear();
        }
        forgotten = now;
        doubted.keySet()
                .retainAll(snapshot.waiters().stream().map(it -> it.pod().uid()).collect(toSet()));
        byName.entrySet().stream()
                .filter(it -> !now.isBefore(it.getValue().at().plus(REMEMBERED)))
                .sorted(Comparator.comparing(it -> it.getValue().at()))
                .limit(RoundPicture.MOST / 2)
                .map(Map.Entry::getKey)
                .toList()
                .forEach(byName::remove);
    }

    /** Forgets everything. */
    public void clear() {
        byName.clear();
        doubted.clear();
        forgotten = Instant.EPOCH;
    }

    /** Since when it is looked into whether somebody has to go for a waiter. */
    Instant doubtedSince(String waiter, Instant now) {
        return doubted.computeIfAbsent(waiter, it -> now);
    }

    /** It has been found out. */
    void believe(String waiter) {
        doubted.remove(waiter);
    }

    /** Whether anything is remembered of nodes whose pods a snapshot does not know. */
    boolean addsTo(ClusterSnapshot snapshot) {
        return !snapshot.completeNodes().containsAll(byName.keySet());
    }

    /** A snapshot with what is remembered of nodes whose pods it does not know. */
    ClusterSnapshot completing(ClusterSnapshot snapshot) {
        return completing(snapshot, Instant.EPOCH);
    }

    /** The same with what was listed since then. */
    ClusterSnapshot completing(ClusterSnapshot snapshot, Instant since) {
        return addsTo(snapshot)
                ? snapshot.beside(
                        byName.entrySet().stream()
                                .filter(it -> !snapshot.completeNodes().contains(it.getKey()))
                                .map(Map.Entry::getValue)
                                .filter(it -> !it.at().isBefore(since))
                                .flatMap(it -> it.others().stream())
                                .toList())
                : snapshot;
    }
}
