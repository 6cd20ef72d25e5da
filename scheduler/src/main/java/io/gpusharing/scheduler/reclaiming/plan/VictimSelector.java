package io.gpusharing.scheduler.reclaiming.plan;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.NodeView;
import io.gpusharing.scheduler.reclaiming.plan.BudgetOrder.Gang;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Candidate;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Reason;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Spared;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Victim;
import io.gpusharing.scheduler.reclaiming.plan.RoundSnapshot.Node;
import io.gpusharing.scheduler.victims.Choice;
import io.gpusharing.scheduler.victims.Room;
import io.gpusharing.scheduler.victims.VictimSearch;
import io.gpusharing.wire.ContainerPlacement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Selects the victims for one waiter: whole gangs, in their order, no more than needed. */
final class VictimSelector {

    private final ClusterSnapshot snapshot;
    private final Rules rules;
    private final Waiter waiter;
    private final FitCheck fitCheck;
    private final List<Node> hopeful;
    private final DisruptionGuard disruptions;
    private final List<Candidate> considered;

    /** Those that may be evicted, who goes first first. */
    private final List<Gang> gangs;

    /**
     * @param nodes that could take the waiter if they were empty, by name
     * @param hopeful those of them that could take it if everybody went who may
     */
    VictimSelector(
            RoundSnapshot round,
            Rules rules,
            Waiter waiter,
            FitCheck fitCheck,
            List<Node> nodes,
            List<Node> hopeful) {
        this.snapshot = round.snapshot();
        this.rules = rules;
        this.waiter = waiter;
        this.fitCheck = fitCheck;
        this.hopeful = hopeful;
        this.disruptions = new DisruptionGuard(snapshot, rules, waiter);
        Set<String> names = nodes.stream().map(Node::name).collect(toSet());
        this.considered = round.victims().candidates(waiter, names);
        List<Gang> eligible = round.victims().eligible(waiter, names);
        this.gangs = hopeful.isEmpty() ? eligible : keptLast(eligible);
    }

    /** Those who are kept come last, so that no more of them are needed than must be. */
    private List<Gang> keptLast(List<Gang> eligible) {
        Set<String> free = disruptions.evictableNow(eligible);
        return eligible.stream()
                .sorted(Comparator.comparing(gang -> !free.contains(gang.key())))
                .toList();
    }

    Decision select() {
        if (gangs.isEmpty()) {
            return leave(Reason.NOBODY, "nobody who holds a GPU may be evicted", null);
        }
        var numbers = new HashMap<String, Integer>();
        gangs.forEach(gang -> numbers.put(gang.key(), numbers.size()));
        List<Room> rooms =
                hopeful.stream()
                        .map(node ->
                                fitCheck.room(
                                        node,
                                        pod ->
                                                pod.leaving()
                                                        ? FitCheck.GONE
                                                        : numbers.getOrDefault(
                                                                pod.gang(), Room.STAYS)))
                        .toList();
        return new VictimSearch<>(new BudgetOrder(gangs))
                .search(rooms)
                .map(this::carriedOut)
                .orElseGet(() ->
                        leave(
                                Reason.WOULD_NOT_FIT,
                                "it would not fit without all %d pods that may be evicted"
                                        .formatted(pods(gangs)),
                                null));
    }

    /**
     * Where only pods that a PodDisruptionBudget keeps would make room: if insist-after is set,
     * their eviction is tried all the same, and they are deleted once it has been refused for long
     * enough.
     */
    private Decision carriedOut(Choice<Long> choice) {
        List<Gang> going = choice.gangs().stream().mapToObj(gangs::get).toList();
        Set<String> free = disruptions.evictableNow(going);
        List<Gang> kept = going.stream().filter(it -> !free.contains(it.key())).toList();
        Duration patience = rules.insistAfter();
        Optional<Instant> refused = disruptions.refusedSince(kept);
        boolean refusedLately = kept.stream().anyMatch(it -> disruptions.retryAt(it).isPresent());
        boolean ask = patience != null && refused.isEmpty() && !refusedLately;
        if (kept.isEmpty() || ask) {
            return evict(choice.room(), choice.gangs(), kept, null);
        }
        Optional<Instant> due =
                patience == null ? Optional.empty() : refused.map(it -> it.plus(patience));
        if (due.isPresent() && !refusedLately && !snapshot.now().isBefore(due.get())) {
            return evict(choice.room(), choice.gangs(), kept, refused.get());
        }
        return leave(
                Reason.KEPT,
                "it would fit on %s without %s, which may not go now%s"
                        .formatted(
                                choice.room().node(),
                                names(kept),
                                due.map("; unless that changes it is deleted after %s"::formatted)
                                        .orElse("")),
                choice.room().node());
    }

    private Leave leave(Reason reason, String detail, @Nullable String node) {
        return new Leave(waiter, reason, detail, node, considered);
    }

    /**
     * @param refusedSince since when the kept ones were asked for in vain; null if a refusal is to
     *     be taken for an answer
     */
    private Evict evict(Room room, BitSet going, List<Gang> kept, @Nullable Instant refusedSince) {
        Map<String, NodeView> byName =
                snapshot.nodes().stream().collect(toMap(NodeView::name, node -> node));
        var victims = new ArrayList<Victim>();
        going.stream()
                .mapToObj(gangs::get)
                .forEach(gang -> {
                    Instant refused = kept.contains(gang) ? refusedSince : null;
                    gang.pods()
                            .forEach(pod ->
                                    victims.add(
                                            victim(gang, pod, byName.get(pod.node()), refused)));
                });
        Set<String> gone = victims.stream().map(it -> it.pod().uid()).collect(toSet());
        return new Evict(
                waiter,
                room.node(),
                room.place(going).map(ContainerPlacement::held).orElse(List.of()),
                victims,
                considered.stream()
                        .map(it ->
                                it.spared() == null && !gone.contains(it.pod().uid())
                                        ? new Candidate(
                                                it.pod(), it.node(), it.budget(), Spared.NOT_NEEDED)
                                        : it)
                        .toList());
    }

    private Victim victim(
            Gang gang, Holder pod, @Nullable NodeView node, @Nullable Instant refusedSince) {
        Instant since = pod.since().isBefore(snapshot.now()) ? pod.since() : snapshot.now();
        long share = node == null ? pod.share() : node.share(pod);
        GpuTime cost = GpuTime.accrued(share, since, snapshot.now());
        String together =
                gang.pods().size() > 1
                        ? "; all %d pods of its job go together".formatted(gang.pods().size())
                        : "";
        String why =
                "budget %s is over by %s GPU-minutes; the pod runs since %s%s"
                        .formatted(
                                gang.budget().name(),
                                gang.budget().overrun().minutes(),
                                pod.since(),
                                together);
        return new Victim(
                pod.pod(),
                pod.node(),
                gang.budget().name(),
                gang.key(),
                why,
                cost.microGpuSeconds(),
                pod.grace(),
                refusedSince,
                pod.lowered());
    }

    private static int pods(List<Gang> gangs) {
        return gangs.stream().mapToInt(gang -> gang.pods().size()).sum();
    }

    private static String names(List<Gang> gangs) {
        return gangs.stream()
                .flatMap(gang -> gang.pods().stream())
                .map(pod -> pod.pod().toString())
                .collect(joining(", "));
    }
}
