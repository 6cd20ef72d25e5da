package io.gpusharing.scheduler.picture.reading;

import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.groupingBy;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.GpuReservation;
import io.gpusharing.kubernetes.ObjectInformer.Handler;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.cluster.ClusterFollower;
import io.gpusharing.scheduler.cluster.ReservationWatch;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.HalfPlaced;
import io.gpusharing.scheduler.picture.Offers;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.picture.reading.KnownNodes.BareNode;
import io.gpusharing.scheduler.picture.reading.KnownPods.KnownPod;
import io.gpusharing.scheduler.pods.DisruptionBudgets;
import io.gpusharing.scheduler.pods.Ending;
import io.gpusharing.sharing.ProviderAsk;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/**
 * What the watches have shown of the cluster, as far as a snapshot needs it: of each object a few
 * numbers. Safe for any thread.
 *
 * <p>What two watches show may be of different instants, and nobody is evicted wrongly whichever is
 * behind. What is granted on a GPU to a pod that is not known, not yet or no more, is taken; what a
 * pod holds of which no grant is known is taken, too. Where a pod is not known and nothing says
 * what it holds, room seems free, and nobody goes while a waiter seems to fit: until a decision
 * rests on that node, whose pods are then listed. A namespace that is not known yet has its budget
 * all the same. Before anybody is evicted, victims, their namespaces, the budgets and the waiter
 * are read anew, and the API server is asked by a dry run whether the victims may go.
 */
@Component
public final class KnownCluster implements ClusterFollower {

    private final RequestGrammars grammars;
    private final KnownPods pods;
    private final KnownNodes nodes;
    private final DisruptionBudgets disruptions;
    private final Map<String, Map<String, String>> namespaces = new ConcurrentHashMap<>();
    private final Map<String, SharedNode> gpuNodes = new ConcurrentHashMap<>();

    /** By name, which is the UID of its pod. */
    private final Map<String, KeptRoom> rooms = new ConcurrentHashMap<>();

    public KnownCluster(
            RequestGrammars grammars,
            ProviderAsk asks,
            ReadingSettings settings,
            DisruptionBudgets disruptions) {
        this.disruptions = disruptions;
        var capacity = new CapacityReader(grammars, asks, settings.sharing());
        this.grammars = grammars;
        this.pods =
                new KnownPods(
                        grammars,
                        capacity,
                        settings.gangs(),
                        settings.reach(),
                        settings.overBudgetPriority());
        this.nodes = new KnownNodes(grammars, capacity);
    }

    @Override
    public Handler<Pod> pods() {
        return pods;
    }

    @Override
    public Handler<Node> nodes() {
        return nodes;
    }

    @Override
    public Handler<Namespace> namespaces() {
        return new Handler<>() {

            @Override
            public void onUpdate(Namespace namespace) {
                namespaces.put(
                        name(namespace),
                        Map.copyOf(
                                requireNonNullElse(
                                        namespace.getMetadata().getAnnotations(), Map.of())));
            }

            @Override
            public void onDelete(Namespace namespace) {
                namespaces.remove(name(namespace));
            }
        };
    }

    /**
     * A node whose GPUs cannot be read has none that are known, and offers nothing: without it they
     * would be taken for another provider's, and pods be evicted by a guess.
     */
    @Override
    public Handler<GpuNode> gpuNodes() {
        return new Handler<>() {

            @Override
            public void onUpdate(GpuNode node) {
                try {
                    SharedNode read = SharedNode.of(name(node), node.getStatus());
                    if (read.all().gpus().isEmpty()) {
                        gpuNodes.remove(name(node));
                    } else {
                        gpuNodes.put(name(node), read);
                    }
                } catch (RuntimeException | StackOverflowError e) {
                    gpuNodes.put(name(node), SharedNode.of(name(node), null));
                    throw e;
                }
            }

            @Override
            public void onDelete(GpuNode node) {
                gpuNodes.remove(name(node));
            }
        };
    }

    /**
     * One that cannot be read keeps what it kept before until the end of that, and a new one
     * nothing: nobody knows what, where and for whom.
     */
    @Override
    public Handler<GpuReservation> reservations() {
        return new Handler<>() {

            @Override
            public void onUpdate(GpuReservation reservation) {
                rooms.put(name(reservation), ReservationWatch.room(reservation));
            }

            @Override
            public void onDelete(GpuReservation reservation) {
                rooms.remove(name(reservation));
            }
        };
    }

    /**
     * Pods that have found no place since then or for longer, and wait for GPUs that our nodes
     * alone offer by a scheduler that does not ask us.
     */
    public List<PodRef> misdirected(Instant then) {
        List<Waiter> waiting = pods.waitingBySums(then);
        if (waiting.isEmpty()) {
            return List.of();
        }
        Offers offers =
                Offers.of(
                        nodes.all().stream(),
                        grammars::reads,
                        node -> gpuNodes.containsKey(node.name()),
                        BareNode::allocatable);
        return waiting.stream().filter(offers::areMissedBy).map(Waiter::pod).toList();
    }

    private static String name(HasMetadata object) {
        return object.getMetadata().getName();
    }

    /** All pods with our label. */
    Collection<KnownPod> known() {
        return pods.all();
    }

    /**
     * Whether there is a pod for which its scheduler has found no place, nor makes any, since then
     * or for longer.
     */
    public boolean anyWaitsSince(Instant then) {
        return pods.anyWaitsSince(then);
    }

    /**
     * Gangs of which some pods hold GPUs, for which they are charged, while another one has found
     * no place since then or for longer.
     */
    public List<HalfPlaced> halfPlaced(Instant then) {
        return pods.halfPlaced(then);
    }

    /**
     * What any pod holds, with our label or without; empty if it has ended.
     *
     * @param pod as the API server has it now
     */
    Optional<Holder> holder(Pod pod, Ending ending) {
        return pods.holder(pod).map(it -> at(it, ending));
    }

    /** A pod that is known, at one instant. */
    Holder at(KnownHolder pod, Ending ending) {
        String namespace = pod.pod().namespace();
        return pod.at(
                pod.isBound() ? nodes.of(pod.node()) : NodeFacts.UNKNOWN,
                grammars,
                isTrue(namespace, Names.DO_NOT_RECLAIM_ANNOTATION),
                disruptions.guarding(namespace, pod.labels()),
                ending);
    }

    /** Whether an annotation of a namespace is {@code true}. */
    public boolean isTrue(String namespace, String annotation) {
        return "true".equals(namespaces.getOrDefault(namespace, Map.of()).get(annotation));
    }

    Set<String> namespaceNames() {
        return namespaces.keySet();
    }

    /** All nodes that can be read, without what our device plugins say of them. */
    Collection<BareNode> bareNodes() {
        return nodes.all();
    }

    /** The nodes of which our device plugin hands out the GPUs, by name. */
    Map<String, SharedNode> shared() {
        return Map.copyOf(gpuNodes);
    }

    /** How many pods each PodDisruptionBudget lets go, by {@code namespace/name}. */
    Map<String, Integer> allowed() {
        return disruptions.allowed();
    }

    /**
     * All room that is kept for these pods, by node. Of others it is not deleted yet.
     *
     * @param waiting UIDs of all pods that wait
     */
    Map<String, List<KeptRoom>> kept(Set<String> waiting, Instant now) {
        return rooms.values().stream()
                .filter(room -> now.isBefore(room.until()))
                .filter(room -> waiting.contains(room.podUid()))
                .collect(groupingBy(KeptRoom::node));
    }
}
