package io.gpusharing.scheduler.reclaiming.plan;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;
import static java.util.stream.Collectors.toSet;

import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.Past.PastEviction;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.reclaiming.plan.BudgetOrder.Gang;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Candidate;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Spared;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Who of a snapshot's pods may be evicted, and why the others may not. What does not depend on the
 * waiter is judged once.
 */
final class VictimFilter {

    private final ClusterSnapshot snapshot;
    private final Rules rules;

    /** Why each pod stays whatever becomes of the others of its gang, by UID; else null. */
    private final Map<String, @Nullable Spared> own = new HashMap<>();

    /** Every pod with a GPU that is not leaving yet, in the order of nodes and pods. */
    private final List<Candidate> candidates;

    /** Why those of a gang stay who could go alone: one of the others does. */
    private final Map<String, Spared> together = new HashMap<>();

    /** Gangs that may be evicted, by their keys in the order in which they would go. */
    private final Map<String, Gang> eligible = new LinkedHashMap<>();

    VictimFilter(ClusterSnapshot snapshot, Rules rules) {
        this.snapshot = snapshot;
        this.rules = rules;
        List<Holder> holders =
                snapshot.gpuPods().stream().filter(it -> it.hasGpu() && !it.leaving()).toList();
        holders.stream()
                .collect(groupingBy(Holder::gang, LinkedHashMap::new, toList()))
                .entrySet()
                .stream()
                .flatMap(it -> judge(it.getKey(), it.getValue()).stream())
                .sorted(Gang.EVICTION_ORDER)
                .forEach(it -> eligible.put(it.key(), it));
        this.candidates =
                holders.stream()
                        .map(it ->
                                new Candidate(
                                        it.pod(),
                                        it.node(),
                                        name(snapshot.budgetOf(it.pod())),
                                        why(it)))
                        .toList();
    }

    /** The gang if it may be evicted. */
    private Optional<Gang> judge(String gang, List<Holder> pods) {
        // A job that starts a new pod now and then is not young for ever.
        Instant since = since(pods, Comparator.naturalOrder());
        boolean stays = false;
        for (Holder pod : pods) {
            Spared spared = spared(pod, since);
            own.put(pod.pod().uid(), spared);
            if (spared != null && !stays && pods.size() > 1) {
                together.put(
                        gang,
                        new Spared(
                                "goes only together with another, which stays",
                                "goes only together with %s, which stays: %s"
                                        .formatted(pod.pod(), spared.words())));
            }
            stays |= spared != null;
        }
        BudgetAccount budget = snapshot.budgetOf(pods.getFirst().pod());
        return budget == null || stays
                ? Optional.empty()
                : Optional.of(new Gang(gang, budget, pods, since(pods, Comparator.reverseOrder())));
    }

    /** Whether a gang may be evicted, for some waiter at least. */
    boolean mayGo(String gang) {
        return eligible.containsKey(gang);
    }

    private @Nullable Spared own(PodRef pod) {
        return own.get(pod.uid());
    }

    /** All pods of these nodes that could go or stay for a waiter, in the order of the snapshot. */
    List<Candidate> candidates(Waiter waiter, Set<String> nodes) {
        Set<String> owed = owedTo(snapshot.budgetName(waiter.pod()), snapshot, rules);
        Stream<Candidate> there = candidates.stream().filter(it -> nodes.contains(it.node()));
        return owed.isEmpty()
                ? there.toList()
                : there.map(it ->
                                own(it.pod()) == null && owed.contains(it.budget())
                                        ? new Candidate(
                                                it.pod(), it.node(), it.budget(), noReturn())
                                        : it)
                        .toList();
    }

    private @Nullable Spared why(Holder gpuPod) {
        Spared itself = own(gpuPod.pod());
        Spared others = together.get(gpuPod.gang());
        if (itself != null || others != null) {
            return itself != null ? itself : others;
        }
        return DisruptionGuard.protecting(gpuPod, snapshot).orElse(null);
    }

    /**
     * Gangs on these nodes that may be evicted for a waiter as far as the rules go, in the order in
     * which they would go. A PodDisruptionBudget may still keep them.
     */
    List<Gang> eligible(Waiter waiter, Set<String> nodes) {
        Set<String> owed = owedTo(snapshot.budgetName(waiter.pod()), snapshot, rules);
        return eligible.values().stream()
                .filter(gang -> !owed.contains(gang.budget().name()))
                .filter(gang -> gang.pods().stream().anyMatch(pod -> nodes.contains(pod.node())))
                .toList();
    }

    /**
     * Budgets for which a waiter's was evicted lately: none of theirs is evicted for it, or the two
     * would take the same room from each other.
     *
     * @param budget the waiter's
     */
    static Set<String> owedTo(String budget, ClusterSnapshot snapshot, Rules rules) {
        return snapshot.past().stream()
                .filter(it -> it.went() && it.victimBudget().equals(budget))
                .filter(it -> it.at().plus(rules.noReturn()).isAfter(snapshot.now()))
                .map(PastEviction::waiterBudget)
                .collect(toSet());
    }

    private Spared noReturn() {
        return Spared.because(
                "room was made for its budget by evicting the waiter's, less than %s ago"
                        .formatted(rules.noReturn()));
    }

    /** When the pod of a gang was bound that comes first in this order of instants. */
    private static Instant since(List<Holder> gang, Comparator<Instant> order) {
        return gang.stream().map(Holder::since).min(order).orElseThrow();
    }

    /**
     * @param since since when its gang runs
     */
    private @Nullable Spared spared(Holder gpuPod, Instant since) {
        if (gpuPod.exemption() != null) {
            return Spared.because(gpuPod.exemption());
        }
        BudgetAccount budget = snapshot.budgetOf(gpuPod.pod());
        if (budget == null) {
            return Spared.because("no budget limits it");
        }
        if (budget.letsGo(gpuPod.lowered(), since, snapshot.now())) {
            return null;
        }
        if (budget.doubt() != null) {
            // The words name the budget, and are for who may know it.
            return Spared.because("what its budget says is in doubt");
        }
        if (!budget.isOver()) {
            return Spared.because("its budget is " + budget.standing().word());
        }
        if (!budget.onExhausted().allowsEviction(gpuPod.lowered())) {
            return Spared.because("its budget says onExhausted: " + budget.onExhausted());
        }
        if (budget.paused()) {
            return Spared.because("reclaim is paused for its budget");
        }
        return new Spared(
                "its minimum run time is not over",
                "its minimum run time ends at " + since.plus(budget.minimumRun()));
    }

    private static @Nullable String name(@Nullable BudgetAccount budget) {
        return budget == null ? null : budget.name();
    }
}
