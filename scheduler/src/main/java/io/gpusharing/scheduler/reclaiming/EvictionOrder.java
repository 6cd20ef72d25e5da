package io.gpusharing.scheduler.reclaiming;

import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Considered;
import io.gpusharing.kubernetes.GpuEviction.Spec;
import io.gpusharing.kubernetes.GpuEvictions;
import io.gpusharing.kubernetes.GpuReservation;
import io.gpusharing.kubernetes.GpuReservation.Maker;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Candidate;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Victim;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Writes a plan as the objects by which it is carried out. */
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
        return GpuEvictions.of(
                name,
                new Spec(
                        Cause.Reclaim.name(),
                        plan.node(),
                        plan.victims().stream().map(this::victim).toList(),
                        waiter(plan.waiter()),
                        settlesAt.toString(),
                        considered(plan)));
    }

    /** The room that a plan makes, to be kept for its waiter until then. */
    static GpuReservation room(Evict plan, Instant until) {
        PodRef pod = plan.waiter().pod();
        return GpuReservation.of(
                new GpuReservation.Waiter(pod.namespace(), pod.name(), pod.uid()),
                plan.waiter().priority(),
                Maker.Reclaim,
                plan.node(),
                plan.gpus(),
                plan.victimUids(),
                until);
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
                refused == null ? null : refused.toString(),
                victim.lowered() ? true : null);
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
