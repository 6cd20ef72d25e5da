package io.gpusharing.timekeeper.reclaim.plan;

import io.gpusharing.placement.GpuAsk;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Leave;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides for every waiting pod whether somebody is evicted for it, and who.
 *
 * <p>The waiter is in budget and unschedulable for a while; what the scheduler's own preemption can
 * solve is left to it. Victims are pods of budgets that are over now and say so in {@code
 * onExhausted}: the most overdrawn budget first, in it the newest, whole gangs, no more than
 * needed, and only if the waiter then fits.
 */
public final class Planner {

    /** Most waiters for whom one round looks through the cluster; equal ones count once. */
    static final int MAX_LOOKS = 50;

    private final Rules rules;
    private final WaiterQueue queue;
    private int looks;

    public Planner(Rules rules) {
        this(rules, new WaiterQueue());
    }

    /**
     * @param queue goes from round to round
     */
    public Planner(Rules rules, WaiterQueue queue) {
        this.rules = rules;
        this.queue = queue;
    }

    /** All pods of a node, also those without a GPU. */
    public interface NodePods {
        List<GpuPod> on(String node);
    }

    /** For how many waiters the last round looked through the cluster. */
    int looks() {
        return looks;
    }

    /**
     * Everything about a waiter that a look depends on. The hundred pods of a job are alike and are
     * answered once.
     *
     * @param early whether the scheduler is still trusted to help it
     */
    private record Kind(
            String namespace,
            int priority,
            boolean preempts,
            boolean early,
            Amounts requests,
            List<GpuAsk> asks,
            SchedulingConstraints constraints) {}

    private Kind kind(ClusterSnapshot snapshot, Waiter waiter) {
        return new Kind(
                waiter.pod().namespace(),
                waiter.priority(),
                waiter.preempts(),
                snapshot.now().isBefore(waiter.since().plus(rules.schedulerPatience())),
                waiter.requests(),
                waiter.asks(),
                waiter.constraints());
    }

    /**
     * One decision for each waiter, the most important and longest waiting first; each takes for
     * granted that those before it are carried out. For {@link #MAX_LOOKS} kinds of waiters at
     * most; the others have their turn in the next round.
     *
     * @param nodePods asked only for the few nodes that a decision rests on
     */
    public List<Decision> plan(ClusterSnapshot snapshot, NodePods nodePods) {
        var decisions = new ArrayList<Decision>();
        var answers = new HashMap<Kind, Leave>();
        ClusterSnapshot present = snapshot;
        looks = 0;
        for (Waiter waiter : queue.queue(snapshot.waiters())) {
            Optional<Leave> atOnce = atOnce(present, waiter);
            Leave same = answers.get(kind(present, waiter));
            if (atOnce.isPresent()) {
                decisions.add(atOnce.get());
                continue;
            }
            if (same != null) {
                decisions.add(same.of(waiter));
                continue;
            }
            if (looks == MAX_LOOKS) {
                queue.leaveOut(waiter);
                decisions.add(
                        new Leave(
                                waiter,
                                Reason.NEXT_ROUND,
                                "%d other waiters come first".formatted(looks),
                                null,
                                List.of()));
                continue;
            }
            looks++;
            Decision decision = makeRoom(present, waiter);
            for (String node = unseen(decision, present); node != null; ) {
                present = present.withAllPodsOf(node, nodePods.on(node));
                decision = makeRoom(present, waiter);
                node = unseen(decision, present);
            }
            switch (decision) {
                case Evict evict -> {
                    present = present.after(evict, evictions(evict, present));
                    answers.clear();
                }
                case Leave leave -> answers.put(kind(present, waiter), leave);
            }
            decisions.add(decision);
        }
        return decisions;
    }

    /** What the plan will have done, as the next decision sees it. */
    public List<PastEviction> evictions(Evict plan, ClusterSnapshot snapshot) {
        Instant settlesAt = snapshot.now().plus(plan.grace(rules.maxGrace())).plus(rules.settle());
        return plan.victims().stream()
                .map(victim ->
                        new PastEviction(
                                plan.waiter().pod().uid() + "@" + snapshot.now(),
                                snapshot.now(),
                                settlesAt,
                                plan.waiter().pod(),
                                plan.waiter().workload(),
                                snapshot.budgetName(plan.waiter().pod()),
                                victim.budget(),
                                plan.node(),
                                false))
                .toList();
    }

    private static @Nullable String unseen(Decision decision, ClusterSnapshot snapshot) {
        String node =
                switch (decision) {
                    case Evict evict -> evict.node();
                    case Leave leave -> leave.node();
                };
        return node == null || snapshot.completeNodes().contains(node) ? null : node;
    }

    /** What takes no look through the cluster. */
    private Optional<Leave> atOnce(ClusterSnapshot snapshot, Waiter waiter) {
        return notYet(snapshot, waiter).or(() -> repeated(snapshot, waiter));
    }

    private Optional<Leave> notYet(ClusterSnapshot snapshot, Waiter waiter) {
        BudgetAccount budget = snapshot.budgetOf(waiter.pod());
        Instant actsAt = waiter.since().plus(rules.patience());
        if (rules.paused()) {
            return leave(waiter, Reason.PAUSED, "reclaim is paused");
        }
        if (waiter.gated()) {
            return leave(waiter, Reason.GATED, "a scheduling gate keeps it back");
        }
        if (waiter.nominatedNode() != null) {
            return leave(
                    waiter,
                    Reason.NOMINATED,
                    "the scheduler makes room on " + waiter.nominatedNode());
        }
        if (budget != null && budget.isOver()) {
            return leave(
                    waiter,
                    Reason.WAITER_OVER_BUDGET,
                    "budget %s is used up".formatted(budget.name()));
        }
        if (waiter.unjudged() != null) {
            return leave(waiter, Reason.CANNOT_JUDGE, waiter.unjudged());
        }
        if (snapshot.now().isBefore(actsAt)) {
            return leave(waiter, Reason.TOO_EARLY, "waits until " + actsAt);
        }
        return Optional.empty();
    }

    /** Whether room was made for the same workload before, and what became of it. */
    private Optional<Leave> repeated(ClusterSnapshot snapshot, Waiter waiter) {
        List<PastEviction> vain =
                snapshot.past().stream()
                        .filter(it -> !it.helped() && it.workload().equals(waiter.workload()))
                        .toList();
        Optional<PastEviction> open =
                vain.stream()
                        .filter(it -> it.waiter().uid().equals(waiter.pod().uid()))
                        .filter(it -> snapshot.now().isBefore(it.settlesAt()))
                        .findFirst();
        if (open.isPresent()) {
            return leave(
                    waiter,
                    Reason.SETTLING,
                    "room was made on %s; it has until %s"
                            .formatted(open.get().node(), open.get().settlesAt()));
        }
        List<PastEviction> failed =
                vain.stream().filter(it -> !snapshot.now().isBefore(it.settlesAt())).toList();
        long plans = failed.stream().map(PastEviction::plan).distinct().count();
        return failed.stream()
                .map(PastEviction::settlesAt)
                .max(Comparator.naturalOrder())
                .map(last -> last.plus(DisruptionGuard.backOff(rules, plans)))
                .filter(again -> snapshot.now().isBefore(again))
                .flatMap(again ->
                        leave(
                                waiter,
                                Reason.BACKING_OFF,
                                "room was made %d times in vain; not again before %s"
                                        .formatted(plans, again)));
    }

    private Decision makeRoom(ClusterSnapshot snapshot, Waiter waiter) {
        FitCheck fitCheck = new FitCheck(snapshot, waiter);
        List<NodeView> nodes =
                snapshot.nodes().stream()
                        .filter(fitCheck::couldEverFit)
                        .sorted(Comparator.comparing(NodeView::name))
                        .toList();
        if (nodes.isEmpty()) {
            return new Leave(
                    waiter,
                    Reason.NO_NODE,
                    "no node that admits it is large enough",
                    null,
                    List.of());
        }
        return solvedWithoutUs(snapshot, waiter, fitCheck, nodes)
                .<Decision>map(leave -> leave)
                .orElseGet(() ->
                        switch (new Selection(snapshot, rules, waiter, fitCheck, nodes).decide()) {
                            case Evict plan -> limited(snapshot, plan);
                            case Leave leave -> leave;
                        });
    }

    private Optional<Leave> solvedWithoutUs(
            ClusterSnapshot snapshot, Waiter waiter, FitCheck fitCheck, List<NodeView> nodes) {
        Predicate<GpuPod> nobody = gpuPod -> false;
        Predicate<GpuPod> weaker =
                gpuPod -> gpuPod.leaving() || gpuPod.priority() < waiter.priority();
        boolean schedulersTurn =
                waiter.preempts()
                        && snapshot.now().isBefore(waiter.since().plus(rules.schedulerPatience()));
        for (NodeView node : nodes) {
            if (fitCheck.fits(node, nobody)) {
                return leave(waiter, Reason.FITS, node, "it fits on %s as it is");
            }
        }
        for (NodeView node : nodes) {
            if (fitCheck.fits(node, GpuPod::leaving)) {
                return leave(
                        waiter, Reason.FREEING, node, "it fits on %s when pods there have ended");
            }
        }
        for (NodeView node : nodes) {
            if (schedulersTurn
                    && !fitCheck.fitsByTotals(node, GpuPod::leaving)
                    && fitCheck.fitsByTotals(node, weaker)) {
                return leave(
                        waiter, Reason.LEFT_TO_SCHEDULER, node, "the scheduler can preempt on %s");
            }
        }
        return Optional.empty();
    }

    /** A plan larger than the limit goes alone, or it would never be carried out. */
    private Decision limited(ClusterSnapshot snapshot, Evict plan) {
        long recent =
                snapshot.past().stream()
                        .filter(it -> it.at().plus(Duration.ofMinutes(1)).isAfter(snapshot.now()))
                        .count();
        return recent == 0 || recent + plan.victims().size() <= rules.maxPerMinute()
                ? plan
                : new Leave(
                        plan.waiter(),
                        Reason.RATE_LIMITED,
                        "%d pods were evicted within a minute".formatted(recent),
                        null,
                        plan.considered());
    }

    private static Optional<Leave> leave(Waiter waiter, Reason reason, String detail) {
        return Optional.of(new Leave(waiter, reason, detail, null, List.of()));
    }

    private static Optional<Leave> leave(
            Waiter waiter, Reason reason, NodeView node, String detail) {
        return Optional.of(
                new Leave(waiter, reason, detail.formatted(node.name()), node.name(), List.of()));
    }
}
