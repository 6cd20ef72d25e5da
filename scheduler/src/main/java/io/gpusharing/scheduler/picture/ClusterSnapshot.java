package io.gpusharing.scheduler.picture;

import static java.util.stream.Collectors.toSet;

import io.gpusharing.placement.KeptRoom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The part of the cluster that reclaim reads, at one instant.
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
        List<Holder> gpuPods,
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

    /** The budget that pays for a pod; null if none limits it. */
    public @Nullable BudgetAccount budgetOf(PodRef pod) {
        return budgets.get(pod.namespace());
    }

    /** The budget's name; for a pod without one, a name that no budget can have. */
    public String budgetName(PodRef pod) {
        BudgetAccount budget = budgetOf(pod);
        return budget == null ? "/" + pod.namespace() : budget.name();
    }

    /** The same, with every pod of a node known. */
    public ClusterSnapshot withAllPodsOf(String node, List<Holder> onNode) {
        var complete = new ArrayList<>(gpuPods);
        complete.removeIf(gpuPod -> gpuPod.node().equals(node));
        Set<String> leaving =
                gpuPods.stream()
                        .filter(Holder::leaving)
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

    /**
     * The same after pods were evicted and their capacity was reserved for a waiter.
     *
     * @param evicted UIDs of the pods
     * @param receipts of the same, by victim
     * @param node where
     * @param room what the waiter will have of GPUs there
     */
    public ClusterSnapshot after(
            Set<String> evicted, List<PastEviction> receipts, String node, KeptRoom room) {
        ClusterSnapshot without = without(evicted);
        return new ClusterSnapshot(
                now,
                waiters,
                nodes.stream().map(it -> it.name().equals(node) ? it.keeping(room) : it).toList(),
                without.gpuPods,
                budgets,
                without.disruptionsAllowed,
                Stream.concat(past.stream(), receipts.stream()).toList(),
                refusals,
                completeNodes);
    }

    /**
     * The same once these pods are leaving, which they may not show yet.
     *
     * @param evicted UIDs of the pods
     */
    public ClusterSnapshot without(Set<String> evicted) {
        var allowed = new HashMap<>(disruptionsAllowed);
        var remaining = new ArrayList<Holder>();
        for (Holder gpuPod : gpuPods) {
            boolean leaves = evicted.contains(gpuPod.pod().uid());
            if (leaves && !gpuPod.leaving()) {
                gpuPod.disruptionBudgets().forEach(name -> allowed.merge(name, -1, Integer::sum));
            }
            remaining.add(leaves ? gpuPod.asLeaving() : gpuPod);
        }
        return new ClusterSnapshot(
                now, waiters, nodes, remaining, budgets, allowed, past, refusals, completeNodes);
    }
}
