package io.gpusharing.scheduler.reclaiming.plan;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.reducing;

import io.gpusharing.placement.PodHold;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.sharing.Amounts;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What pods without GPUs took of the nodes whose pods were listed lately. Nobody is evicted by it:
 * a decision rests on pods that were listed for it. But a node that has no memory left for a waiter
 * need not be listed again each second to find that out, nor all nodes one after the other where
 * none has. For one thread.
 */
public final class ListedNodes {

    /** Long enough to look at thousands of nodes, some of them in each round. */
    static final Duration REMEMBERED = Duration.ofMinutes(3);

    private final Map<String, Listed> byName = new HashMap<>();

    private record Listed(Instant at, List<Holder> others) {}

    /** Whom kube-scheduler may preempt depends on the priority, and who is leaving goes anyway. */
    private record Kind(int priority, boolean leaving) {}

    /**
     * @param pods all that the node has now
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
        byName.put(
                node,
                new Listed(
                        now,
                        sums.entrySet().stream()
                                .map(it -> others(node, it.getKey(), it.getValue(), now))
                                .toList()));
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
                Duration.ZERO);
    }

    /** The same with what is remembered of nodes, none of which is complete by that. */
    ClusterSnapshot completing(ClusterSnapshot snapshot) {
        byName.values().removeIf(it -> !snapshot.now().isBefore(it.at().plus(REMEMBERED)));
        return snapshot.beside(
                byName.values().stream().flatMap(it -> it.others().stream()).toList());
    }
}
