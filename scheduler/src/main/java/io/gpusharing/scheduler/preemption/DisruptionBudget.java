package io.gpusharing.scheduler.preemption;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A PodDisruptionBudget.
 *
 * @param selects whether it guards a pod of its namespace with these labels
 * @param allowed how many of those may go now
 * @param disrupted the names of those whose going has been counted already
 */
public record DisruptionBudget(
        String namespace,
        Predicate<Map<String, String>> selects,
        int allowed,
        Set<String> disrupted) {

    private boolean counts(RunningPod pod) {
        return namespace.equals(pod.namespace())
                && !disrupted.contains(pod.name())
                && selects.test(pod.labels());
    }

    /**
     * Who of these would go against a budget if all went: those that matter least may go first.
     *
     * @param pods the most important first
     * @return their UIDs
     */
    static Set<String> violated(List<DisruptionBudget> budgets, List<RunningPod> pods) {
        int[] left = budgets.stream().mapToInt(DisruptionBudget::allowed).toArray();
        var violating = new HashSet<String>();
        for (RunningPod pod : pods.reversed()) {
            for (int i = 0; i < left.length; i++) {
                if (budgets.get(i).counts(pod) && --left[i] < 0) {
                    violating.add(pod.uid());
                }
            }
        }
        return violating;
    }
}
