package io.gpusharing.scheduler.preemption;

import io.gpusharing.scheduler.preemption.Preemption.Cost;
import io.gpusharing.scheduler.victims.Order;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * kube-scheduler's order: whom a PodDisruptionBudget guards is spared first, then who is most
 * important. Few that matter little go rather than many.
 *
 * @param gangs by their numbers
 */
record PriorityOrder(List<List<RunningPod>> gangs, List<DisruptionBudget> budgets)
        implements Order<Cost> {

    @Override
    public List<Integer> firstToGo(BitSet among) {
        Set<String> guarded = DisruptionBudget.violated(budgets, pods(among));
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
        return Cost.of(pods(going), budgets);
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
