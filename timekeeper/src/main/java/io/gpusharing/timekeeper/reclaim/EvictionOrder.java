package io.gpusharing.timekeeper.reclaim;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Considered;
import io.gpusharing.kubernetes.GpuEviction.Spec;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Candidate;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Victim;
import io.gpusharing.timekeeper.reclaim.snapshot.BudgetAccount;
import io.gpusharing.timekeeper.reclaim.snapshot.ClusterSnapshot;
import io.gpusharing.timekeeper.reclaim.snapshot.PodRef;
import io.gpusharing.timekeeper.reclaim.snapshot.Waiter;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Writes a plan as the {@code GpuEviction} by which it is carried out. */
final class EvictionOrder {

    private final ClusterSnapshot snapshot;

    /**
     * @param snapshot from which the plan was drawn up
     */
    EvictionOrder(ClusterSnapshot snapshot) {
        this.snapshot = snapshot;
    }

    /**
     * The object.
     *
     * @param settlesAt by when the waiter should be bound
     */
    GpuEviction of(String name, Evict plan, Instant settlesAt) {
        var order = new GpuEviction();
        order.setMetadata(new ObjectMetaBuilder().withName(name).build());
        order.setSpec(
                new Spec(
                        Cause.Reclaim.name(),
                        plan.node(),
                        plan.victims().stream().map(this::victim).toList(),
                        waiter(plan.waiter()),
                        settlesAt.toString(),
                        considered(plan)));
        return order;
    }

    private GpuEviction.Victim victim(Victim victim) {
        PodRef pod = victim.pod();
        BudgetAccount budget = snapshot.budgetOf(pod);
        Instant refused = victim.refusedSince();
        return new GpuEviction.Victim(
                pod.namespace(),
                pod.name(),
                pod.uid(),
                victim.node(),
                victim.budget(),
                budget == null ? null : budget.standing().word(),
                victim.gang(),
                GpuEviction.inShort(victim.why()),
                victim.cost(),
                refused == null ? null : refused.toString());
    }

    private GpuEviction.Waiter waiter(Waiter waiter) {
        PodRef pod = waiter.pod();
        BudgetAccount budget = snapshot.budgetOf(pod);
        return new GpuEviction.Waiter(
                pod.namespace(),
                pod.name(),
                pod.uid(),
                budget == null ? null : budget.name(),
                waiter.workload(),
                waiter.since().toString());
    }

    /** The nearest are those that could have gone as well, then those of the same node. */
    private static Considered considered(Evict plan) {
        Set<String> victims = plan.victimUids();
        List<Candidate> others =
                plan.considered().stream().filter(it -> !victims.contains(it.pod().uid())).toList();
        Map<String, Integer> spared = new TreeMap<>();
        others.forEach(it -> {
            if (it.spared() != null) {
                spared.merge(it.spared().kind(), 1, Integer::sum);
            }
        });
        List<GpuEviction.Candidate> nearest =
                others.stream()
                        .sorted(
                                Comparator.comparing((Candidate it) -> !it.couldGo())
                                        .thenComparing(it -> !it.node().equals(plan.node())))
                        .limit(GpuEviction.MOST_CANDIDATES)
                        .map(EvictionOrder::candidate)
                        .toList();
        return new Considered(spared, nearest);
    }

    // The kind alone: the words may name another pod of its namespace, which readers may not see.
    private static GpuEviction.Candidate candidate(Candidate it) {
        return new GpuEviction.Candidate(
                it.pod().namespace(),
                it.pod().name(),
                it.pod().uid(),
                it.node(),
                it.budget(),
                it.spared() == null || it.couldGo() ? null : it.spared().kind());
    }
}
