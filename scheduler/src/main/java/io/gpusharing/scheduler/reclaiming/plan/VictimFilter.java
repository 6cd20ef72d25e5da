package io.gpusharing.scheduler.reclaiming.plan;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.Holder;
import io.gpusharing.scheduler.picture.PastEviction;
import io.gpusharing.scheduler.picture.Waiter;
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
import org.jspecify.annotations.Nullable;

/** Who may be evicted for one waiter, and why the others may not. */
final class VictimFilter {

    private final ClusterSnapshot snapshot;
    private final Rules rules;
    private final String forBudget;
    private final Set<String> nodes;
    private final Map<String, List<Holder>> gangs;

    /** Why each pod stays whatever becomes of the others of its gang, by UID; else null. */
    private final Map<String, @Nullable Spared> own = new HashMap<>();

    /**
     * @param nodes the names of those where the waiter could be
     */
    VictimFilter(ClusterSnapshot snapshot, Rules rules, Waiter waiter, Set<String> nodes) {
        this.snapshot = snapshot;
        this.rules = rules;
        this.forBudget = snapshot.budgetName(waiter.pod());
        this.nodes = nodes;
        this.gangs =
                snapshot.gpuPods().stream()
                        .filter(it -> it.hasGpu() && !it.leaving())
                        .collect(groupingBy(Holder::gang, LinkedHashMap::new, toList()));
        for (List<Holder> gang : gangs.values()) {
            // A job that starts a new pod now and then is not young for ever.
            Instant since = since(gang, Comparator.naturalOrder());
            gang.forEach(pod -> own.put(pod.pod().uid(), spared(pod, since)));
        }
    }

    private @Nullable Spared own(Holder pod) {
        return own.get(pod.pod().uid());
    }

    /** Every pod with a GPU there that is not leaving yet, in the order of nodes and pods. */
    List<Candidate> candidates() {
        return snapshot.gpuPods().stream()
                .filter(it -> it.hasGpu() && !it.leaving() && nodes.contains(it.node()))
                .map(gpuPod ->
                        new Candidate(
                                gpuPod.pod(),
                                gpuPod.node(),
                                name(snapshot.budgetOf(gpuPod.pod())),
                                why(gpuPod)))
                .toList();
    }

    private @Nullable Spared why(Holder gpuPod) {
        Spared itself = own(gpuPod);
        if (itself != null) {
            return itself;
        }
        for (Holder member : gangs.getOrDefault(gpuPod.gang(), List.of())) {
            Spared other = own(member);
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
     * Gangs there that may be evicted as far as the rules go, in the order in which they would go.
     * A PodDisruptionBudget may still keep them.
     */
    List<Gang> eligible() {
        var eligible = new ArrayList<Gang>();
        gangs.forEach((key, pods) -> {
            BudgetAccount budget = snapshot.budgetOf(pods.getFirst().pod());
            if (budget != null
                    && pods.stream().allMatch(pod -> own(pod) == null)
                    && pods.stream().anyMatch(pod -> nodes.contains(pod.node()))) {
                eligible.add(new Gang(key, budget, pods, since(pods, Comparator.reverseOrder())));
            }
        });
        eligible.sort(Gang.EVICTION_ORDER);
        return eligible;
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
        if (budget.doubt() != null) {
            // The words name the budget, and are for who may know it.
            return Spared.because("what its budget says is in doubt");
        }
        if (!budget.isOver()) {
            return Spared.because("its budget is " + budget.standing().word());
        }
        if (!budget.onExhausted().allowsEviction()) {
            return Spared.because("its budget says onExhausted: " + budget.onExhausted());
        }
        if (budget.paused()) {
            return Spared.because("reclaim is paused for its budget");
        }
        Instant mayGo = since.plus(budget.minimumRun());
        if (snapshot.now().isBefore(mayGo)) {
            return new Spared(
                    "its minimum run time is not over", "its minimum run time ends at " + mayGo);
        }
        if (snapshot.past().stream().anyMatch(it -> wouldReturn(it, budget.name()))) {
            return Spared.because(
                    "room was made for its budget by evicting the waiter's, less than %s ago"
                            .formatted(rules.noReturn()));
        }
        return null;
    }

    private boolean wouldReturn(PastEviction earlier, String victimBudget) {
        return earlier.waiterBudget().equals(victimBudget)
                && earlier.victimBudget().equals(forBudget)
                && earlier.at().plus(rules.noReturn()).isAfter(snapshot.now());
    }

    private static @Nullable String name(@Nullable BudgetAccount budget) {
        return budget == null ? null : budget.name();
    }
}
