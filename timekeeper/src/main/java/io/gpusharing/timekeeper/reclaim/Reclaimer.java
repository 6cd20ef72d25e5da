package io.gpusharing.timekeeper.reclaim;

import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.partitioningBy;
import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.budget.Standing;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.timekeeper.allocation.PodFacts;
import io.gpusharing.timekeeper.allocation.PodFacts.Placement;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.leader.LeaderTask;
import io.gpusharing.timekeeper.reclaim.plan.Decision;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Leave;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Reason;
import io.gpusharing.timekeeper.reclaim.plan.Planner;
import io.gpusharing.timekeeper.reclaim.plan.WaiterQueue;
import io.gpusharing.timekeeper.reclaim.snapshot.ClusterSnapshot;
import io.gpusharing.timekeeper.reclaim.snapshot.PastEviction;
import io.gpusharing.timekeeper.reclaim.snapshot.PodRef;
import java.time.Clock;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Looks for waiting pods regularly and evicts where the planner says so. While nobody waits, or
 * nobody could be evicted, it asks the API server nothing. Only the leader evicts.
 */
@Component
class Reclaimer extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(Reclaimer.class);

    private final ClusterView view;
    private final Budgets budgets;
    private final ClusterSnapshotReader snapshots;
    private final EvictionPlans plans;
    private final Evictions evictions;
    private final Reservations reservations;
    private final ReclaimProperties properties;
    private final ReclaimMetrics metrics;
    private final Map<String, Reason> explained = new HashMap<>();
    private final WaiterQueue queue = new WaiterQueue();

    /** Budgets that are over by a clock that was ahead. */
    private Set<String> ahead = Set.of();

    Reclaimer(
            ClusterView view,
            Budgets budgets,
            ClusterSnapshotReader snapshots,
            EvictionPlans plans,
            Evictions evictions,
            Reservations reservations,
            ReclaimProperties properties,
            ReclaimMetrics metrics,
            Leadership leadership,
            Clock clock) {
        super("reclaim", leadership, clock);
        this.view = view;
        this.budgets = budgets;
        this.snapshots = snapshots;
        this.plans = plans;
        this.evictions = evictions;
        this.reservations = reservations;
        this.properties = properties;
        this.metrics = metrics;
    }

    /** Settles what is open, and makes room for whoever waits. */
    @Override
    protected Instant work(Instant now) {
        settle(now);
        if (budgets.settled()) {
            makeRoom(now);
        }
        return now.plus(properties.check());
    }

    @Override
    protected void handOver() {
        explained.clear();
        metrics.decided(List.of());
        leaveAlone(Set.of());
    }

    private void makeRoom(Instant now) {
        if (!somebodyCouldGo(now) || !somebodyWaits(now)) {
            explained.clear();
            metrics.decided(List.of());
            return;
        }
        long written = plans.written();
        Instant back = now.minus(properties.lookBack());
        ClusterSnapshotReader.Reading reading =
                snapshots.read(plans.since(back), plans.refusalsSince(back));
        Instant read = reading.snapshot().now();
        Planner planner = new Planner(properties.rules(reading.paused()), queue);
        List<Decision> decisions = planner.plan(reading.snapshot(), reading.nodePods());
        metrics.decided(decisions);
        for (Decision decision : decisions) {
            if (!leads()) {
                return;
            }
            switch (decision) {
                case Evict evict -> {
                    if (reserved(evict, read)
                            && !carryOut(written++, evict, reading.snapshot(), planner, read)) {
                        return;
                    }
                }
                case Leave leave -> explain(leave);
            }
        }
        explained
                .keySet()
                .retainAll(decisions.stream().map(it -> it.waiter().pod().uid()).toList());
    }

    /**
     * Whether nobody else has planned anything since the snapshot was read.
     *
     * @param read how many plans had been written by then, with those of this round
     */
    private boolean carryOut(
            long read, Evict plan, ClusterSnapshot snapshot, Planner planner, Instant now) {
        List<PastEviction> planned = planner.evictions(plan, snapshot);
        Optional<EvictionPlan> written =
                plans.plan(
                        read,
                        plan,
                        snapshot.budgetName(plan.waiter().pod()),
                        now,
                        planned.getFirst().settlesAt());
        if (written.isEmpty()) {
            return false;
        }
        Map<String, Evictions.Answer> answers = evictions.carryOut(plan, this::leads, now);
        plan.victims()
                .forEach(victim -> {
                    Evictions.Answer answer = answers.get(victim.pod().uid());
                    if (answer != null) {
                        metrics.carriedOut(victim, answer.result());
                    }
                });
        plans.record(written.get(), answers);
        if (answers.values().stream().noneMatch(it -> it.result().ended())) {
            release(plan, now);
        }
        explained.remove(plan.waiter().pod().uid());
        return true;
    }

    /** Without a place for the waiter somebody else would get the room. */
    private boolean reserved(Evict plan, Instant now) {
        try {
            reservations.keep(plan, now);
            return true;
        } catch (KubernetesClientException e) {
            if (explained.put(plan.waiter().pod().uid(), Reason.NOT_KEPT) != Reason.NOT_KEPT) {
                log.atWarn()
                        .addKeyValue("waiter", plan.waiter().pod())
                        .addKeyValue("reason", e.getMessage())
                        .log("nobody is evicted: room cannot be kept for whom it would be");
            }
            return false;
        }
    }

    private void release(Evict plan, Instant now) {
        try {
            reservations.release(plan, now);
        } catch (KubernetesClientException e) {
            log.atWarn()
                    .addKeyValue("waiter", plan.waiter().pod())
                    .addKeyValue("reason", e.getMessage())
                    .log("room is kept for a while though nobody went for it");
        }
    }

    /** Notes what became of those for whom room was made, once it is known. */
    private void settle(Instant now) {
        if (!view.listed()) {
            // Who was bound while nobody ran would seem to wait still.
            return;
        }
        for (EvictionPlan open : plans.open()) {
            Optional<PodFacts> waiter = view.pod(open.waiter.uid());
            String node = waiter.map(it -> it.placement().node()).orElse(null);
            Outcome.of(open.node, open.settlesAt, waiter.isPresent(), node, now)
                    .ifPresent(outcome -> {
                        plans.settle(open, outcome, now);
                        metrics.settled(outcome);
                    });
        }
    }

    private boolean somebodyWaits(Instant now) {
        return view.pods().stream()
                .map(PodFacts::placement)
                .filter(it -> it.node() == null && !it.gated() && it.nominatedNode() == null)
                .map(Placement::unschedulableSince)
                .anyMatch(
                        since -> since != null && !now.isBefore(since.plus(properties.patience())));
    }

    private boolean somebodyCouldGo(Instant now) {
        Map<Boolean, Set<String>> over =
                budgets.states().values().stream()
                        .filter(it -> it.rate() > 0)
                        .filter(it -> it.spec().onExhausted().allowsEviction())
                        .filter(it -> it.standing(now) instanceof Standing.OverBudget)
                        .collect(
                                partitioningBy(
                                        it -> it.isAhead(now),
                                        mapping(BudgetState::name, toSet())));
        leaveAlone(over.getOrDefault(true, Set.of()));
        return !over.getOrDefault(false, Set.of()).isEmpty();
    }

    /** One line when they change, not one a second. */
    private void leaveAlone(Set<String> now) {
        metrics.leftAlone(now.size());
        if (!now.equals(ahead) && !now.isEmpty()) {
            log.atWarn()
                    .addKeyValue("budgets", now)
                    .log(
                            "nobody of these budgets is evicted: a clock was ahead when they were computed");
        }
        ahead = now;
    }

    /** One line when the reason changes, not one a second. */
    private void explain(Leave leave) {
        PodRef pod = leave.waiter().pod();
        if (leave.reason() == Reason.NEXT_ROUND) {
            return;
        }
        if (explained.put(pod.uid(), leave.reason()) != leave.reason()) {
            log.atInfo()
                    .addKeyValue("waiter", pod)
                    .addKeyValue("reason", leave.reason())
                    .addKeyValue("detail", leave.detail())
                    .log("nobody is evicted");
        }
    }
}
