package io.gpusharing.scheduler.reclaiming.plan;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toSet;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.Holder;
import io.gpusharing.scheduler.picture.NodeView;
import io.gpusharing.scheduler.picture.Waiter;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Candidate;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Reason;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Spared;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Victim;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Selects the victims for one waiter: whole gangs, in their order, no more than needed. */
final class VictimSelector {

    /** Of more gangs not every part is tried. */
    private static final int MOST_TRIED = 8;

    private final ClusterSnapshot snapshot;
    private final Rules rules;
    private final Waiter waiter;
    private final FitCheck fitCheck;
    private final List<NodeView> nodes;
    private final DisruptionGuard disruptions;
    private final List<Candidate> considered;
    private final List<Gang> eligible;

    /**
     * @param nodes that could take the waiter, by name
     */
    VictimSelector(
            ClusterSnapshot snapshot,
            Rules rules,
            Waiter waiter,
            FitCheck fitCheck,
            List<NodeView> nodes) {
        this.snapshot = snapshot;
        this.rules = rules;
        this.waiter = waiter;
        this.fitCheck = fitCheck;
        this.nodes = nodes;
        this.disruptions = new DisruptionGuard(snapshot, rules, waiter);
        VictimFilter filter = new VictimFilter(snapshot, rules, waiter);
        Set<String> names = nodes.stream().map(NodeView::name).collect(toSet());
        this.considered =
                filter.candidates().stream().filter(it -> names.contains(it.node())).toList();
        this.eligible =
                filter.eligible().stream()
                        .filter(gang -> nodes.stream().anyMatch(gang::standsOn))
                        .toList();
    }

    /** Who is to go, and the node where the waiter then fits. */
    private record Choice(NodeView node, List<Gang> gangs) {}

    Decision select() {
        if (eligible.isEmpty()) {
            return leave(Reason.NOBODY, "nobody who holds a GPU may be evicted", null);
        }
        List<Gang> free = disruptions.evictableNow(eligible);
        // Those who are kept come last, so that no more of them are needed than must be.
        List<Gang> all =
                Stream.concat(free.stream(), eligible.stream().filter(gang -> !free.contains(gang)))
                        .toList();
        return pick(free)
                .<Decision>map(choice -> evict(choice, List.of(), null))
                .or(() -> pick(all).map(this::despiteDisruptionBudgets))
                .orElseGet(() ->
                        leave(
                                Reason.WOULD_NOT_FIT,
                                "it would not fit without all %d pods that may be evicted"
                                        .formatted(pods(all)),
                                null));
    }

    /**
     * Picks victims one gang after the other, in their order, until the waiter fits somewhere; then
     * only those that are needed there.
     */
    private Optional<Choice> pick(List<Gang> gangs) {
        var chosen = new ArrayList<Gang>();
        for (Gang gang : gangs) {
            chosen.add(gang);
            Optional<Choice> choice =
                    nodes.stream()
                            .filter(gang::standsOn)
                            .filter(node -> fitCheck.fits(node, goneWith(chosen)))
                            .map(node -> new Choice(node, onlyNeeded(node, chosen)))
                            .min(
                                    Comparator.comparingInt((Choice it) -> pods(it.gangs()))
                                            .thenComparing(it -> it.node().name()));
            if (choice.isPresent()) {
                return choice;
            }
        }
        return Optional.empty();
    }

    /**
     * The last picked are spared first, as long as the waiter still fits. Where more is free
     * several containers may be packed worse, so that fewer gangs than these may do.
     */
    private List<Gang> onlyNeeded(NodeView node, List<Gang> chosen) {
        var needed = new ArrayList<>(chosen);
        for (Gang gang : chosen.reversed()) {
            var without = needed.stream().filter(it -> !it.equals(gang)).toList();
            if (fitCheck.fits(node, goneWith(without))) {
                needed.remove(gang);
            }
        }
        return needed.size() > MOST_TRIED ? needed : smallestPart(node, needed);
    }

    private List<Gang> smallestPart(NodeView node, List<Gang> needed) {
        List<Gang> smallest = needed;
        for (int mask = 1; mask < (1 << needed.size()) - 1; mask++) {
            var part = new ArrayList<Gang>();
            for (int i = 0; i < needed.size(); i++) {
                if ((mask & (1 << i)) != 0) {
                    part.add(needed.get(i));
                }
            }
            if (part.size() < smallest.size() && fitCheck.fits(node, goneWith(part))) {
                smallest = part;
            }
        }
        return smallest;
    }

    private static Predicate<Holder> goneWith(List<Gang> gangs) {
        Set<String> keys = gangs.stream().map(Gang::key).collect(toSet());
        return gpuPod -> gpuPod.leaving() || keys.contains(gpuPod.gang());
    }

    /**
     * Only pods that a PodDisruptionBudget keeps would make room. If insist-after is set, their
     * eviction is tried all the same, and they are deleted once it has been refused for long
     * enough.
     */
    private Decision despiteDisruptionBudgets(Choice choice) {
        List<Gang> free = disruptions.evictableNow(choice.gangs());
        List<Gang> kept = choice.gangs().stream().filter(it -> !free.contains(it)).toList();
        Duration patience = rules.insistAfter();
        Optional<Instant> refused = disruptions.refusedSince(kept);
        boolean refusedLately = kept.stream().anyMatch(it -> disruptions.retryAt(it).isPresent());
        boolean ask = patience != null && refused.isEmpty() && !refusedLately;
        if (kept.isEmpty() || ask) {
            return evict(choice, kept, null);
        }
        Optional<Instant> due =
                patience == null ? Optional.empty() : refused.map(it -> it.plus(patience));
        if (due.isPresent() && !refusedLately && !snapshot.now().isBefore(due.get())) {
            return evict(choice, kept, refused.get());
        }
        return leave(
                Reason.KEPT,
                "it would fit on %s without %s, which may not go now%s"
                        .formatted(
                                choice.node().name(),
                                names(kept),
                                due.map("; unless that changes it is deleted after %s"::formatted)
                                        .orElse("")),
                choice.node());
    }

    private Leave leave(Reason reason, String detail, @Nullable NodeView node) {
        return new Leave(waiter, reason, detail, node == null ? null : node.name(), considered);
    }

    /**
     * @param refusedSince since when the kept ones were asked for in vain; null if a refusal is to
     *     be taken for an answer
     */
    private Evict evict(Choice choice, List<Gang> kept, @Nullable Instant refusedSince) {
        var victims = new ArrayList<Victim>();
        for (Gang gang : choice.gangs()) {
            Instant refused = kept.contains(gang) ? refusedSince : null;
            gang.pods().forEach(pod -> victims.add(victim(gang, pod, refused)));
        }
        Set<String> going = victims.stream().map(it -> it.pod().uid()).collect(toSet());
        return new Evict(
                waiter,
                choice.node().name(),
                fitCheck.placement(choice.node(), goneWith(choice.gangs())),
                victims,
                considered.stream()
                        .map(it ->
                                it.spared() == null && !going.contains(it.pod().uid())
                                        ? new Candidate(
                                                it.pod(), it.node(), it.budget(), Spared.NOT_NEEDED)
                                        : it)
                        .toList());
    }

    private Victim victim(Gang gang, Holder pod, @Nullable Instant refusedSince) {
        Instant since = pod.since().isBefore(snapshot.now()) ? pod.since() : snapshot.now();
        GpuTime cost = GpuTime.accrued(pod.share(), since, snapshot.now());
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
                refusedSince);
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
