package io.gpusharing.scheduler.reclaiming.plan;

import static java.util.stream.Collectors.toSet;

import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.Reach;
import io.gpusharing.scheduler.picture.SchedulingConstraints;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The cluster as one round sees it. The pods of the nodes that a decision rests on are listed
 * first. What is only remembered of other nodes may spare listing them, for a decision by which
 * nobody is evicted. For one thread.
 */
final class RoundPicture {

    /**
     * Of so many nodes pods are listed before a waiter is put off; explanations look at no more.
     */
    static final int MOST = 64;

    private final Rules rules;
    private final ListedNodes listed;
    private final Function<String, List<Holder>> nodePods;
    private final BiFunction<RoundSnapshot, Waiter, Decision> decide;
    private ClusterSnapshot known;
    private RoundSnapshot remembered;
    private int left;

    /** UIDs of waiters for whom room was kept when the round began. */
    private final Set<String> withRoom;

    /** By the waiter's budget those of which nobody goes for it. */
    private final Map<String, Set<String>> owed = new HashMap<>();

    /**
     * Everything about a waiter that its decision depends on. The hundred pods of a job are alike
     * and are answered once, and so are those of other namespaces that want the same.
     *
     * @param trusting whether it is still left to the scheduler to help it
     * @param owed budgets of which nobody goes for it
     * @param own its UID if room is kept for it, which is in nobody else's question; else empty
     */
    record Kind(
            int priority,
            boolean trusting,
            PodAsk ask,
            SchedulingConstraints constraints,
            Reach reach,
            Set<String> owed,
            String own) {}

    /**
     * @param nodePods all pods of a node, asked for once
     * @param decide by what is known of the cluster
     */
    RoundPicture(
            ClusterSnapshot known,
            Rules rules,
            ListedNodes listed,
            Function<String, List<Holder>> nodePods,
            BiFunction<RoundSnapshot, Waiter, Decision> decide) {
        this.rules = rules;
        this.listed = listed;
        this.nodePods = nodePods;
        this.decide = decide;
        this.known = known;
        this.withRoom =
                known.nodes().stream()
                        .flatMap(node -> node.kept().stream())
                        .map(KeptRoom::podUid)
                        .collect(toSet());
        this.remembered = new RoundSnapshot(listed.completing(known), rules);
    }

    /** What a waiter asks. */
    Kind kind(Waiter waiter) {
        String uid = waiter.pod().uid();
        return new Kind(
                waiter.priority(),
                rules.trustScheduler(waiter, known.now()),
                waiter.ask(),
                waiter.constraints(),
                waiter.reach(),
                owed.computeIfAbsent(
                        known.budgetName(waiter.pod()),
                        budget -> VictimFilter.owedTo(budget, known, rules)),
                withRoom.contains(uid) ? uid : "");
    }

    /** What is known for certain. */
    ClusterSnapshot known() {
        return known;
    }

    /** Something has changed. */
    void becomes(ClusterSnapshot other) {
        known = other;
        owed.clear();
        remembered = new RoundSnapshot(listed.completing(other), rules);
    }

    /** Decides for a waiter; empty where too many nodes would have to be listed at once. */
    Optional<Decision> decide(Waiter waiter) {
        left = MOST;
        Optional<Decision> decision = decide(waiter, () -> remembered);
        if (decision.filter(Evict.class::isInstance).isEmpty() || !listed.addsTo(known)) {
            // What was looked into before is no answer to the next question.
            listed.believe(waiter.pod().uid());
            return decision;
        }
        // What is remembered may be over by now, and all that counts here is listed anew: some of
        // it in each round.
        Instant since = listed.doubtedSince(waiter.pod().uid(), known.now());
        Optional<Decision> certain =
                decide(waiter, () -> new RoundSnapshot(listed.completing(known, since), rules));
        if (certain.isPresent()) {
            listed.believe(waiter.pod().uid());
        }
        return certain;
    }

    private Optional<Decision> decide(Waiter waiter, Supplier<RoundSnapshot> snapshot) {
        Decision decision = decide.apply(snapshot.get(), waiter);
        for (String node = incompleteNode(decision);
                node != null;
                node = incompleteNode(decision)) {
            if (left-- == 0) {
                return Optional.empty();
            }
            list(node);
            decision = decide.apply(snapshot.get(), waiter);
        }
        return Optional.of(decision);
    }

    private void list(String node) {
        List<Holder> pods = nodePods.apply(node);
        Set<String> followed =
                remembered.on(node).stream().map(it -> it.pod().uid()).collect(toSet());
        listed.remember(
                node,
                pods.stream().filter(it -> !followed.contains(it.pod().uid())).toList(),
                known.now());
        becomes(known.withAllPodsOf(node, pods));
    }

    private @Nullable String incompleteNode(Decision decision) {
        String node =
                switch (decision) {
                    case Evict evict -> evict.node();
                    case Leave leave -> leave.node();
                };
        return node == null || known.completeNodes().contains(node) ? null : node;
    }
}
