package io.gpusharing.scheduler.explaining;

import static java.util.stream.Collectors.toSet;

import io.gpusharing.budget.Standing;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.NodeView;
import io.gpusharing.scheduler.picture.Past.PastEviction;
import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Planner;
import io.gpusharing.scheduler.reclaiming.plan.Rules;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What reclaim would do for one pod, now and when budgets of others end: asked of its own planner,
 * about the nodes where it could find somebody.
 */
final class RoomPlan {

    /** The planner looks at the whole of each, several times. */
    static final int MOST_NODES = 64;

    /** Of instants at which budgets end. */
    private static final int MOST_INSTANTS = 8;

    /** Of nodes of which also pods without GPUs are read. */
    private static final int MOST_READ = 3;

    private final Picture picture;
    private final Rules rules;
    private final Waiter waiter;
    private final List<Picture.State> candidates;
    private final Function<String, List<Holder>> nodePods;

    /**
     * @param candidates nodes that admit the pod, those with most hope first
     * @param nodePods all pods of a node, also those without a GPU
     */
    RoomPlan(
            Picture picture,
            Rules rules,
            Waiter waiter,
            List<Picture.State> candidates,
            Function<String, List<Holder>> nodePods) {
        this.picture = picture;
        this.rules = rules;
        this.waiter = patient(picture.snapshot(), rules, waiter);
        this.candidates = candidates;
        this.nodePods = bounded(picture, nodePods);
    }

    /** What would be done at an instant. */
    record Later(Instant at, Evict plan) {}

    /** As if it had waited as long as it takes until anybody is evicted for it. */
    private static Waiter patient(ClusterSnapshot snapshot, Rules rules, Waiter waiter) {
        Instant longEnough = snapshot.now().minus(rules.patience());
        return waiter.since().isBefore(longEnough) ? waiter : waiter.waitingSince(longEnough);
    }

    private static Function<String, List<Holder>> bounded(
            Picture picture, Function<String, List<Holder>> nodePods) {
        Map<String, List<Holder>> read = new HashMap<>();
        return name -> {
            List<Holder> known = read.get(name);
            if (known == null) {
                known =
                        read.size() < MOST_READ
                                ? nodePods.apply(name)
                                : picture.node(name).map(Picture.State::pods).orElse(List.of());
                read.put(name, known);
            }
            return known;
        };
    }

    /** What would be done now. */
    Decision now() {
        return decide(picture.snapshot().now(), chosen(this::mattersNow));
    }

    /** How many nodes that does not look at. */
    int leftOut() {
        return Math.max(0, candidates.size() - MOST_NODES);
    }

    /** When somebody would be evicted first as budgets end; empty if that does not help. */
    Optional<Later> later() {
        Map<Instant, Set<String>> ends = ends();
        var nodes = new HashSet<String>();
        int looked = 0;
        for (Map.Entry<Instant, Set<String>> end : ends.entrySet()) {
            nodes.addAll(end.getValue());
            if (++looked > MOST_INSTANTS) {
                break;
            }
            Set<String> here = Set.copyOf(nodes);
            if (decide(end.getKey(), chosen(node -> here.contains(node.name())))
                    instanceof Evict evict) {
                return Optional.of(new Later(end.getKey(), evict));
            }
        }
        return Optional.empty();
    }

    /** When pods of others may go that may not go now, and on which nodes they are. */
    private Map<Instant, Set<String>> ends() {
        Instant now = picture.snapshot().now();
        var ends = new TreeMap<Instant, Set<String>>();
        for (Picture.State node : candidates) {
            for (Holder pod : node.pods()) {
                Instant end = mayGo(picture.snapshot().budgetOf(pod.pod()), pod);
                if (end != null && end.isAfter(now) && pod.exemption() == null) {
                    ends.computeIfAbsent(end, it -> new HashSet<>()).add(node.name());
                }
            }
        }
        return ends;
    }

    private static @Nullable Instant mayGo(@Nullable BudgetAccount budget, Holder pod) {
        if (budget == null
                || !budget.onExhausted().allowsEviction(pod.lowered())
                || budget.paused()) {
            return null;
        }
        Instant ranLongEnough = pod.since().plus(budget.minimumRun());
        return switch (budget.standing()) {
            case Standing.OverBudget over -> ranLongEnough;
            case Standing.InBudget in when in.exhaustedAt() != null ->
                    in.exhaustedAt().isAfter(ranLongEnough) ? in.exhaustedAt() : ranLongEnough;
            case Standing.InBudget _, Standing.Unlimited _ -> null;
        };
    }

    /** Whether somebody there may go, goes already, or is less important. */
    private boolean mattersNow(Picture.State node) {
        for (Holder pod : node.pods()) {
            BudgetAccount budget = picture.snapshot().budgetOf(pod.pod());
            if (pod.leaving()
                    || (waiter.preempts() && pod.priority() < waiter.priority())
                    || (budget != null
                            && budget.isOver()
                            && budget.onExhausted().allowsEviction(pod.lowered()))) {
                return true;
            }
        }
        return false;
    }

    private List<Picture.State> chosen(Predicate<Picture.State> matters) {
        return candidates.stream()
                .sorted(Comparator.comparing(node -> !matters.test(node)))
                .limit(MOST_NODES)
                .toList();
    }

    private Decision decide(Instant at, List<Picture.State> nodes) {
        return new Planner(rules)
                .plan(snapshot(at, nodes), nodePods).stream()
                        .filter(it -> it.waiter().pod().equals(waiter.pod()))
                        .findFirst()
                        .orElseThrow();
    }

    /** These nodes with their pods, and those that would go together with these. */
    private ClusterSnapshot snapshot(Instant at, List<Picture.State> nodes) {
        ClusterSnapshot all = picture.snapshot();
        Set<String> gangs =
                nodes.stream()
                        .flatMap(node -> node.pods().stream())
                        .map(Holder::gang)
                        .collect(toSet());
        Set<String> names = nodes.stream().map(Picture.State::name).collect(toSet());
        Set<String> promised =
                all.past().stream()
                        .filter(it -> !it.helped())
                        .map(PastEviction::waiter)
                        .map(it -> it.uid())
                        .collect(toSet());
        var waiters = new ArrayList<Waiter>();
        waiters.add(waiter);
        all.waiters().stream()
                .filter(it -> promised.contains(it.pod().uid()))
                .filter(it -> !it.pod().uid().equals(waiter.pod().uid()))
                .forEach(waiters::add);
        return new ClusterSnapshot(
                at,
                waiters,
                nodes.stream().<NodeView>map(Picture.State::view).toList(),
                all.gpuPods().stream()
                        .filter(pod -> names.contains(pod.node()) || gangs.contains(pod.gang()))
                        .toList(),
                budgetsAt(at),
                all.disruptionsAllowed(),
                all.past(),
                all.refusals(),
                all.completeNodes());
    }

    private Map<String, BudgetAccount> budgetsAt(Instant at) {
        var then = new HashMap<>(picture.snapshot().budgets());
        then.replaceAll((namespace, budget) -> budget.at(at));
        return then;
    }
}
