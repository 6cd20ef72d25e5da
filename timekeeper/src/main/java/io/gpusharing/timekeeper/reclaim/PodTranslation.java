package io.gpusharing.timekeeper.reclaim;

import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.gpusharing.Names;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.RequestGrammars;
import io.gpusharing.timekeeper.allocation.HeldShare;
import io.gpusharing.timekeeper.cluster.PodReader;
import io.gpusharing.timekeeper.reclaim.plan.Amounts;
import io.gpusharing.timekeeper.reclaim.plan.GpuPod;
import io.gpusharing.timekeeper.reclaim.plan.NodeView;
import io.gpusharing.timekeeper.reclaim.plan.Placement;
import io.gpusharing.timekeeper.reclaim.plan.PodAmounts;
import io.gpusharing.timekeeper.reclaim.plan.PodRef;
import io.gpusharing.timekeeper.reclaim.plan.SchedulingConstraints;
import io.gpusharing.timekeeper.reclaim.plan.Waiter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads waiters, holders and nodes from objects as the API server stores them. Pure. */
public final class PodTranslation {

    /** Classes above belong to the cluster itself. */
    private static final int HIGHEST_USER_PRIORITY = 1_000_000_000;

    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(30);
    private static final String MIRROR_ANNOTATION = "kubernetes.io/config.mirror";
    private static final Set<String> TERMINAL = Set.of("Succeeded", "Failed");

    private final RequestGrammars grammars;
    private final PodReader reader;
    private final Placement placement;
    private final String gangLabel;

    /**
     * @param gangLabel label whose value names a gang; empty for none
     */
    public PodTranslation(RequestGrammars grammars, String gangLabel) {
        this.grammars = grammars;
        this.reader = new PodReader(grammars::reads);
        this.placement = new Placement(grammars);
        this.gangLabel = gangLabel;
    }

    /** Whether it has a claim on a node, and none to be bound any more. */
    static boolean holds(Pod pod) {
        return place(pod) != null && !TERMINAL.contains(phase(pod));
    }

    /** False for a pod that may hold GPUs by resource claims alone. */
    boolean asksForGpus(Pod pod) {
        return pod.getSpec().getResourceClaims().isEmpty()
                || grammars.grammarOf(reader.read(pod).request()).isPresent();
    }

    /** Whether the scheduler has said that it cannot place it. */
    static boolean waits(Pod pod) {
        return pod.getSpec().getNodeName() == null
                && pod.getMetadata().getDeletionTimestamp() == null
                && unschedulable(pod).isPresent();
    }

    public Waiter waiter(Pod pod) {
        PodSpec spec = pod.getSpec();
        PodCondition condition = unschedulable(pod).orElseThrow();
        return new Waiter(
                ref(pod),
                Instant.parse(condition.getLastTransitionTime()),
                pod.getStatus().getNominatedNodeName(),
                !spec.getSchedulingGates().isEmpty(),
                priority(spec),
                !"Never".equals(spec.getPreemptionPolicy()),
                PodAmounts.of(spec),
                placement.asks(spec.getContainers()),
                controller(pod).map(OwnerReference::getUid).orElse(pod.getMetadata().getUid()),
                constraints(spec),
                Optional.ofNullable(placement.unjudged(spec.getInitContainers(), annotations(pod)))
                        .orElseGet(() ->
                                unjudged(
                                        spec,
                                        Objects.requireNonNullElse(condition.getMessage(), ""))));
    }

    /**
     * @param namespaceAnnotations by namespace
     * @param disruptions PodDisruptionBudgets that select the pod
     * @param node what is known of the pod's node
     * @param ending when a pod that is being deleted counts as leaving
     */
    public GpuPod gpuPod(
            Pod pod,
            Function<String, Map<String, String>> namespaceAnnotations,
            Set<String> disruptions,
            NodeFacts node,
            Ending ending) {
        PodSpec spec = pod.getSpec();
        PodRequest request = reader.read(pod).request();
        long share =
                HeldShare.of(request, node, grammars)
                        .map(BoundShare::share)
                        .map(it -> Math.max(it.compute(), it.memory()))
                        .orElse(0L);
        return new GpuPod(
                ref(pod),
                Objects.requireNonNull(place(pod)),
                since(pod),
                priority(spec),
                PodAmounts.of(spec),
                share,
                // A pod that is only nominated holds no GPU yet, just room.
                spec.getNodeName() == null
                        ? List.of()
                        : placement.holds(spec.getContainers(), annotations(pod)),
                gang(pod, ending),
                leaves(pod, ending),
                exemption(
                        pod, namespaceAnnotations.apply(pod.getMetadata().getNamespace()), ending),
                disruptions,
                grace(pod));
    }

    /**
     * What is expected of a pod that is being deleted, by when its grace ends.
     *
     * @param overdue one whose grace ended before then does not leave: its kubelet ends it by a
     *     longer grace that it was deleted with before (kubernetes/kubernetes#113883), or has gone
     * @param awaited one whose grace ends later, for it gave itself a year, does not leave either
     */
    public record Ending(Instant overdue, Instant awaited) {}

    private static boolean leaves(Pod pod, Ending ending) {
        Instant end = end(pod);
        return end != null && !isOverdue(pod, ending) && !end.isAfter(ending.awaited());
    }

    private static boolean isOverdue(Pod pod, Ending ending) {
        Instant end = end(pod);
        return end != null && end.isBefore(ending.overdue());
    }

    private static @Nullable Instant end(Pod pod) {
        String end = pod.getMetadata().getDeletionTimestamp();
        return end == null ? null : Instant.parse(end);
    }

    // Whoever deletes a pod may give it longer than the pod itself says.
    private static Duration grace(Pod pod) {
        Duration own = seconds(pod.getSpec().getTerminationGracePeriodSeconds(), DEFAULT_GRACE);
        Duration given = seconds(pod.getMetadata().getDeletionGracePeriodSeconds(), Duration.ZERO);
        return own.compareTo(given) < 0 ? given : own;
    }

    private static Duration seconds(@Nullable Long given, Duration otherwise) {
        return given == null ? otherwise : Duration.ofSeconds(given);
    }

    /** What is known of a node. */
    public NodeView node(Node node) {
        var spec = node.getSpec();
        Map<String, String> annotations =
                Objects.requireNonNullElse(node.getMetadata().getAnnotations(), Map.of());
        Amounts allocatable =
                node.getStatus() == null
                        ? Amounts.NONE
                        : PodAmounts.amounts(node.getStatus().getAllocatable());
        return new NodeView(
                node.getMetadata().getName(),
                Objects.requireNonNullElse(node.getMetadata().getLabels(), Map.of()),
                spec == null ? List.of() : spec.getTaints(),
                spec != null && Boolean.TRUE.equals(spec.getUnschedulable()),
                placement.offered(allocatable, annotations),
                placement.layout(allocatable, annotations));
    }

    private static @Nullable String exemption(
            Pod pod, Map<String, String> namespaceAnnotations, Ending ending) {
        if ("true".equals(annotations(pod).get(Names.DO_NOT_RECLAIM_ANNOTATION))) {
            return "it is annotated " + Names.DO_NOT_RECLAIM_ANNOTATION;
        }
        if ("true".equals(namespaceAnnotations.get(Names.DO_NOT_RECLAIM_ANNOTATION))) {
            return "its namespace is annotated " + Names.DO_NOT_RECLAIM_ANNOTATION;
        }
        // A pod without our label is no exception: the sweep charges it, and who could slip a whole
        // GPU past the webhook would keep it for ever.
        if (pod.getSpec().getNodeName() == null) {
            return "it does not run yet";
        }
        if (isOverdue(pod, ending)) {
            return "its kubelet has not ended it, though its grace is over";
        }
        if (priority(pod.getSpec()) > HIGHEST_USER_PRIORITY) {
            return "its class belongs to the cluster";
        }
        return isStatic(pod) ? "its node's kubelet runs it from a file" : null;
    }

    // Anybody may write either of the two into a pod of his own, but a kubelet removes a mirror pod
    // that it has no file for.
    private static boolean isStatic(Pod pod) {
        return annotations(pod).containsKey(MIRROR_ANNOTATION)
                && controller(pod).filter(owner -> owner.getKind().equals("Node")).isPresent();
    }

    /** What decides about its place and cannot be seen from here. */
    private static @Nullable String unjudged(PodSpec spec, String message) {
        if (dependsOnPods(spec.getAffinity()) || message.contains("anti-affinity")) {
            return "its place depends on other pods (affinity)";
        }
        if (spec.getTopologySpreadConstraints().stream()
                .anyMatch(it -> "DoNotSchedule".equals(it.getWhenUnsatisfiable()))) {
            return "its place depends on other pods (topology spread)";
        }
        if (!spec.getResourceClaims().isEmpty()) {
            return "it has resource claims";
        }
        if (Stream.concat(spec.getContainers().stream(), spec.getInitContainers().stream())
                .map(Container::getPorts)
                .flatMap(List::stream)
                .map(ContainerPort::getHostPort)
                .anyMatch(port -> port != null && port > 0)) {
            return "it wants ports of its node";
        }
        return message.contains("volume") || message.contains("persistentvolumeclaim")
                ? "the scheduler has objections because of a volume"
                : null;
    }

    private static boolean dependsOnPods(@Nullable Affinity affinity) {
        if (affinity == null) {
            return false;
        }
        var near = affinity.getPodAffinity();
        var far = affinity.getPodAntiAffinity();
        return (near != null && !near.getRequiredDuringSchedulingIgnoredDuringExecution().isEmpty())
                || (far != null
                        && !far.getRequiredDuringSchedulingIgnoredDuringExecution().isEmpty());
    }

    private static SchedulingConstraints constraints(PodSpec spec) {
        List<NodeSelectorTerm> terms =
                Optional.ofNullable(spec.getAffinity())
                        .map(Affinity::getNodeAffinity)
                        .map(it -> it.getRequiredDuringSchedulingIgnoredDuringExecution())
                        .map(it -> it.getNodeSelectorTerms())
                        .orElse(List.of());
        return new SchedulingConstraints(
                Objects.requireNonNullElse(spec.getNodeSelector(), Map.of()),
                terms,
                spec.getTolerations());
    }

    private String gang(Pod pod, Ending ending) {
        if (isOverdue(pod, ending)) {
            // Else whoever lets one pod of a job linger would keep them all.
            return pod.getMetadata().getUid();
        }
        String label =
                gangLabel.isEmpty() || pod.getMetadata().getLabels() == null
                        ? null
                        : pod.getMetadata().getLabels().get(gangLabel);
        if (label != null) {
            return pod.getMetadata().getNamespace() + "/" + label;
        }
        return controller(pod)
                .filter(owner -> owner.getKind().equals("Job"))
                .map(OwnerReference::getUid)
                .orElse(pod.getMetadata().getUid());
    }

    private static Instant since(Pod pod) {
        return conditions(pod)
                .filter(it -> it.getType().equals("PodScheduled") && it.getStatus().equals("True"))
                .map(PodCondition::getLastTransitionTime)
                .findFirst()
                .or(() -> Optional.of(pod.getMetadata().getCreationTimestamp()))
                .map(Instant::parse)
                .orElseThrow();
    }

    private static Optional<PodCondition> unschedulable(Pod pod) {
        return conditions(pod)
                .filter(it -> it.getType().equals("PodScheduled"))
                .filter(it -> it.getStatus().equals("False"))
                .filter(it -> "Unschedulable".equals(it.getReason()))
                .findFirst();
    }

    private static Stream<PodCondition> conditions(Pod pod) {
        return pod.getStatus() == null ? Stream.of() : pod.getStatus().getConditions().stream();
    }

    private static @Nullable String place(Pod pod) {
        String node = pod.getSpec().getNodeName();
        return node != null || pod.getStatus() == null
                ? node
                : pod.getStatus().getNominatedNodeName();
    }

    private static String phase(Pod pod) {
        return pod.getStatus() == null
                ? ""
                : Objects.requireNonNullElse(pod.getStatus().getPhase(), "");
    }

    private static int priority(PodSpec spec) {
        return spec.getPriority() == null ? 0 : spec.getPriority();
    }

    private static Map<String, String> annotations(Pod pod) {
        return Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of());
    }

    private static Optional<OwnerReference> controller(Pod pod) {
        return pod.getMetadata().getOwnerReferences().stream()
                .filter(owner -> Boolean.TRUE.equals(owner.getController()))
                .findFirst();
    }

    private static PodRef ref(Pod pod) {
        return new PodRef(
                pod.getMetadata().getUid(),
                pod.getMetadata().getNamespace(),
                pod.getMetadata().getName());
    }
}
