package io.gpusharing.timekeeper.reclaim.plan;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.gpusharing.timekeeper.reclaim.plan.Decision.Candidate;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Spared;
import io.gpusharing.timekeeper.reclaim.snapshot.BudgetAccount;
import io.gpusharing.timekeeper.reclaim.snapshot.ClusterSnapshot;
import io.gpusharing.timekeeper.reclaim.snapshot.GpuPod;
import io.gpusharing.timekeeper.reclaim.snapshot.PastEviction;
import io.gpusharing.timekeeper.reclaim.snapshot.Waiter;
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
        Map<String, List<GpuPod>> gangs = gangs();
        return gpuPods().stream()
                .map(gpuPod ->
                        new Candidate(
                                gpuPod.pod(),
                                gpuPod.node(),
                                name(snapshot.budgetOf(gpuPod.pod())),
                                why(gpuPod, gangs)))
                .toList();
    }

    private @Nullable Spared why(GpuPod gpuPod, Map<String, List<GpuPod>> gangs) {
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

    private List<GpuPod> gpuPods() {
        return snapshot.gpuPods().stream().filter(it -> it.hasGpu() && !it.leaving()).toList();
    }

    private Map<String, List<GpuPod>> gangs() {
        return gpuPods().stream().collect(groupingBy(GpuPod::gang, LinkedHashMap::new, toList()));
    }

    private @Nullable Spared spared(GpuPod gpuPod, Map<String, List<GpuPod>> gangs) {
        List<GpuPod> members = gangs.getOrDefault(gpuPod.gang(), List.of(gpuPod));
        Instant since = since(members);
        Spared own = spared(gpuPod, since);
        if (own != null) {
            return own;
        }
        for (GpuPod member : members) {
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
    private static Instant since(List<GpuPod> gang) {
        return gang.stream().map(GpuPod::since).min(Comparator.naturalOrder()).orElseThrow();
    }

    /**
     * @param since since when its gang runs
     */
    private @Nullable Spared spared(GpuPod gpuPod, Instant since) {
        if (gpuPod.exemption() != null) {
            return Spared.because(gpuPod.exemption());
        }
        BudgetAccount budget = snapshot.budgetOf(gpuPod.pod());
        if (budget == null) {
            return Spared.because("no budget limits it");
        }
        if (budget.ahead() != null) {
            String ahead = "its budget was computed by a clock that was ahead";
            return new Spared(ahead, "%s, as of %s".formatted(ahead, budget.ahead()));
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
