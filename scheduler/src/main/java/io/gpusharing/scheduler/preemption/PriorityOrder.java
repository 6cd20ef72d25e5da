package io.gpusharing.scheduler.preemption;

import io.gpusharing.scheduler.pods.DisruptionBudget;
import io.gpusharing.scheduler.preemption.Preemption.Cost;
import io.gpusharing.scheduler.victims.Order;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * kube-scheduler's order: whom a PodDisruptionBudget guards is spared first, then who is most
 * important. Few that matter little go rather than many.
 *
 * @param gangs by their numbers
 * @param budgets the PodDisruptionBudgets by namespace
 */
record PriorityOrder(List<List<RunningPod>> gangs, Map<String, List<DisruptionBudget>> budgets)
        implements Order<Cost> {

    @Override
    public List<Integer> firstToGo(BitSet among) {
        Set<String> guarded = violating(pods(among));
        Comparator<Integer> sparedFirst =
                Comparator.comparing((Integer gang) ->
                                gangs.get(gang).stream()
                                        .map(RunningPod::uid)
                                        .noneMatch(guarded::contains))
                        .thenComparing(this::mostImportant, RunningPod.MOST_IMPORTANT_FIRST);
        return among.stream().boxed().sorted(sparedFirst.reversed()).toList();
    }

    private RunningPod mostImportant(int gang) {
        return gangs.get(gang).stream().min(RunningPod.MOST_IMPORTANT_FIRST).orElseThrow();
    }

    @Override
    public Cost cost(BitSet going) {
        List<RunningPod> victims = pods(going);
        return Cost.of(victims, violating(victims).size());
    }

    /**
     * Who of these would go against a budget if all went: those that matter least may go first.
     *
     * @param pods the most important first
     * @return their UIDs
     */
    private Set<String> violating(List<RunningPod> pods) {
        var going = new HashMap<String, Integer>();
        var violating = new HashSet<String>();
        for (RunningPod pod : pods.reversed()) {
            for (DisruptionBudget budget : budgets.getOrDefault(pod.namespace(), List.of())) {
                if (budget.counts(pod.name(), pod.labels())
                        && going.merge(budget.name(), 1, Integer::sum) > budget.allowed()) {
                    violating.add(pod.uid());
                }
            }
        }
        return violating;
    }

    @Override
    public boolean isStrict() {
        return false;
    }

    /** The pods of these gangs, the most important first. */
    List<RunningPod> pods(BitSet going) {
        return going.stream()
                .mapToObj(gangs::get)
                .flatMap(List::stream)
                .sorted(RunningPod.MOST_IMPORTANT_FIRST)
                .toList();
    }
}
