package io.gpusharing.scheduler.preemption;

import static java.util.Objects.requireNonNull;

import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.HeldGpus;
import io.gpusharing.scheduler.gpus.Placement;
import io.gpusharing.scheduler.pods.DisruptionBudget;
import io.gpusharing.scheduler.pods.EndingRules;
import io.gpusharing.scheduler.preemption.VictimFilter.Candidates;
import io.gpusharing.scheduler.victims.VictimSearch;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Chooses the node, and on it the pods, that are preempted for a pod. All nodes are compared by
 * what is remembered of their GPUs; the best few are read anew, with their other pods.
 */
public final class Preemptions {

    /** The best of so many nodes where it would do is taken: kube-scheduler waits meanwhile. */
    private static final int ENOUGH = 3;

    /** Nodes that were not told in time: each costs kube-scheduler half a second. */
    private static final int MOST_FAILED = 2;

    /** So long another node is looked at or read; kube-scheduler gives up after five seconds. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private final ClusterGpus gpus;
    private final RunningPods running;
    private final ClusterReader cluster;
    private final PresentStandings standings;
    private final BudgetClasses classes;
    private final EndingRules endings;
    private final Clock clock;

    /**
     * @param standings how budgets stand now
     * @param classes by which admission has said how they stood
     * @param endings for how long it is waited for pods that are being deleted
     */
    public Preemptions(
            ClusterGpus gpus,
            RunningPods running,
            ClusterReader cluster,
            PresentStandings standings,
            BudgetClasses classes,
            EndingRules endings,
            Clock clock) {
        this.gpus = gpus;
        this.running = running;
        this.cluster = cluster;
        this.standings = standings;
        this.classes = classes;
        this.endings = endings;
        this.clock = clock;
    }

    /**
     * Chooses.
     *
     * @param candidates nodes where kube-scheduler would evict somebody, with the UIDs of whom
     * @return empty if nobody is to be evicted: it would not help, or the pod fits as soon as those
     *     have ended that are being deleted, or those that went for it are gone for good
     * @throws RuntimeException if it is not known, since the API server does not tell in time
     */
    public Optional<Preemption> choose(Preemptor asked, Map<String, Set<String>> candidates) {
        if (!asked.preempts()) {
            return Optional.empty();
        }
        Instant now = clock.instant();
        if (gpus.awaitsRoom(asked.uid(), now)) {
            // Its victims have ended, and their device plugin may not have noticed yet.
            return Optional.empty();
        }
        Map<String, HeldGpus> held =
                gpus.heldBeside(
                        asked.uid(), asked.group(), asked.priority(), candidates.keySet(), now);
        Map<String, List<DisruptionBudget>> budgets = cluster.disruptionBudgets();
        var priorities = new PresentPriorities(classes, standings.now(), budgets);
        Preemptor preemptor = priorities.of(asked);
        Set<String> companions = gpus.companions(asked.uid(), asked.group());
        var filter =
                new VictimFilter(
                        preemptor, companions, running.gangs(), priorities, endings.at(now), now);

        // From here on: how budgets stand may have taken a question.
        Instant enough = clock.instant().plus(PATIENCE);
        List<Preemption> byGpus =
                byGpusAlone(preemptor, held, budgets, filter.byGpusAlone(), enough);
        var found = new ArrayList<Preemption>();
        RuntimeException untold = null;
        int read = 0;
        int failed = 0;
        for (Preemption atLeast : byGpus) {
            if (found.size() == ENOUGH
                    || failed == MOST_FAILED
                    || found.stream().anyMatch(it -> it.isBetterThan(atLeast))
                    || (read > 0 && !clock.instant().isBefore(enough))) {
                break;
            }
            String node = atLeast.node();
            HeldGpus itsGpus = requireNonNull(held.get(node));
            Set<String> expendable = uids(running.on(node));
            expendable.addAll(candidates.getOrDefault(node, Set.of()));
            try {
                cluster.read(node)
                        .map(pods -> filter.filter(node, itsGpus, pods, expendable))
                        .flatMap(there -> best(preemptor, budgets, there))
                        .ifPresent(found::add);
                read++;
            } catch (RuntimeException e) {
                // The pods of one node do not decide for all, though they may take all of the time.
                untold = e;
                failed++;
            }
        }
        if (found.isEmpty() && untold != null) {
            throw untold;
        }
        return found.stream().min(Preemption.BEST_FIRST).filter(it -> !it.victims().isEmpty());
    }

    /**
     * The best preemption of each node as far as its GPUs decide, the best of all first. Nothing is
     * asked of the API server for it.
     *
     * @param enough when no further node is looked at
     */
    private List<Preemption> byGpusAlone(
            Preemptor preemptor,
            Map<String, HeldGpus> held,
            Map<String, List<DisruptionBudget>> budgets,
            VictimFilter filter,
            Instant enough) {
        var found = new ArrayList<Preemption>();
        held.forEach((node, itsGpus) -> {
            if (clock.instant().isBefore(enough)) {
                List<RunningPod> pods = running.on(node);
                NodePods known = NodePods.byGpusAlone(pods);
                best(preemptor, budgets, filter.filter(node, itsGpus, known, uids(pods)))
                        .ifPresent(found::add);
            }
        });
        found.sort(Preemption.BEST_FIRST);
        return found;
    }

    /** Of one node; empty if the pod does not fit there, whoever goes. */
    private Optional<Preemption> best(
            Preemptor preemptor,
            Map<String, List<DisruptionBudget>> budgets,
            Candidates candidates) {
        var order = new PriorityOrder(candidates.gangs(), budgets);
        return new VictimSearch<>(order)
                .search(List.of(candidates.room()))
                .map(choice -> {
                    String node = choice.room().node();
                    return new Preemption(
                            preemptor.payer(),
                            node,
                            order.pods(choice.gangs()),
                            choice.cost(),
                            new Placement(node, choice.room().place(choice.gangs()).orElseThrow()),
                            candidates.left(),
                            endings);
                });
    }

    private static Set<String> uids(List<RunningPod> pods) {
        return pods.stream().map(RunningPod::uid).collect(Collectors.toCollection(HashSet::new));
    }
}
