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
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
    private final Map<String, List<Holder>> gangs;

    /** Why each pod stays whatever becomes of the others of its gang, by UID; else null. */
    private final Map<String, @Nullable Spared> own = new HashMap<>();

    /** Every pod with a GPU that is not leaving yet, in the order of nodes and pods. */
    private final List<Candidate> candidates;

    /** Gangs that may be evicted, in the order in which they would go. */
    private final List<Gang> eligible = new ArrayList<>();

    VictimFilter(ClusterSnapshot snapshot, Rules rules) {
        this.snapshot = snapshot;
        this.rules = rules;
        List<Holder> holders =
                snapshot.gpuPods().stream().filter(it -> it.hasGpu() && !it.leaving()).toList();
        this.gangs =
                holders.stream().collect(groupingBy(Holder::gang, LinkedHashMap::new, toList()));
        gangs.forEach(this::judge);
        eligible.sort(Gang.EVICTION_ORDER);
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

    private void judge(String gang, List<Holder> pods) {
        // A job that starts a new pod now and then is not young for ever.
        Instant since = since(pods, Comparator.naturalOrder());
        pods.forEach(pod -> own.put(pod.pod().uid(), spared(pod, since)));
        BudgetAccount budget = snapshot.budgetOf(pods.getFirst().pod());
        if (budget != null && pods.stream().allMatch(pod -> own(pod.pod()) == null)) {
            eligible.add(new Gang(gang, budget, pods, since(pods, Comparator.reverseOrder())));
        }
    }

    private @Nullable Spared own(PodRef pod) {
        return own.get(pod.uid());
    }

    /** All pods of these nodes that could go or stay for a waiter, in the order of the snapshot. */
    List<Candidate> candidates(Waiter waiter, Set<String> nodes) {
        Set<String> owed = owedTo(waiter);
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
        if (itself != null) {
            return itself;
        }
        for (Holder member : gangs.getOrDefault(gpuPod.gang(), List.of())) {
            Spared other = own(member.pod());
            if (other != null) {
                return new Spared(
                        "goes only together with another, which stays",
                        "goes only together with %s, which stays: %s"
                                .formatted(member.pod(), other.words()));
            }
        }
        return DisruptionGuard.protecting(gpuPod, snapshot).orElse(null);
    }

    /**
     * Gangs on these nodes that may be evicted for a waiter as far as the rules go, in the order in
     * which they would go. A PodDisruptionBudget may still keep them.
     */
    List<Gang> eligible(Waiter waiter, Set<String> nodes) {
        Set<String> owed = owedTo(waiter);
        return eligible.stream()
                .filter(gang -> !owed.contains(gang.budget().name()))
                .filter(gang -> gang.pods().stream().anyMatch(pod -> nodes.contains(pod.node())))
                .toList();
    }

    /**
     * Budgets for which the waiter's was evicted lately: none of theirs is evicted for it, or the
     * two would take the same room from each other.
     */
    private Set<String> owedTo(Waiter waiter) {
        String budget = snapshot.budgetName(waiter.pod());
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
