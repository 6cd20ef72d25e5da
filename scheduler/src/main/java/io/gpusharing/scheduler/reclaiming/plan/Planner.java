package io.gpusharing.scheduler.reclaiming.plan;

import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.Past.PastEviction;
import io.gpusharing.scheduler.pods.EndingRules;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Reason;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Victim;
import io.gpusharing.scheduler.reclaiming.plan.RoundSnapshot.Node;
import io.gpusharing.scheduler.victims.Room;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * Decides for every waiting pod whether somebody is evicted for it, and who.
 *
 * <p>The waiter is in budget and unschedulable for a while; what the scheduler's own preemption can
 * solve is left to it. Victims are pods of budgets that are over now and say so in {@code
 * onExhausted}: the most overdrawn budget first, in it the newest, whole gangs, no more than
 * needed, and only if the waiter then fits.
 */
public final class Planner {

    /** For so many waiters one round searches the cluster; equal ones count once. */
    static final int MAX_EVALUATIONS = 50;

    private final Rules rules;
    private final WaiterQueue queue;
    private final ListedNodes listed;
    private int evaluations;

    public Planner(Rules rules) {
        this(rules, new WaiterQueue(), new ListedNodes());
    }

    /**
     * @param queue goes from round to round
     * @param listed does, too
     */
    public Planner(Rules rules, WaiterQueue queue, ListedNodes listed) {
        this.rules = rules;
        this.queue = queue;
        this.listed = listed;
    }

    /** For how many waiters the last round searched the cluster. */
    int evaluations() {
        return evaluations;
    }

    /**
     * One decision for each waiter, the most important and longest waiting first; each takes for
     * granted that those before it are carried out. For {@link #MAX_EVALUATIONS} kinds of waiters
     * at most; the others have their turn in the next round.
     *
     * @param nodePods all pods of a node, also those without a GPU; asked only for the few nodes
     *     that a decision rests on
     */
    public List<Decision> plan(ClusterSnapshot snapshot, Function<String, List<Holder>> nodePods) {
        var decisions = new ArrayList<Decision>();
        var answers = new HashMap<RoundPicture.Kind, Leave>();
        listed.forget(snapshot);
        var picture = new RoundPicture(snapshot, rules, listed, nodePods, this::decide);
        evaluations = 0;
        for (Waiter waiter : queue.queue(snapshot.waiters())) {
            ClusterSnapshot present = picture.known();
            Optional<Leave> refused = new WaiterFilter(present, rules).refuse(waiter);
            if (refused.isPresent()) {
                decisions.add(refused.get());
                continue;
            }
            RoundPicture.Kind kind = picture.kind(waiter);
            Leave same = answers.get(kind);
            if (same != null) {
                decisions.add(same.of(waiter));
                continue;
            }
            if (evaluations == MAX_EVALUATIONS) {
                decisions.add(
                        postponed(waiter, "%d other waiters come first".formatted(evaluations)));
                continue;
            }
            evaluations++;
            Decision decision =
                    picture.decide(waiter)
                            .orElseGet(() ->
                                    postponed(
                                            waiter,
                                            "more nodes have no room beside other pods than are looked at in a round"));
            switch (decision) {
                case Evict evict -> {
                    picture.becomes(carriedOut(evict, picture.known()));
                    answers.clear();
                }
                case Leave leave -> {
                    // Who was refused whom is for each waiter another question.
                    if (leave.reason() != Reason.KEPT && leave.reason() != Reason.RATE_LIMITED) {
                        answers.put(kind, leave);
                    }
                }
            }
            decisions.add(decision);
        }
        return decisions;
    }

    private Leave postponed(Waiter waiter, String why) {
        queue.postpone(waiter);
        return new Leave(waiter, Reason.NEXT_ROUND, why, null, List.of());
    }

    private ClusterSnapshot carriedOut(Evict plan, ClusterSnapshot snapshot) {
        return snapshot.after(
                plan.victimUids(),
                evictions(plan, snapshot),
                plan.node(),
                new KeptRoom(
                        plan.waiter().pod().uid(),
                        plan.waiter().priority(),
                        plan.node(),
                        plan.gpus(),
                        plan.victimUids(),
                        settlesAt(plan, snapshot)));
    }

    /** What the plan will have done, as the next decision sees it. */
    private List<PastEviction> evictions(Evict plan, ClusterSnapshot snapshot) {
        Instant settlesAt = settlesAt(plan, snapshot);
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
                                true,
                                false))
                .toList();
    }

    /** By when the waiter of a plan should be bound. */
    public Instant settlesAt(Evict plan, ClusterSnapshot snapshot) {
        return new EndingRules(rules.settle(), rules.maxGrace())
                .settlesAt(snapshot.now(), plan.victims().stream().map(Victim::grace));
    }

    private Decision decide(RoundSnapshot round, Waiter waiter) {
        ClusterSnapshot snapshot = round.snapshot();
        FitCheck fitCheck = new FitCheck(snapshot, waiter);
        List<Node> nodes = round.nodes().stream().filter(fitCheck::couldEverFit).toList();
        if (nodes.isEmpty()) {
            return new Leave(
                    waiter,
                    Reason.NO_NODE,
                    "no node that admits it and that its scheduler can use is large enough",
                    null,
                    List.of());
        }
        boolean leftToScheduler = rules.trustScheduler(waiter, snapshot.now());
        List<Node> hopeful =
                nodes.stream().filter(it -> fitCheck.couldFit(it, leftToScheduler)).toList();
        return solvedWithoutEviction(waiter, fitCheck, hopeful, leftToScheduler)
                .<Decision>map(leave -> leave)
                .orElseGet(() ->
                        switch (new VictimSelector(round, rules, waiter, fitCheck, nodes, hopeful)
                                .select()) {
                            case Evict plan -> limited(snapshot, plan);
                            case Leave leave -> leave;
                        });
    }

    private Optional<Leave> solvedWithoutEviction(
            Waiter waiter, FitCheck fitCheck, List<Node> nodes, boolean leftToScheduler) {
        // In the place of gangs: who is leaving, and whom the scheduler could preempt.
        ToIntFunction<Holder> gangs =
                pod -> pod.leaving() ? 0 : pod.priority() < waiter.priority() ? 1 : Room.STAYS;
        List<Room> rooms = nodes.stream().map(node -> fitCheck.room(node, gangs)).toList();
        BitSet nobody = new BitSet();
        BitSet leaving = BitSet.valueOf(new long[] {0b1});
        BitSet weaker = BitSet.valueOf(new long[] {0b11});
        for (Room room : rooms) {
            if (room.fits(nobody)) {
                return leave(waiter, Reason.FITS, room, "it fits on %s as it is");
            }
        }
        for (Room room : rooms) {
            if (room.fits(leaving)) {
                return leave(
                        waiter, Reason.FREEING, room, "it fits on %s when pods there have ended");
            }
        }
        for (Room room : rooms) {
            if (leftToScheduler && !room.fitsIntoSums(leaving) && room.fitsIntoSums(weaker)) {
                return leave(
                        waiter, Reason.LEFT_TO_SCHEDULER, room, "the scheduler can preempt on %s");
            }
        }
        return Optional.empty();
    }

    /** A plan larger than the limit goes alone, or it would never be carried out. */
    private Decision limited(ClusterSnapshot snapshot, Evict plan) {
        if (plan.victims().size() > GpuEviction.MOST_VICTIMS) {
            return tooMuch(
                    plan,
                    "%d pods would have to go, and one plan ends %d at most"
                            .formatted(plan.victims().size(), GpuEviction.MOST_VICTIMS));
        }
        long recent =
                snapshot.past().stream()
                        .filter(PastEviction::went)
                        .filter(it -> it.at().plus(Duration.ofMinutes(1)).isAfter(snapshot.now()))
                        .count();
        return recent == 0 || recent + plan.victims().size() <= rules.maxPerMinute()
                ? plan
                : tooMuch(plan, "%d pods were evicted within a minute".formatted(recent));
    }

    private static Leave tooMuch(Evict plan, String detail) {
        return new Leave(plan.waiter(), Reason.RATE_LIMITED, detail, null, plan.considered());
    }

    private static Optional<Leave> leave(Waiter waiter, Reason reason, Room room, String detail) {
        return Optional.of(
                new Leave(waiter, reason, detail.formatted(room.node()), room.node(), List.of()));
    }
}
