package io.gpusharing.scheduler.picture;

import static java.util.stream.Collectors.toSet;

import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.placement.PodHold;
import io.gpusharing.scheduler.picture.Past.PastEviction;
import io.gpusharing.scheduler.picture.Past.Refusal;
import io.gpusharing.sharing.ContainerAsk;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The part of the cluster that reclaim reads, at one instant.
 *
 * @param nodes by name
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
        nodes = nodes.stream().sorted(Comparator.comparing(NodeView::name)).toList();
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

    /** The same with more that is held, of nodes that are not complete. */
    public ClusterSnapshot beside(List<Holder> others) {
        return new ClusterSnapshot(
                now,
                waiters,
                nodes,
                Stream.concat(gpuPods.stream(), others.stream()).toList(),
                budgets,
                disruptionsAllowed,
                past,
                refusals,
                completeNodes);
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
        if (evicted.isEmpty()) {
            return this;
        }
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

    /**
     * A pod that holds resources of a node.
     *
     * @param since when it was bound
     * @param share micro-GPUs it holds; none for a pod without GPUs
     * @param hold what it holds of the node
     * @param gang pods with the same one are evicted together or not at all: the owning Job, a pod
     *     group, or the pod itself, as always for one that should be gone already
     * @param leaving whether it is being deleted and will be gone within the longest grace that
     *     reclaim gives; not if it should be gone already
     * @param exemption why it must never be evicted, in words; null if nothing speaks for that
     * @param disruptionBudgets names of the PodDisruptionBudgets of its namespace that select it
     * @param end by when it is to have ended if it is being deleted; null if it is not
     * @param grace what it has to end: its own grace, or what it was deleted with if that is longer
     * @param lowered whether it was admitted while its budget was used up, with the class of that
     */
    public record Holder(
            PodRef pod,
            String node,
            Instant since,
            int priority,
            long share,
            PodHold hold,
            String gang,
            boolean leaving,
            @Nullable String exemption,
            Set<String> disruptionBudgets,
            @Nullable Instant end,
            Duration grace,
            boolean lowered) {

        public boolean hasGpu() {
            return share > 0;
        }

        /** Whether it goes with no other. */
        public boolean isAlone() {
            return gang.equals(pod.uid());
        }

        /** Returns the pod as one that goes alone. */
        public Holder alone() {
            return with(pod.uid(), leaving);
        }

        /** Returns the pod as one of this gang. */
        public Holder within(String another) {
            return with(another, leaving);
        }

        /** The same pod, once it was asked to end. */
        public Holder asLeaving() {
            return with(gang, true);
        }

        private Holder with(String together, boolean leaves) {
            return new Holder(
                    pod,
                    node,
                    since,
                    priority,
                    share,
                    hold,
                    together,
                    leaves,
                    exemption,
                    disruptionBudgets,
                    end,
                    grace,
                    lowered);
        }
    }

    /**
     * A pod with GPUs that the scheduler says it cannot place.
     *
     * @param since when it said so first
     * @param nominatedNode where the scheduler is making room for it already; null if nowhere
     * @param gated whether a scheduling gate keeps it back
     * @param preempts whether the scheduler may preempt others for it
     * @param ask what it needs of a node
     * @param workload what it belongs to: its controller's UID, or its own
     * @param constraints where it may run
     * @param unjudged what it asks for that reclaim cannot judge, in words; null if it judges all
     * @param reach on which nodes its scheduler can place it
     */
    public record Waiter(
            PodRef pod,
            Instant since,
            @Nullable String nominatedNode,
            boolean gated,
            int priority,
            boolean preempts,
            PodAsk ask,
            String workload,
            SchedulingConstraints constraints,
            @Nullable String unjudged,
            Reach reach) {

        /** The same, had it waited since then. */
        public Waiter waitingSince(Instant then) {
            return with(then, ask);
        }

        /** The same, on this GPU of ours and on no other. */
        public Waiter only(String gpu) {
            return with(
                    since,
                    new PodAsk(
                            ask.requests(), ask.gpus(), ContainerAsk.only(ask.containers(), gpu)));
        }

        private Waiter with(Instant then, PodAsk what) {
            return new Waiter(
                    pod,
                    then,
                    nominatedNode,
                    gated,
                    priority,
                    preempts,
                    what,
                    workload,
                    constraints,
                    unjudged,
                    reach);
        }
    }
}
