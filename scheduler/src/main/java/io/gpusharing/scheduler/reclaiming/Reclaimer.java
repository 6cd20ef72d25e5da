package io.gpusharing.scheduler.reclaiming;

import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.partitioningBy;
import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.budgets.Doubts;
import io.gpusharing.scheduler.budgets.KnownBudget;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.picture.reading.ClusterSnapshotReader;
import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Reason;
import io.gpusharing.scheduler.reclaiming.plan.ListedNodes;
import io.gpusharing.scheduler.reclaiming.plan.Planner;
import io.gpusharing.scheduler.reclaiming.plan.WaiterQueue;
import io.gpusharing.scheduler.reservation.Reservations;
import io.gpusharing.web.LeaderTask;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Looks for waiting pods regularly, and orders evictions where the planner says so: the evictor
 * carries them out. It asks the API server nothing while nobody waits or could be evicted, and else
 * for no list but of the pods of those nodes that a decision rests on. Only the replica that evicts
 * orders evictions.
 */
final class Reclaimer extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(Reclaimer.class);

    /** What ought not to be. */
    private static final Set<Reason> TROUBLES = Set.of(Reason.NOT_KEPT, Reason.NOT_WRITTEN);

    private final Budgets budgets;
    private final ClusterSnapshotReader snapshots;
    private final ReclaimEvictions evictions;
    private final Reservations reservations;
    private final ReclaimProperties properties;
    private final ReclaimMetrics metrics;
    private final Map<String, Reason> explained = new HashMap<>();
    private final WaiterQueue queue = new WaiterQueue();
    private final ListedNodes listed = new ListedNodes();

    /** UIDs of plans in vain for which nothing is kept any more. */
    private final Set<String> released = new HashSet<>();

    /** Budgets that are over by a clock that was ahead. */
    private Set<String> ahead = Set.of();

    /** Why nothing that is known may be acted on; empty if some of it may. */
    private Optional<String> doubt = Optional.empty();

    Reclaimer(
            Budgets budgets,
            ClusterSnapshotReader snapshots,
            ReclaimEvictions evictions,
            Reservations reservations,
            ReclaimProperties properties,
            ReclaimMetrics metrics,
            Leadership leadership,
            Clock clock) {
        super("reclaim", leadership, clock);
        this.budgets = budgets;
        this.snapshots = snapshots;
        this.evictions = evictions;
        this.reservations = reservations;
        this.properties = properties;
        this.metrics = metrics;
    }

    /** Makes room for whoever waits. */
    @Override
    protected Instant work(Instant now) {
        releaseWhatWasInVain(now);
        if (budgets.areKnown()) {
            makeRoom(now);
        }
        return now.plus(properties.check());
    }

    @Override
    protected void takeOver() {
        released.clear();
        listed.clear();
    }

    @Override
    protected void handOver() {
        explained.clear();
        metrics.left(List.of());
        leaveAlone(Set.of());
    }

    private void makeRoom(Instant now) {
        if (!somebodyCouldGo(now) || !somebodyWaits(now)) {
            explained.clear();
            metrics.left(List.of());
            return;
        }
        Doubts doubts = snapshots.doubts(now);
        note(doubts.ofAll());
        if (doubts.ofAll().isPresent() || !evictions.areCurrent()) {
            return;
        }
        metrics.time(() -> decide(now, doubts));
    }

    private void decide(Instant now, Doubts doubts) {
        long last = evictions.last();
        ClusterSnapshotReader.Reading reading =
                snapshots.read(evictions.past(now.minus(properties.lookBack())), doubts);
        Planner planner = new Planner(properties.rules(reading.paused()), queue, listed);
        List<Decision> decisions = planner.plan(reading.snapshot(), reading.nodePods());
        var left = new ArrayList<Leave>();
        for (Decision decision : decisions) {
            if (!leads()) {
                return;
            }
            switch (decision) {
                case Leave leave -> left.add(leave);
                case Evict plan -> {
                    Instant settlesAt = planner.settlesAt(plan, reading.snapshot());
                    GpuEviction order =
                            new EvictionOrder(reading.snapshot())
                                    .of(ReclaimEvictions.name(last + 1), plan, settlesAt);
                    switch (write(plan, order, settlesAt, now)) {
                        case Ordered _ -> last++;
                        case Hindered(Leave leave) -> left.add(leave);
                        case Overtaken _ -> {
                            return;
                        }
                    }
                }
            }
        }
        metrics.left(left);
        left.forEach(this::explain);
        explained.keySet().retainAll(left.stream().map(it -> it.waiter().pod().uid()).toList());
    }

    /** What became of a plan when it was to be written down. */
    private sealed interface Writing {}

    /** It is written. */
    private record Ordered() implements Writing {}

    /** It cannot be, and others may. */
    private record Hindered(Leave why) implements Writing {}

    /** Another replica has planned something since the snapshot was read, or leads. */
    private record Overtaken() implements Writing {}

    /** Without a place for the waiter somebody else would get the room. */
    private Writing write(Evict plan, GpuEviction order, Instant settlesAt, Instant now) {
        if (evictions.areTooMany()) {
            return hindered(
                    plan,
                    Reason.NOT_WRITTEN,
                    "there are more than %d GpuEvictions".formatted(GpuEviction.MOST));
        }
        try {
            if (!keep(plan, settlesAt)) {
                return new Overtaken();
            }
        } catch (KubernetesClientException e) {
            return hindered(plan, Reason.NOT_KEPT, String.valueOf(e.getMessage()));
        }
        try {
            return leads() && evictions.write(order) ? new Ordered() : new Overtaken();
        } catch (KubernetesClientException e) {
            if (e.getCode() == 0) {
                // Nobody knows whether it was written.
                throw e;
            }
            release(plan.waiter().pod(), settlesAt, now);
            return hindered(plan, Reason.NOT_WRITTEN, String.valueOf(e.getMessage()));
        }
    }

    /** Our scheduler would give the room to whoever comes first. */
    private boolean keep(Evict plan, Instant until) {
        return !properties.reserve()
                || plan.gpus().isEmpty()
                || reservations.keep(EvictionOrder.room(plan, until), this::leads);
    }

    private static Hindered hindered(Evict plan, Reason reason, String detail) {
        return new Hindered(
                new Leave(plan.waiter(), reason, detail, plan.node(), plan.considered()));
    }

    /**
     * Keeps no longer what was kept for waiters for whom nobody went in the end. What another
     * replica has planned and kept is ended by whoever leads when that is known.
     */
    private void releaseWhatWasInVain(Instant now) {
        List<ReclaimPlan> inVain =
                evictions.since(now.minus(properties.lookBack())).stream()
                        .filter(it -> it.isInVain() && now.isBefore(it.settlesAt()))
                        .toList();
        released.retainAll(inVain.stream().map(ReclaimPlan::uid).toList());
        for (ReclaimPlan plan : inVain) {
            if (leads() && released.add(plan.uid())) {
                release(plan.waiter(), plan.settlesAt(), now);
            }
        }
    }

    private void release(PodRef waiter, Instant settlesAt, Instant now) {
        if (!properties.reserve()) {
            return;
        }
        try {
            reservations.release(waiter.uid(), settlesAt, now);
        } catch (KubernetesClientException e) {
            log.atWarn()
                    .addKeyValue("waiter", waiter)
                    .addKeyValue("reason", e.getMessage())
                    .log("room is kept for a while though nobody went for it");
        }
    }

    private boolean somebodyWaits(Instant now) {
        return snapshots.anyWaitsSince(now.minus(properties.patience()));
    }

    private boolean somebodyCouldGo(Instant now) {
        Map<Boolean, Set<String>> over =
                budgets.all().stream()
                        .filter(it -> it.rate() > 0)
                        // Of which pods its own view decides.
                        .filter(it -> it.onExhausted().allowsEviction(true))
                        .filter(it -> it.isOver(now))
                        .collect(
                                partitioningBy(
                                        it -> it.isAhead(now),
                                        mapping(KnownBudget::name, toSet())));
        leaveAlone(over.getOrDefault(true, Set.of()));
        return !over.getOrDefault(false, Set.of()).isEmpty();
    }

    /** One line when that changes, not one a second. */
    private void note(Optional<String> present) {
        if (!present.equals(doubt)) {
            present.ifPresent(why ->
                    log.atWarn()
                            .addKeyValue("reason", why)
                            .log("nobody is evicted: what is known is in doubt"));
        }
        doubt = present;
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
            log.atLevel(TROUBLES.contains(leave.reason()) ? Level.WARN : Level.INFO)
                    .addKeyValue("waiter", pod)
                    .addKeyValue("reason", leave.reason())
                    .addKeyValue("detail", leave.detail())
                    .log("nobody is evicted");
        }
    }
}
