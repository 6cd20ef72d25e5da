package io.gpusharing.scheduler.picture.reading;

import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.ApiServerSerialization;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.kubernetes.StreamedList;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.budgets.Doubts;
import io.gpusharing.scheduler.budgets.FreshBudgets;
import io.gpusharing.scheduler.budgets.KnownBudget;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.Holder;
import io.gpusharing.scheduler.picture.Past;
import io.gpusharing.scheduler.pods.Ending;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.reservation.Reservations;
import io.gpusharing.sharing.ProviderAsk;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;

/**
 * Reads a {@link ClusterSnapshot} from the API server, when there is a reason to. Our own watches
 * keep too little of a pod to say where it fits, and nothing of pods without GPUs.
 */
@Component
public final class ClusterSnapshotReader {

    private static final Logger log = LoggerFactory.getLogger(ClusterSnapshotReader.class);

    private final KubernetesClient client;
    private final ApiServerSerialization json = SnapshotJson.serialization();
    private final Budgets budgets;
    private final FreshBudgets fresh;
    private final PodReader pods;
    private final WaiterReader waiterReader;
    private final HolderReader holders;
    private final CapacityReader capacity;
    private final SharedNodeReader sharedNodes;
    private final KnownNodes known;
    private final Reservations reservations;
    private final RequestGrammars grammars;
    private final UnreadableObjects unreadable;
    private final ReadingSettings settings;
    private final Clock clock;
    private volatile boolean blindToDisruptionBudgets;

    public ClusterSnapshotReader(
            KubernetesClient client,
            Budgets budgets,
            FreshBudgets fresh,
            RequestGrammars grammars,
            ProviderAsk asks,
            Reservations reservations,
            UnreadableObjects unreadable,
            ReadingSettings settings,
            @Qualifier("evicting") Clock clock) {
        this.client = client;
        this.budgets = budgets;
        this.fresh = fresh;
        this.grammars = grammars;
        this.pods = new PodReader(grammars::reads);
        this.capacity = new CapacityReader(grammars, asks, settings.sharing());
        this.sharedNodes = new SharedNodeReader(client, unreadable);
        this.known = new KnownNodes(grammars);
        this.reservations = reservations;
        this.unreadable = unreadable;
        this.waiterReader = new WaiterReader(capacity);
        this.holders = new HolderReader(grammars, capacity, new Gangs(settings.gangLabel()));
        this.settings = settings;
        this.clock = clock;
    }

    /**
     * A snapshot that knows only pods with GPUs, and how to read all pods of a node.
     *
     * @param paused whether an administrator has stopped everything
     */
    public record Reading(
            ClusterSnapshot snapshot,
            GroupGpus groups,
            Function<String, List<Holder>> nodePods,
            boolean paused) {}

    /**
     * Reads it. Where objects are large that takes many seconds, so it is judged by when it ends.
     *
     * @throws KubernetesClientException if the API server cannot be asked
     */
    public Reading read(Past past) {
        Instant begun = clock.instant();
        // An object may have a megabyte and a half, and of all together there is no end.
        var namespaces = new HashMap<String, Map<String, String>>();
        StreamedList.of(client, Namespace.class)
                .metadataOnly()
                .forEach(it -> namespaces.put(it.getMetadata().getName(), ours(it.getMetadata())));
        DisruptionBudgets disruptions = disruptionBudgets();
        // Before the pods: what a share is depends on its node.
        List<BareNode> bare = nodes();
        SnapshotPods read = pods(namespaces, disruptions, begun);
        // After the pods, lest one that has ended meanwhile seem to have left something behind.
        Map<String, SharedNode> shared = sharedNodes.read();
        Map<String, List<KeptRoom>> kept =
                settings.reserve()
                        ? reservations.kept(
                                read.waiters.stream().map(it -> it.pod().uid()).collect(toSet()),
                                begun)
                        : Map.of();
        read.groups.complete(shared, kept.values().stream().flatMap(List::stream).toList());
        Instant now = clock.instant();
        ClusterSnapshot snapshot =
                new ClusterSnapshot(
                                now,
                                read.groups.beside(read.waiters),
                                bare.stream()
                                        .map(it ->
                                                it.with(
                                                        shared.get(it.name()),
                                                        kept.getOrDefault(it.name(), List.of())))
                                        .toList(),
                                read.gpuPods(),
                                accounts(namespaces.keySet(), now),
                                disruptions.allowed(),
                                past.evictions(),
                                past.refusals(),
                                Set.of())
                        .without(past.goingAt(now));
        return new Reading(
                snapshot,
                read.groups,
                node -> read.allOf(list(Pod.class).withFields("spec.nodeName=" + node)),
                "true"
                        .equals(
                                namespaces
                                        .getOrDefault(settings.ownNamespace(), Map.of())
                                        .get(Names.RECLAIM_PAUSED_ANNOTATION)));
    }

    private SnapshotPods pods(
            Map<String, Map<String, String>> namespaces,
            DisruptionBudgets disruptions,
            Instant begun) {
        Ending ending = Ending.at(begun, settings.settle(), settings.maxGrace());
        BiFunction<Pod, PodFacts, Holder> holder =
                (pod, facts) ->
                        holders.read(
                                pod,
                                facts,
                                namespaces.getOrDefault(facts.namespace(), Map.of()),
                                disruptions.guarding(pod),
                                known.of(facts.placement().node()),
                                ending);
        var read = new SnapshotPods(grammars, pods, waiterReader, holder, unreadable);
        list(Pod.class).withLabels(Names.METERED_LABEL + "=true").forEach(read::add);
        return read;
    }

    /**
     * The nodes, without what our device plugins say of them. A node that cannot be read offers
     * nothing, and so is none.
     */
    private List<BareNode> nodes() {
        var nodes = new ArrayList<BareNode>();
        var names = new HashSet<String>();
        list(Node.class)
                .forEach(node -> {
                    names.add(node.getMetadata().getName());
                    unreadable
                            .read(
                                    node,
                                    it -> {
                                        known.put(it);
                                        return capacity.node(it);
                                    })
                            .ifPresent(nodes::add);
                });
        known.retain(names);
        return nodes;
    }

    /** Who pays for each namespace that a budget limits. */
    private Map<String, BudgetAccount> accounts(Set<String> namespaces, Instant now) {
        // They hold for what is known of budgets afterwards.
        Doubts doubts = fresh.doubts(now);
        var accounts = new HashMap<String, BudgetAccount>();
        for (String namespace : namespaces) {
            budgets.ofNamespace(namespace)
                    .ifPresent(it -> accounts.put(namespace, account(it, doubts, now)));
        }
        return accounts;
    }

    private static BudgetAccount account(KnownBudget budget, Doubts doubts, Instant now) {
        return new BudgetAccount(
                budget.name(),
                budget.standing(now),
                budget.onExhausted(),
                budget.minimumRun(),
                budget.paused(),
                doubts.of(budget).orElse(null));
    }

    private <T extends HasMetadata> StreamedList<T> list(Class<T> kind) {
        return StreamedList.of(client, kind).readBy(json);
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
                                + " gpusharing-scheduler needs get, list, watch on them");
            }
            blindToDisruptionBudgets = true;
            return new DisruptionBudgets();
        }
    }

    /** The annotations that are read here. */
    private static Map<String, String> ours(ObjectMeta meta) {
        var ours = new HashMap<>(Objects.requireNonNullElse(meta.getAnnotations(), Map.of()));
        ours.keySet().removeIf(key -> !key.startsWith(Names.PREFIX));
        return ours;
    }
}
