package io.gpusharing.scheduler.picture.reading;

import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.budgets.Doubts;
import io.gpusharing.scheduler.budgets.FreshBudgets;
import io.gpusharing.scheduler.cluster.ClusterSight;
import io.gpusharing.scheduler.cluster.NodeFields;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.Past;
import io.gpusharing.scheduler.picture.reading.KnownHolder.HolderReader;
import io.gpusharing.scheduler.picture.reading.KnownPods.KnownPod;
import io.gpusharing.scheduler.pods.Ending;
import io.gpusharing.scheduler.pods.Gangs;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;

/**
 * Makes a {@link ClusterSnapshot} of what watches have shown, without a question to the API server.
 * It is asked for the pods of those few nodes that a decision rests on: pods without GPUs are not
 * followed.
 */
@Component
public final class ClusterSnapshotReader {

    private final KubernetesClient client;
    private final ClusterSight sight;
    private final KnownCluster known;
    private final Budgets budgets;
    private final FreshBudgets fresh;
    private final UnreadableObjects unreadable;
    private final ReadingSettings settings;
    private final Clock clock;

    public ClusterSnapshotReader(
            KubernetesClient client,
            ClusterSight sight,
            KnownCluster known,
            Budgets budgets,
            FreshBudgets fresh,
            UnreadableObjects unreadable,
            ReadingSettings settings,
            @Qualifier("evicting") Clock clock) {
        this.client = client;
        this.sight = sight;
        this.known = known;
        this.budgets = budgets;
        this.fresh = fresh;
        this.unreadable = unreadable;
        this.settings = settings;
        this.clock = clock;
    }

    /**
     * A snapshot that knows only pods with GPUs, and how to read all pods of a node.
     *
     * @param nodePods asks the API server at each call; a {@link KubernetesClientException} if it
     *     does not answer
     * @param paused whether an administrator has stopped everything
     */
    public record Reading(
            ClusterSnapshot snapshot,
            GroupGpus groups,
            Function<String, List<Holder>> nodePods,
            boolean paused) {}

    /** Why what is known is no picture of the cluster now, in words; empty if it is one. */
    public Optional<String> whyNot() {
        return sight.whyUnseen();
    }

    /**
     * What stands against acting on what is known of the cluster and of budgets.
     *
     * @throws KubernetesClientException if the API server does not say how budgets stand
     */
    public Doubts doubts(Instant now) {
        return whyNot().map(why -> Doubts.ofAll(why, now)).orElseGet(() -> fresh.doubts(now));
    }

    /** Whether there is a pod that has found no place since then or for longer. */
    public boolean anyWaitsSince(Instant then) {
        return known.anyWaitsSince(then);
    }

    /**
     * The cluster as it is known now.
     *
     * @throws KubernetesClientException if the API server does not say whether budgets may be acted
     *     on
     */
    public Reading read(Past past) {
        Instant now = clock.instant();
        return read(past, now, new Payers(budgets, () -> fresh.doubts(now), now));
    }

    /** The same where it has been asked already what stands against acting on budgets. */
    public Reading read(Past past, Doubts doubts) {
        Instant now = clock.instant();
        return read(past, now, new Payers(budgets, () -> doubts, now));
    }

    private Reading read(Past past, Instant now, Payers payers) {
        Ending ending = Ending.at(now, settings.settle(), settings.maxGrace());
        var pods = new SnapshotPods(known.known(), it -> known.at(it, ending));
        Map<String, SharedNode> shared = known.shared();
        Map<String, List<KeptRoom>> kept =
                settings.reach().places()
                        ? known.kept(
                                pods.waiters.stream().map(it -> it.pod().uid()).collect(toSet()),
                                now)
                        : Map.of();
        pods.groups.complete(shared, kept.values().stream().flatMap(List::stream).toList());
        List<Holder> gpuPods = pods.gpuPods();
        Map<String, BudgetAccount> accounts = accounts(namespaces(pods, gpuPods), payers);
        ClusterSnapshot snapshot =
                new ClusterSnapshot(
                                now,
                                pods.groups.beside(pods.waiters),
                                known.bareNodes().stream()
                                        .map(it ->
                                                it.with(
                                                        shared.get(it.name()),
                                                        kept.getOrDefault(it.name(), List.of())))
                                        .toList(),
                                apart(gpuPods, accounts),
                                accounts,
                                known.allowed(),
                                past.evictions(),
                                past.refusals(),
                                Set.of())
                        .without(past.goingAt(now));
        return new Reading(
                snapshot,
                pods.groups,
                node -> apart(pods.inGangs(podsOf(node, ending)), accounts),
                known.isTrue(settings.ownNamespace(), Names.RECLAIM_PAUSED_ANNOTATION));
    }

    /**
     * Where a budget lets those go alone that were admitted over it, the others of their gang stay,
     * and protect them by nothing: else whoever has one pod from before would keep all that come.
     */
    static List<Holder> apart(List<Holder> pods, Map<String, BudgetAccount> accounts) {
        return pods.stream()
                .map(it -> {
                    BudgetAccount budget = accounts.get(it.pod().namespace());
                    return budget != null
                                    && it.lowered()
                                    && !it.isAlone()
                                    && !budget.onExhausted().allowsEviction(false)
                            ? it.within(it.gang() + "/over")
                            : it;
                })
                .toList();
    }

    /** All that are known, and those of pods whose namespace no watch has shown yet. */
    private Set<String> namespaces(SnapshotPods pods, List<Holder> gpuPods) {
        return Stream.of(
                        known.namespaceNames().stream(),
                        pods.waiters.stream().map(it -> it.pod().namespace()),
                        gpuPods.stream().map(it -> it.pod().namespace()))
                .flatMap(it -> it)
                .collect(toSet());
    }

    /**
     * All pods of a node and those for which room is being made there, also without a GPU, as the
     * API server has them now.
     */
    private List<Holder> podsOf(String node, Ending ending) {
        // One that is bound meanwhile is in both.
        var found = new LinkedHashMap<String, Holder>();
        Consumer<Holder> finding = it -> found.put(it.pod().uid(), it);
        NodeFields.forEach(
                client,
                node,
                pod -> {
                    if (!unreadable.handOver(
                            pod, it -> known.holder(it, ending).ifPresent(finding))) {
                        HolderReader.filling(pod)
                                .ifPresent(it -> finding.accept(known.at(it, ending)));
                    }
                });
        return List.copyOf(found.values());
    }

    /** Who pays for each namespace that a budget limits. */
    private static Map<String, BudgetAccount> accounts(Set<String> namespaces, Payers payers) {
        var accounts = new HashMap<String, BudgetAccount>();
        for (String namespace : namespaces) {
            payers.of(namespace).ifPresent(it -> accounts.put(namespace, it));
        }
        return accounts;
    }

    /** The pods of one snapshot: who waits, and who holds what. */
    static final class SnapshotPods {

        final List<Waiter> waiters = new ArrayList<>();
        final GroupGpus groups = new GroupGpus();
        private final List<Holder> gpuPods = new ArrayList<>();
        private final Set<String> tooLarge;

        /**
         * @param pods all with our label
         * @param present what one of them holds at the snapshot's instant
         */
        SnapshotPods(Collection<KnownPod> pods, Function<KnownHolder, Holder> present) {
            for (KnownPod pod : pods) {
                if (pod.waiter() != null) {
                    waiters.add(pod.waiter());
                    if (pod.group() != null) {
                        groups.waits(pod.group(), pod.waiter());
                    }
                }
                if (pod.holder() != null) {
                    Holder holder = present.apply(pod.holder());
                    gpuPods.add(holder);
                    if (pod.group() != null && pod.holder().isBound()) {
                        groups.holds(pod.group(), holder);
                    }
                }
            }
            var sizes = new HashMap<String, Integer>();
            gpuPods.stream()
                    .filter(pod -> !pod.gang().equals(pod.pod().uid()))
                    .forEach(pod -> sizes.merge(pod.gang(), 1, Integer::sum));
            tooLarge = Gangs.tooLarge(sizes);
        }

        /** All pods that hold GPUs. */
        List<Holder> gpuPods() {
            return inGangs(gpuPods);
        }

        /** Pods in the gangs in which they go. */
        List<Holder> inGangs(List<Holder> pods) {
            return pods.stream().map(it -> tooLarge.contains(it.gang()) ? it.alone() : it).toList();
        }
    }
}
