package io.gpusharing.timekeeper.reclaim;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.reclaim.Decision.Candidate;
import io.gpusharing.timekeeper.reclaim.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.Decision.Leave;
import io.gpusharing.timekeeper.reclaim.Decision.Reason;
import io.gpusharing.timekeeper.reclaim.Decision.Victim;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides for every waiting pod whether somebody is evicted for it, and who.
 *
 * <p>The waiter is in budget and unschedulable for a while; what the scheduler's own preemption can
 * solve is left to it. Victims are pods of budgets that are over now and say so in {@code
 * onExhausted}: the most overdrawn budget first, in it the newest, whole gangs, no more than
 * needed, and only if the waiter then fits.
 */
final class Planner {

    private static final Duration LONGEST_BACK_OFF = Duration.ofHours(1);

    /** Most waiters for whom one round looks through the cluster; equal ones count once. */
    static final int MOST_LOOKS = 50;

    private final Rules rules;
    private final Turns turns;
    private int looks;

    Planner(Rules rules) {
        this(rules, new Turns());
    }

    /**
     * @param turns goes from round to round
     */
    Planner(Rules rules, Turns turns) {
        this.rules = rules;
        this.turns = turns;
    }

    /** All pods of a node, also those without a GPU. */
    interface NodePods {
        List<Holder> on(String node);
    }

    /** For how many waiters the last round looked through the cluster. */
    int looks() {
        return looks;
    }

    /**
     * What makes two waiters the same in all that a look depends on: the hundred pods of a job are
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
            NodeWishes wishes) {}

    private Kind kind(Scene scene, Waiter waiter) {
        return new Kind(
                waiter.pod().namespace(),
                waiter.priority(),
                waiter.preempts(),
                scene.now().isBefore(waiter.since().plus(rules.schedulerPatience())),
                waiter.requests(),
                waiter.asks(),
                waiter.wishes());
    }

    /**
     * One decision for each waiter, the most important and longest waiting first; each takes for
     * granted that those before it are carried out. For {@link #MOST_LOOKS} kinds of waiters at
     * most; the others have their turn in the next round.
     *
     * @param nodePods asked only for the few nodes that a decision rests on
     */
    List<Decision> plan(Scene scene, NodePods nodePods) {
        var decisions = new ArrayList<Decision>();
        var answers = new HashMap<Kind, Leave>();
        Scene present = scene;
        looks = 0;
        for (Waiter waiter : turns.queue(scene.waiters())) {
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
            if (looks == MOST_LOOKS) {
                turns.leaveOut(waiter);
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
    List<PastEviction> evictions(Evict plan, Scene scene) {
        Instant settlesAt = scene.now().plus(plan.grace(rules.maxGrace())).plus(rules.settle());
        return plan.victims().stream()
                .map(victim ->
                        new PastEviction(
                                plan.waiter().pod().uid() + "@" + scene.now(),
                                scene.now(),
                                settlesAt,
                                plan.waiter().pod(),
                                plan.waiter().workload(),
                                scene.budgetName(plan.waiter().pod()),
                                victim.budget(),
                                plan.node(),
                                false))
                .toList();
    }

    private static @Nullable String unseen(Decision decision, Scene scene) {
        String node =
                switch (decision) {
                    case Evict evict -> evict.node();
                    case Leave leave -> leave.node();
                };
        return node == null || scene.completeNodes().contains(node) ? null : node;
    }

    /** What takes no look through the cluster. */
    private Optional<Leave> atOnce(Scene scene, Waiter waiter) {
        return notYet(scene, waiter).or(() -> repeated(scene, waiter));
    }

    private Optional<Leave> notYet(Scene scene, Waiter waiter) {
        BudgetView budget = scene.budgetOf(waiter.pod());
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
        if (scene.now().isBefore(actsAt)) {
            return leave(waiter, Reason.TOO_EARLY, "waits until " + actsAt);
        }
        return Optional.empty();
    }

    /** Whether room was made for the same workload before, and what became of it. */
    private Optional<Leave> repeated(Scene scene, Waiter waiter) {
        List<PastEviction> vain =
                scene.past().stream()
                        .filter(it -> !it.helped() && it.workload().equals(waiter.workload()))
                        .toList();
        Optional<PastEviction> open =
                vain.stream()
                        .filter(it -> it.waiter().uid().equals(waiter.pod().uid()))
                        .filter(it -> scene.now().isBefore(it.settlesAt()))
                        .findFirst();
        if (open.isPresent()) {
            return leave(
                    waiter,
                    Reason.SETTLING,
                    "room was made on %s; it has until %s"
                            .formatted(open.get().node(), open.get().settlesAt()));
        }
        List<PastEviction> failed =
                vain.stream().filter(it -> !scene.now().isBefore(it.settlesAt())).toList();
        long plans = failed.stream().map(PastEviction::plan).distinct().count();
        return failed.stream()
                .map(PastEviction::settlesAt)
                .max(Comparator.naturalOrder())
                .map(last -> last.plus(backOff(plans)))
                .filter(again -> scene.now().isBefore(again))
                .flatMap(again ->
                        leave(
                                waiter,
                                Reason.BACKING_OFF,
                                "room was made %d times in vain; not again before %s"
                                        .formatted(plans, again)));
    }

    /** One settling time after the first, twice that after the second, at most an hour. */
    private Duration backOff(long plans) {
        Duration pause = rules.settle().multipliedBy(1L << Math.min(plans - 1, 16));
        return pause.compareTo(LONGEST_BACK_OFF) < 0 ? pause : LONGEST_BACK_OFF;
    }

    private Decision makeRoom(Scene scene, Waiter waiter) {
        Rooms rooms = new Rooms(scene, waiter);
        List<NodeView> nodes =
                scene.nodes().stream()
                        .filter(rooms::couldEverFit)
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
        return solvedWithoutUs(scene, waiter, rooms, nodes)
                .<Decision>map(leave -> leave)
                .orElseGet(() -> choose(scene, waiter, rooms, nodes));
    }

    private Optional<Leave> solvedWithoutUs(
            Scene scene, Waiter waiter, Rooms rooms, List<NodeView> nodes) {
        Predicate<Holder> nobody = holder -> false;
        Predicate<Holder> weaker =
                holder -> holder.leaving() || holder.priority() < waiter.priority();
        boolean schedulersTurn =
                waiter.preempts()
                        && scene.now().isBefore(waiter.since().plus(rules.schedulerPatience()));
        for (NodeView node : nodes) {
            if (rooms.fits(node, nobody)) {
                return leave(waiter, Reason.FITS, node, "it fits on %s as it is");
            }
        }
        for (NodeView node : nodes) {
            if (rooms.fits(node, Holder::leaving)) {
                return leave(
                        waiter, Reason.FREEING, node, "it fits on %s when pods there have ended");
            }
        }
        for (NodeView node : nodes) {
            if (schedulersTurn
                    && !rooms.fitsByTotals(node, Holder::leaving)
                    && rooms.fitsByTotals(node, weaker)) {
                return leave(
                        waiter, Reason.LEFT_TO_SCHEDULER, node, "the scheduler can preempt on %s");
            }
        }
        return Optional.empty();
    }

    private Decision choose(Scene scene, Waiter waiter, Rooms rooms, List<NodeView> nodes) {
        Jury jury = new Jury(scene, rules, waiter);
        List<Candidate> considered = considered(jury, nodes);
        List<Gang> eligible =
                jury.eligible().stream()
                        .filter(gang -> nodes.stream().anyMatch(gang::standsOn))
                        .toList();
        if (eligible.isEmpty()) {
            return new Leave(
                    waiter,
                    Reason.NOBODY,
                    "nobody who holds a GPU may be evicted",
                    null,
                    considered);
        }
        var allowed = new HashMap<>(scene.disruptionsAllowed());
        var chosen = new ArrayList<Gang>();
        for (Gang gang : eligible) {
            if (!take(gang, allowed)) {
                continue;
            }
            chosen.add(gang);
            Optional<Evict> plan =
                    nodes.stream()
                            .filter(gang::standsOn)
                            .filter(node -> rooms.fits(node, goneWith(chosen)))
                            .map(node ->
                                    evict(
                                            scene,
                                            waiter,
                                            node,
                                            fewest(rooms, node, chosen),
                                            considered))
                            .min(
                                    Comparator.comparingInt((Evict it) -> it.victims().size())
                                            .thenComparing(Evict::node));
            if (plan.isPresent()) {
                return limited(scene, plan.get());
            }
        }
        return new Leave(
                waiter,
                Reason.WOULD_NOT_FIT,
                "it would not fit without all %d pods that may be evicted"
                        .formatted(chosen.stream().mapToInt(gang -> gang.pods().size()).sum()),
                null,
                considered);
    }

    /** Those on nodes that could take the waiter. */
    private static List<Candidate> considered(Jury jury, List<NodeView> nodes) {
        Set<String> names = new HashSet<>();
        nodes.forEach(node -> names.add(node.name()));
        return jury.candidates().stream().filter(it -> names.contains(it.node())).toList();
    }

    /** Takes the gang out of the disruption budgets, or nothing if they do not let all of it go. */
    private static boolean take(Gang gang, Map<String, Integer> allowed) {
        var left = new HashMap<>(allowed);
        gang.pods()
                .forEach(pod ->
                        pod.disruptionBudgets()
                                .forEach(name -> left.merge(name, -1, Integer::sum)));
        boolean enough =
                gang.pods().stream()
                        .flatMap(pod -> pod.disruptionBudgets().stream())
                        .allMatch(name -> left.getOrDefault(name, -1) >= 0);
        if (enough) {
            allowed.putAll(left);
        }
        return enough;
    }

    /** Who was chosen last is spared first, as long as the waiter still fits. */
    private static List<Gang> fewest(Rooms rooms, NodeView node, List<Gang> chosen) {
        var needed = new ArrayList<>(chosen);
        for (Gang gang : chosen.reversed()) {
            var without = needed.stream().filter(it -> !it.equals(gang)).toList();
            if (rooms.fits(node, goneWith(without))) {
                needed.remove(gang);
            }
        }
        return needed;
    }

    private static Predicate<Holder> goneWith(List<Gang> gangs) {
        Set<String> keys = new HashSet<>();
        gangs.forEach(gang -> keys.add(gang.key()));
        return holder -> holder.leaving() || keys.contains(holder.gang());
    }

    private Evict evict(
            Scene scene,
            Waiter waiter,
            NodeView node,
            List<Gang> gangs,
            List<Candidate> considered) {
        List<Victim> victims =
                gangs.stream()
                        .flatMap(gang -> gang.pods().stream().map(pod -> victim(scene, gang, pod)))
                        .toList();
        return new Evict(waiter, node.name(), victims, considered);
    }

    private static Victim victim(Scene scene, Gang gang, Holder pod) {
        GpuTime cost = GpuTime.accrued(pod.share(), min(pod.since(), scene.now()), scene.now());
        String why =
                "budget %s is over by %s GPU-minutes; the pod runs since %s%s"
                        .formatted(
                                gang.budget().name(),
                                gang.budget().overrun().minutes(),
                                pod.since(),
                                gang.pods().size() > 1
                                        ? "; all %d pods of its job go together"
                                                .formatted(gang.pods().size())
                                        : "");
        return new Victim(
                pod.pod(),
                pod.node(),
                gang.budget().name(),
                gang.key(),
                why,
                cost.microGpuSeconds(),
                pod.grace());
    }

    /** A plan larger than the limit goes alone, or it would never be carried out. */
    private Decision limited(Scene scene, Evict plan) {
        long recent =
                scene.past().stream()
                        .filter(it -> it.at().plus(Duration.ofMinutes(1)).isAfter(scene.now()))
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

    private static Instant min(Instant one, Instant other) {
        return Stream.of(one, other).min(Comparator.naturalOrder()).orElseThrow();
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
