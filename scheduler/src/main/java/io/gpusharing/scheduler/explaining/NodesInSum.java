package io.gpusharing.scheduler.explaining;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toSet;

import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.NodeOccupancy;
import io.gpusharing.placement.Reason;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.placement.Shortage;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.wire.Explanation.Nodes;
import io.gpusharing.wire.Explanation.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What all nodes of the cluster together say of one pod: whether it fits, and what is short.
 *
 * @param all every node
 * @param candidates those that fit otherwise than by GPUs, most hope first
 */
record NodesInSum(Subject subject, List<Judgement> all, List<Judgement> candidates) {

    /** Judges each node of a cluster. */
    static NodesInSum of(Subject subject, Picture picture) {
        Waiter waiter = subject.waiter();
        Map<String, List<KeptRoom>> kept = picture.keptFrom(waiter.pod().uid(), waiter.priority());
        var all = new ArrayList<Judgement>();
        for (Picture.State node : picture.nodes()) {
            all.add(Judgement.of(subject, node, kept.getOrDefault(node.name(), List.of())));
        }
        return new NodesInSum(
                subject,
                all,
                all.stream()
                        .filter(it -> it.otherwise() == null)
                        .sorted(Judgement.MOST_HOPE_FIRST)
                        .toList());
    }

    /** Whether it fits somewhere as it is. */
    boolean fits() {
        return !candidates.isEmpty() && candidates.getFirst().fits();
    }

    /**
     * Nodes that admit it, most hope first. Where only CPU or memory is short it may be free once
     * others go.
     */
    List<Picture.State> admitting() {
        return Stream.concat(candidates.stream(), all.stream().filter(it -> it.otherwise() != null))
                .map(Judgement::node)
                .filter(it -> subject.waiter().constraints().admit(it.view()))
                .toList();
    }

    /** Whether it fits, or what is short, as a part of a sentence. */
    String words() {
        return fits() ? fitting() : shortage();
    }

    private String fitting() {
        String where =
                "it fits on %s as it is%s"
                        .formatted(
                                candidates.getFirst().node().name(),
                                subject.notJudged().isEmpty() ? "" : ", as far as is judged here");
        return subject.state() == State.Waits
                ? where + ", and is tried again within minutes"
                : where;
    }

    /** In the words of the condition that our scheduler writes. */
    private String shortage() {
        if (candidates.isEmpty()) {
            return all.isEmpty()
                    ? "the cluster has no nodes"
                    : "no node fits otherwise: "
                            + otherwise().entrySet().stream()
                                    .map(it -> "%d: %s".formatted(it.getValue(), it.getKey()))
                                    .collect(joining("; "));
        }
        Set<Reason> reasons = candidates.stream().map(Judgement::reason).collect(toSet());
        if (reasons.equals(Set.of(Reason.NOT_SHARED))) {
            return "no node that fits otherwise has GPUs that GPUSharing shares";
        }
        return Shortage.of(
                        reasons,
                        candidates.stream()
                                .filter(it -> it.reason() != Reason.NOT_SHARED)
                                .filter(it -> it.reason() != Reason.ELSEWHERE)
                                .map(this::shortage)
                                .toList())
                .text(subject.asks());
    }

    private Shortage.Node shortage(Judgement it) {
        NodeOccupancy occupancy = it.node().occupancy();
        SharedNode shared = it.node().view().shared();
        return occupancy == null || shared == null
                ? new Shortage.Node(it.node().name(), new GpuLayout(List.of()), 0, 0)
                : Shortage.Node.of(
                        it.node().name(), subject.asks(), occupancy.free(), shared.all());
    }

    private Map<String, Integer> otherwise() {
        return MostFrequent.of(
                all.stream().map(Judgement::otherwise).flatMap(Stream::ofNullable).toList());
    }

    /** How many nodes there are, and what keeps it from them. */
    Nodes counts() {
        return new Nodes(
                all.size(),
                (int) candidates.stream().filter(Judgement::fits).count(),
                otherwise(),
                MostFrequent.of(
                        candidates.stream()
                                .map(Judgement::reason)
                                .flatMap(Stream::ofNullable)
                                .map(reason -> reason.name().toLowerCase(Locale.ROOT))
                                .toList()),
                (int)
                        candidates.stream()
                                .filter(it -> !it.fits() && it.sums())
                                .filter(it -> it.reason() != Reason.ELSEWHERE)
                                .count());
    }
}
