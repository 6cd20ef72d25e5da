package io.gpusharing.scheduler.explaining;

import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Rules;
import io.gpusharing.scheduler.reclaiming.plan.WaiterQueue;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * For which pod that waits reclaim would evict one that runs: asked of its own planner, about the
 * node of the running pod alone.
 */
final class Beneficiary {

    /** Workloads of which a pod waits, the most important first. */
    private static final int MOST_WORKLOADS = 10;

    private Beneficiary() {}

    /**
     * Finds it.
     *
     * @param pod that runs on the node
     * @param nodePods all pods of a node, also those without a GPU
     * @return empty if reclaim would take the pod for none of the first workloads that wait
     */
    static Optional<PodRef> of(
            Picture picture,
            Rules rules,
            PodRef pod,
            String node,
            Function<String, List<Holder>> nodePods) {
        BudgetAccount budget = picture.snapshot().budgetOf(pod);
        Picture.State there = picture.node(node).orElse(null);
        if (there == null
                || budget == null
                || !budget.isOver()
                || !budget.onExhausted().allowsEviction(true)) {
            return Optional.empty();
        }
        Map<String, List<Holder>> read = new HashMap<>();
        Set<String> workloads = new HashSet<>();
        return picture.snapshot().waiters().stream()
                .sorted(WaiterQueue.MOST_IMPORTANT_FIRST)
                .filter(waiter -> waiter.constraints().admit(there.view()))
                .filter(waiter -> workloads.add(waiter.workload()))
                .limit(MOST_WORKLOADS)
                .filter(waiter ->
                        new RoomPlan(
                                                        picture,
                                                        rules,
                                                        waiter,
                                                        List.of(there),
                                                        name ->
                                                                read.computeIfAbsent(
                                                                        name, nodePods))
                                                .now()
                                        instanceof Evict evict
                                && evict.victimUids().contains(pod.uid()))
                .map(Waiter::pod)
                .findFirst();
    }
}
