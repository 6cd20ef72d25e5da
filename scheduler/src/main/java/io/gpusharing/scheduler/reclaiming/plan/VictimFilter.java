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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Who may be evicted for one waiter, and why the others may not. */
final class VictimFilter {

    private final ClusterSnapshot snapshot;
    private final Rules rules;
    private final String forBudget;

    VictimFilter(ClusterSnapshot snapshot, Rules rules, Waiter waiter) {
        this.snapshot = snapshot;
        this.rules = rules;
        this.forBudget = snapshot.budgetName(waiter.pod());
    }

    /** Every pod with a GPU that is not leaving yet, in the order of nodes and pods. */
    List<Candidate> candidates() {
        Map<String, List<Holder>> gangs = gangs();
        return gpuPods().stream()
                .map(gpuPod ->
                        new Candidate(
                                gpuPod.pod(),
                                gpuPod.node(),
                                name(snapshot.budgetOf(gpuPod.pod())),
                                why(gpuPod, gangs)))
                .toList();
    }

    private @Nullable Spared why(Holder gpuPod, Map<String, List<Holder>> gangs) {
        Spared spared = spared(gpuPod, gangs);
        return spared == null ? DisruptionGuard.protecting(gpuPod, snapshot).orElse(null) : spared;
    }

    /**
     * Gangs that may be evicted as far as the rules go, in the order in which they would go. A
     * PodDisruptionBudget may still keep them.
     */
    List<Gang> eligible() {
        var eligible = new ArrayList<Gang>();
        gangs().forEach((key, pods) -> {
            BudgetAccount budget = snapshot.budgetOf(pods.getFirst().pod());
            Instant since = since(pods);
            if (budget != null && pods.stream().allMatch(it -> spared(it, since) == null)) {
                eligible.add(new Gang(key, budget, pods));
            }
        });
        eligible.sort(Gang.EVICTION_ORDER);
        return eligible;
    }

    private List<Holder> gpuPods() {
        return snapshot.gpuPods().stream().filter(it -> it.hasGpu() && !it.leaving()).toList();
    }

    private Map<String, List<Holder>> gangs() {
        return gpuPods().stream().collect(groupingBy(Holder::gang, LinkedHashMap::new, toList()));
    }

    private @Nullable Spared spared(Holder gpuPod, Map<String, List<Holder>> gangs) {
        List<Holder> members = gangs.getOrDefault(gpuPod.gang(), List.of(gpuPod));
        Instant since = since(members);
        Spared own = spared(gpuPod, since);
        if (own != null) {
            return own;
        }
        for (Holder member : members) {
            Spared other = spared(member, since);
            if (other != null) {
                return new Spared(
                        "goes only together with another, which stays",
                        "goes only together with %s, which stays: %s"
                                .formatted(member.pod(), other.words()));
            }
        }
        return null;
    }

    /** Since when a gang runs: a job that starts a new pod now and then is not young for ever. */
    private static Instant since(List<Holder> gang) {
        return gang.stream().map(Holder::since).min(Comparator.naturalOrder()).orElseThrow();
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
