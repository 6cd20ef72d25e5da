package io.gpusharing.scheduler.preemption;

import io.gpusharing.scheduler.gpus.Placement;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.pods.EndingRules;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Whom to evict from one node for a pod.
 *
 * @param payer whose budget pays for the pod; null if none limits it
 * @param victims the most important first; nobody where the pod fits as soon as those have ended
 *     that are being deleted
 * @param placement the GPUs on which the pod would be placed then
 * @param left when those will have ended that are being deleted already
 * @param endings for how long it is waited for all of them
 */
public record Preemption(
        @Nullable BudgetAccount payer,
        String node,
        List<RunningPod> victims,
        Cost cost,
        Placement placement,
        Instant left,
        EndingRules endings) {

    static final Comparator<Preemption> BEST_FIRST =
            Comparator.comparing(Preemption::cost).thenComparing(Preemption::node);

    public Preemption {
        victims = List.copyOf(victims);
    }

    /**
     * Until when the GPUs are kept for the pod: as long as its victims may take to end, and those
     * that are ending already, and some time to be scheduled again. One that gives itself hours is
     * not waited for, as elsewhere.
     */
    public Instant keptUntil(Instant now) {
        Instant settled = endings.settlesAt(now, victims.stream().map(RunningPod::grace));
        Instant leftSettled = endings.settlesAt(left, Stream.empty());
        return leftSettled.isAfter(settled) ? leftSettled : settled;
    }

    boolean isBetterThan(Preemption other) {
        return BEST_FIRST.compare(this, other) < 0;
    }

    /**
     * By what kube-scheduler chooses among nodes (pickOneNodeForPreemption): the least is best.
     *
     * @param violations victims that go against a PodDisruptionBudget
     * @param highest the highest priority among the victims
     * @param priorities sum of their priorities, each counted from the lowest that there is
     * @param started the earliest start of those with the highest priority: who began late loses
     *     less
     */
    public record Cost(int violations, int highest, long priorities, int pods, Instant started)
            implements Comparable<Cost> {

        private static final Comparator<Cost> LEAST_FIRST =
                Comparator.comparingInt(Cost::violations)
                        .thenComparingInt(Cost::highest)
                        .thenComparingLong(Cost::priorities)
                        .thenComparingInt(Cost::pods)
                        .thenComparing(Cost::started, Comparator.reverseOrder());

        /**
         * @param victims the most important first
         * @param violations how many of them go against a PodDisruptionBudget
         */
        static Cost of(List<RunningPod> victims, int violations) {
            RunningPod most = victims.isEmpty() ? null : victims.getFirst();
            return new Cost(
                    violations,
                    most == null ? Integer.MIN_VALUE : most.priority(),
                    victims.stream()
                            .mapToLong(it -> (long) it.priority() - Integer.MIN_VALUE)
                            .sum(),
                    victims.size(),
                    most == null ? Instant.MAX : most.started());
        }

        @Override
        public int compareTo(Cost other) {
            return LEAST_FIRST.compare(this, other);
        }
    }
}
