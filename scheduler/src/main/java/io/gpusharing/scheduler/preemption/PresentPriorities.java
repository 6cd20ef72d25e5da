package io.gpusharing.scheduler.preemption;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.pods.DisruptionBudget;
import io.gpusharing.scheduler.pods.Priorities;
import io.gpusharing.scheduler.preemption.NodePods.Load;
import io.gpusharing.scheduler.preemption.PresentStandings.Present;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the priorities of pods count for now. A pod that was admitted over budget counts as one in
 * budget once its budget is not used up any more, or while that is in doubt. One that was admitted
 * in budget counts as one over budget once reclaim's rules let it go, for a pod whose own budget
 * has time left. Whoever an administrator protects goes for nobody.
 *
 * @param disruptions PodDisruptionBudgets by namespace
 */
record PresentPriorities(
        BudgetClasses classes, Present present, Map<String, List<DisruptionBudget>> disruptions) {

    /** Returns a pod that waits with the priority that it counts for, and who pays for it. */
    Preemptor of(Preemptor pod) {
        BudgetAccount payer = present.payer(pod.namespace());
        return pod.counting(isUsedUp(payer) ? lowered(pod.priority()) : pod.priority(), payer);
    }

    /**
     * Returns the pods of one gang with the priorities that they count for, and who pays for them.
     *
     * @param waiter for whom they would go
     */
    List<Load> of(List<Load> gang, Preemptor waiter) {
        if (gang.stream().noneMatch(load -> load.pod().stamps().metered())) {
            return gang;
        }
        BudgetAccount payer = present.payer(gang.getFirst().pod().namespace());
        List<RunningPod> pods = gang.stream().map(Load::pod).toList();
        boolean reclaimable = payer != null && letsGo(payer, false, pods, waiter);
        return gang.stream().map(load -> counting(load, payer, reclaimable)).toList();
    }

    /**
     * Whether an administrator protects one of a gang. The annotation of a pod that is not charged
     * counts for nothing: its owner may have written it.
     */
    boolean protects(List<Load> gang) {
        return gang.stream().map(Load::pod).anyMatch(this::isProtected);
    }

    private boolean isProtected(RunningPod pod) {
        return (pod.stamps().metered() && pod.stamps().doNotReclaim())
                || present.protects(pod.namespace());
    }

    private boolean letsGo(
            BudgetAccount payer, boolean lowered, List<RunningPod> gang, Preemptor waiter) {
        return mayHaveRoomMade(waiter.payer())
                && payer.letsGo(lowered, since(gang), present.at())
                && !isKept(gang);
    }

    /** Whether it has the class of pods that were admitted over budget, and was. */
    private boolean isLowered(RunningPod pod) {
        return pod.stamps().overBudget() && pod.priority() == classes.overBudget();
    }

    /** The same to reclaim, to which a class of the pod's own below that is one, too. */
    private boolean gaveWay(RunningPod pod) {
        return pod.stamps().overBudget() && pod.priority() <= classes.overBudget();
    }

    /**
     * Whether reclaim's rules let all pods of a gang go for a waiter, wherever they are.
     *
     * @param gang of one namespace
     */
    boolean areReclaimed(List<RunningPod> gang, Preemptor waiter) {
        BudgetAccount payer = present.payer(gang.getFirst().namespace());
        return payer != null
                && letsGo(payer, gang.stream().allMatch(this::gaveWay), gang, waiter)
                && gang.stream().noneMatch(this::isProtected);
    }

    /** Whether the budget of a gang's pods is used up now. */
    boolean areOver(List<Load> gang) {
        return gang.stream().anyMatch(load -> isUsedUp(load.pod().payer()));
    }

    private Load counting(Load load, @Nullable BudgetAccount payer, boolean reclaimable) {
        RunningPod pod = load.pod();
        if (!pod.stamps().metered()) {
            return load;
        }
        int priority = pod.priority();
        if (reclaimable) {
            priority = lowered(priority);
        } else if (isLowered(pod) && !isUsedUp(payer)) {
            priority = classes.inBudget();
        }
        return new Load(pod.counting(priority, payer), load.requests());
    }

    private int lowered(int priority) {
        return Priorities.isOfCluster(priority)
                ? priority
                : Math.min(priority, classes.overBudget());
    }

    private static boolean isUsedUp(@Nullable BudgetAccount payer) {
        return payer != null
                && payer.doubt() == null
                && payer.isOver()
                && payer.onExhausted() != OnExhausted.Observe;
    }

    private static boolean mayHaveRoomMade(@Nullable BudgetAccount payer) {
        return payer == null || (payer.doubt() == null && !payer.isOver());
    }

    /** Since when a gang runs: one that starts a new pod now and then is not young for ever. */
    private Instant since(List<RunningPod> gang) {
        return Stream.concat(gang.stream().map(RunningPod::started), Stream.of(present.at()))
                .min(Instant::compareTo)
                .orElseThrow();
    }

    /** Whether a PodDisruptionBudget does not let all of a gang go, which reclaim would heed. */
    private boolean isKept(List<RunningPod> gang) {
        return disruptions.getOrDefault(gang.getFirst().namespace(), List.of()).stream()
                .anyMatch(budget ->
                        gang.stream().filter(pod -> budget.counts(pod.name(), pod.labels())).count()
                                > budget.allowed());
    }
}
