package io.gpusharing.timekeeper.reclaim;

import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.StreamedList;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.timekeeper.allocation.PodFacts;
import io.gpusharing.timekeeper.allocation.PodReader;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.reclaim.GpuPodReader.Ending;
import io.gpusharing.timekeeper.reclaim.snapshot.BudgetAccount;
import io.gpusharing.timekeeper.reclaim.snapshot.ClusterSnapshot;
import io.gpusharing.timekeeper.reclaim.snapshot.GpuPod;
import io.gpusharing.timekeeper.reclaim.snapshot.NodeView;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/**
 * Reads a {@link ClusterSnapshot} from the API server, when there is a reason to. The timekeeper's
 * own watch keeps too little of a pod to say where it fits, and nothing of pods without GPUs.
 */
@Component
final class ClusterSnapshotReader {

    private static final Logger log = LoggerFactory.getLogger(ClusterSnapshotReader.class);
    static final String PAUSED = Names.PREFIX + "reclaim-paused";

    private final KubernetesClient client;
    private final Budgets budgets;
    private final ClusterView view;
    private final PodReader pods;
    private final WaiterReader waiterReader;
    private final GpuPodReader gpuPodReader;
    private final CapacityReader capacity;
    private final SharedNodeReader sharedNodes;
    private final Reservations reservations;
    private final RequestGrammars grammars;
    private final UnreadableObjects unreadable;
    private final String ownNamespace;
    private final ReclaimProperties properties;
    private final Clock clock;
    private boolean blindToDisruptionBudgets;

    ClusterSnapshotReader(
            KubernetesClient client,
            Budgets budgets,
            ClusterView view,
            RequestGrammars grammars,
            ProviderAsk asks,
            Reservations reservations,
            UnreadableObjects unreadable,
            @Value("${gpusharing.cluster.namespace}") String ownNamespace,
            ReclaimProperties properties,
            Clock clock) {
        this.client = client;
        this.budgets = budgets;
        this.view = view;
        this.grammars = grammars;
        this.pods = new PodReader(grammars::reads);
        this.capacity = new CapacityReader(grammars, asks, properties.sharing());
        this.sharedNodes = new SharedNodeReader(client, unreadable);
        this.reservations = reservations;
        this.unreadable = unreadable;
        this.waiterReader = new WaiterReader(capacity);
        this.gpuPodReader = new GpuPodReader(grammars, capacity, properties.gangLabel());
        this.ownNamespace = ownNamespace;
        this.properties = properties;
        this.clock = clock;
    }

    /**
     * A snapshot that knows only pods with GPUs, and how to read all pods of a node.
     *
     * @param paused whether an administrator has stopped everything
     */
    record Reading(
            ClusterSnapshot snapshot,
            GroupGpus groups,
            Function<String, List<GpuPod>> nodePods,
            boolean paused) {}

    /**
     * Reads it. Where objects are large that takes many seconds, so it is judged by when it ends.
     *
     * @param past plans of as long ago as the rules look back
     * @throws KubernetesClientException if the API server cannot be asked
     */
    Reading read(List<ReclaimPlan> past) {
        Instant begun = clock.instant();
        // An object may have a megabyte and a half, and of all together there is no end.
        var namespaces = new HashMap<String, Map<String, String>>();
        StreamedList.of(client, Namespace.class)
                .metadataOnly()
                .forEach(it -> namespaces.put(it.getMetadata().getName(), ours(it.getMetadata())));
        DisruptionBudgets disruptions = disruptionBudgets();
        var ending =
                new Ending(begun.minus(properties.settle()), begun.plus(properties.maxGrace()));
        BiFunction<Pod, PodFacts, GpuPod> gpuPod =
                (pod, facts) ->
                        gpuPodReader.read(
                                pod,
                                facts,
                                namespaces.getOrDefault(facts.namespace(), Map.of()),
                                disruptions.guarding(pod),
                                nodeFacts(facts),
                                ending);
        var read = new SnapshotPods(grammars, pods, waiterReader, gpuPod, unreadable);
        StreamedList.of(client, Pod.class)
                .withLabels(Names.METERED_LABEL + "=true")
                .forEach(read::add);
        // After the pods, lest one that has ended meanwhile seem to have left something behind.
        Map<String, SharedNode> shared = sharedNodes.read();
        Map<String, List<KeptRoom>> kept =
                reservations.kept(
                        read.waiters.stream().map(it -> it.pod().uid()).collect(toSet()), begun);
        read.groups.complete(shared, kept.values().stream().flatMap(List::stream).toList());
        List<NodeView> nodes = views(shared, kept);
        Set<String> pausedBudgets = pausedBudgets();
        Instant now = clock.instant();
        ClusterSnapshot snapshot =
                new ClusterSnapshot(
                                now,
                                read.groups.beside(read.waiters),
                                nodes,
                                read.gpuPods(),
                                budgets(namespaces.keySet(), pausedBudgets, now),
                                disruptions.allowed(),
                                past.stream().flatMap(it -> it.evictions().stream()).toList(),
                                past.stream().flatMap(it -> it.refusals().stream()).toList(),
                                Set.of())
                        .without(past.stream().flatMap(it -> it.going(now)).collect(toSet()));
        boolean paused = "true".equals(namespaces.getOrDefault(ownNamespace, Map.of()).get(PAUSED));
        return new Reading(
                snapshot,
                read.groups,
                node ->
                        read.allOf(
                                StreamedList.of(client, Pod.class)
                                        .withFields("spec.nodeName=" + node)),
                paused);
    }

    /** A node that cannot be read offers nothing, and so is none. */
    private List<NodeView> views(Map<String, SharedNode> shared, Map<String, List<KeptRoom>> kept) {
        var views = new ArrayList<NodeView>();
        StreamedList.of(client, Node.class)
                .forEach(node -> {
                    String name = node.getMetadata().getName();
                    List<KeptRoom> rooms = kept.getOrDefault(name, List.of());
                    unreadable
                            .read(node, it -> capacity.node(it, shared.get(name), rooms))
                            .ifPresent(views::add);
                });
        return views;
    }

    private Set<String> pausedBudgets() {
        Set<String> paused = new HashSet<>();
        StreamedList.of(client, GpuBudget.class)
                .metadataOnly()
                .forEach(it -> {
                    if ("true".equals(ours(it.getMetadata()).get(PAUSED))) {
                        paused.add(it.getMetadata().getName());
                    }
                });
        return paused;
    }

    private Map<String, BudgetAccount> budgets(
            Set<String> namespaces, Set<String> paused, Instant now) {
        Map<String, BudgetAccount> byNamespace = new HashMap<>();
        for (String namespace : namespaces) {
            budgets.ofNamespace(namespace)
                    .ifPresent(state -> byNamespace.put(namespace, view(state, paused, now)));
        }
        return byNamespace;
    }

    private static BudgetAccount view(BudgetState state, Set<String> paused, Instant now) {
        return new BudgetAccount(
                state.name(),
                state.standing(now),
                state.spec().onExhausted(),
                state.spec().minimumRun(),
                paused.contains(state.name()),
                state.isAhead(now) ? state.asOf() : null);
    }

    /** Without the right to see them, the Eviction API still honours them. */
    private DisruptionBudgets disruptionBudgets() {
        try {
            return DisruptionBudgets.read(
                    StreamedList.of(client, PodDisruptionBudget.class), unreadable);
        } catch (KubernetesClientException e) {
            if (e.getCode() != HttpURLConnection.HTTP_FORBIDDEN) {
                throw e;
            }
            if (!blindToDisruptionBudgets) {
                log.warn(
                        "Cannot list poddisruptionbudgets.policy: the API server answered 403. Reclaim"
                                + " learns of them only when it is refused. The service account"
                                + " gpusharing-timekeeper needs get, list, watch on them");
            }
            blindToDisruptionBudgets = true;
            return new DisruptionBudgets();
        }
    }

    private NodeFacts nodeFacts(PodFacts pod) {
        return Optional.ofNullable(pod.placement().node())
                .flatMap(view::node)
                .orElse(NodeFacts.UNKNOWN);
    }

    /** The annotations that are read here. */
    private static Map<String, String> ours(ObjectMeta meta) {
        var ours = new HashMap<>(Objects.requireNonNullElse(meta.getAnnotations(), Map.of()));
        ours.keySet().removeIf(key -> !key.startsWith(Names.PREFIX));
        return ours;
    }
}
