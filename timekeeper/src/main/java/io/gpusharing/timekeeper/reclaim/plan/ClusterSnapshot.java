package io.gpusharing.timekeeper.reclaim.plan;

import static java.util.stream.Collectors.toSet;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The cluster at one instant, as far as reclaim looks at it.
 *
 * @param budgets by namespace; a namespace without one is unlimited
 * @param disruptionsAllowed how many pods each PodDisruptionBudget lets go now, by {@code
 *     namespace/name}
 * @param past evictions of as long ago as the rules look back
 * @param refusals evictions that were asked for and refused, of the same time
 * @param completeNodes nodes of which all pods are among the holders; of others only those with
 *     GPUs are known
 */
public record ClusterSnapshot(
        Instant now,
        List<Waiter> waiters,
        List<NodeView> nodes,
        List<GpuPod> gpuPods,
        Map<String, BudgetAccount> budgets,
        Map<String, Integer> disruptionsAllowed,
        List<PastEviction> past,
        List<Refusal> refusals,
        Set<String> completeNodes) {

    public ClusterSnapshot {
        waiters = List.copyOf(waiters);
        nodes = List.copyOf(nodes);
        gpuPods = List.copyOf(gpuPods);
        budgets = Map.copyOf(budgets);
        disruptionsAllowed = Map.copyOf(disruptionsAllowed);
        past = List.copyOf(past);
        refusals = List.copyOf(refusals);
        completeNodes = Set.copyOf(completeNodes);
    }

    @Nullable BudgetAccount budgetOf(PodRef pod) {
        return budgets.get(pod.namespace());
    }

    /** The budget's name; for a pod without one, a name that no budget can have. */
    public String budgetName(PodRef pod) {
        BudgetAccount budget = budgetOf(pod);
        return budget == null ? "/" + pod.namespace() : budget.name();
    }

    /** The same, with every pod of a node known. */
    ClusterSnapshot withAllPodsOf(String node, List<GpuPod> onNode) {
        var complete = new ArrayList<>(gpuPods);
        complete.removeIf(gpuPod -> gpuPod.node().equals(node));
        Set<String> leaving =
                gpuPods.stream()
                        .filter(GpuPod::leaving)
                        .map(gpuPod -> gpuPod.pod().uid())
                        .collect(toSet());
        // A pod that was evicted a moment ago may not show it yet.
        onNode.stream()
                .map(it -> leaving.contains(it.pod().uid()) ? it.asLeaving() : it)
                .forEach(complete::add);
        return new ClusterSnapshot(
                now,
                waiters,
                nodes,
                complete,
                budgets,
                disruptionsAllowed,
                past,
                refusals,
                Stream.concat(completeNodes.stream(), Stream.of(node)).collect(toSet()));
    }

    /** The same after the victims were evicted and their room was promised to the waiter. */
    ClusterSnapshot after(Decision.Evict plan, List<PastEviction> done) {
        Set<String> gone =
                plan.victims().stream().map(victim -> victim.pod().uid()).collect(toSet());
        var allowed = new HashMap<>(disruptionsAllowed);
        for (GpuPod gpuPod : gpuPods) {
            if (gone.contains(gpuPod.pod().uid())) {
                gpuPod.disruptionBudgets().forEach(name -> allowed.merge(name, -1, Integer::sum));
            }
        }
        return new ClusterSnapshot(
                now,
                waiters,
                nodes,
                gpuPods.stream()
                        .map(it -> gone.contains(it.pod().uid()) ? it.asLeaving() : it)
                        .toList(),
                budgets,
                allowed,
                Stream.concat(past.stream(), done.stream()).toList(),
                refusals,
                completeNodes);
    }
}
