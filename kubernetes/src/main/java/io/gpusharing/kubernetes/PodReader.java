package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.PodFacts.Lifecycle;
import io.gpusharing.kubernetes.PodFacts.Owner;
import io.gpusharing.kubernetes.PodFacts.Placement;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the few things of a pod that concern us; the rest is not kept in memory. */
public final class PodReader {

    /** Where it is noted who wrote when a pod was scheduled; no other such note is read. */
    public static final List<String> POD_SCHEDULED_FIELD =
            List.of(
                    "f:status",
                    "f:conditions",
                    "k:{\"type\":\"PodScheduled\"}",
                    "f:lastTransitionTime");

    /** How much later than a pod's own containers its meter may end without being charged. */
    private static final Duration METER_ENDS = Duration.ofMinutes(1);

    /** Reasons of {@code DisruptionTarget} that mean a lost node. */
    private static final Set<String> LOST = Set.of("DeletionByTaintManager", "DeletionByPodGC");

    /** Annotations that somebody here reads. */
    private static final Set<String> READ =
            Set.of(Names.DO_NOT_RECLAIM_ANNOTATION, Names.EXHAUSTED_AT_ANNOTATION);

    /** No name in Kubernetes is longer. */
    private static final int MAX_NAME = 253;

    private final Predicate<String> gpuResource;
    private final Function<Pod, Claimed> claims;

    /** Thousands of pods ask for the same in the same namespaces. */
    private final UnaryOperator<PodRequest> requests;

    private final UnaryOperator<String> names;

    /**
     * @param gpuResource which extended resources are GPUs
     */
    public PodReader(Predicate<String> gpuResource) {
        this(gpuResource, pod -> Claimed.NONE, UnaryOperator.identity(), UnaryOperator.identity());
    }

    /**
     * @param gpuResource which extended resources are GPUs
     * @param claims what a pod holds by resource claims
     * @param requests answers an equal request that is in memory already, where one is
     * @param names the same of names of namespaces, nodes and kinds
     */
    public PodReader(
            Predicate<String> gpuResource,
            Function<Pod, Claimed> claims,
            UnaryOperator<PodRequest> requests,
            UnaryOperator<String> names) {
        this.gpuResource = gpuResource;
        this.claims = claims;
        this.requests = requests;
        this.names = names;
    }

    /** The facts of a pod as the API server stores it. */
    public PodFacts read(Pod pod) {
        ObjectMeta meta = pod.getMetadata();
        PodRequest request = requests.apply(ResourceReader.request(pod.getSpec(), gpuResource));
        return new PodFacts(
                UUID.fromString(meta.getUid()),
                names.apply(meta.getNamespace()),
                meta.getName(),
                owner(meta),
                request,
                claims.apply(pod),
                annotations(meta),
                placement(pod),
                lifecycle(pod, request));
    }

    private @Nullable Owner owner(ObjectMeta meta) {
        return meta.getOwnerReferences().stream()
                .filter(reference -> Boolean.TRUE.equals(reference.getController()))
                .findFirst()
                .map(it ->
                        new Owner(
                                names.apply(inShort(it.getKind())),
                                inShort(it.getName()),
                                inShort(it.getUid())))
                .orElse(null);
    }

    /**
     * What people write: no database text holds the character 0, and the API server lets it pass.
     */
    public static String storable(String text) {
        return text.replace('\0', '\uFFFD');
    }

    /**
     * What is kept of a pod for its life. A real name is no longer; a tenant's may be a megabyte.
     */
    private static String inShort(String text) {
        return text.length() <= MAX_NAME
                ? storable(text)
                : storable(text.substring(0, MAX_NAME)).replaceAll("\\p{Cs}", "\uFFFD");
    }

    private static Map<String, String> annotations(ObjectMeta meta) {
        var kept = new HashMap<String, String>();
        for (String key : READ) {
            String value = meta.getAnnotations() == null ? null : meta.getAnnotations().get(key);
            if (value != null) {
                kept.put(key, inShort(value));
            }
        }
        return kept;
    }

    private Placement placement(Pod pod) {
        PodSpec spec = pod.getSpec();
        String nominated = pod.getStatus() == null ? null : pod.getStatus().getNominatedNodeName();
        return new Placement(
                spec.getNodeName() == null ? null : names.apply(spec.getNodeName()),
                nominated == null ? null : inShort(nominated),
                spec.getPriority() == null ? 0 : spec.getPriority(),
                !spec.getSchedulingGates().isEmpty(),
                unschedulableSince(pod.getStatus()));
    }

    /** The instants of a pod's life, from its status and from who wrote that. */
    private static Lifecycle lifecycle(Pod pod, PodRequest request) {
        PodStatus status = pod.getStatus() == null ? new PodStatus() : pod.getStatus();
        Instant scheduled = transition(status, "PodScheduled", "True");
        String meter = meter(pod, request);
        List<ContainerStatus> own =
                containers(status).filter(it -> !it.getName().equals(meter)).toList();
        Instant ownEnd = finished(own.stream());
        Instant lastEnd = finished(containers(status));
        return new Lifecycle(
                Objects.requireNonNull(instant(pod.getMetadata().getCreationTimestamp())),
                scheduled,
                pod.getMetadata().getManagedFields().stream()
                        .noneMatch(entry -> wrotePodScheduled(entry, scheduled)),
                instant(status.getStartTime()),
                PodPhase.hasEnded(pod),
                // Who stops the meter holds the GPUs on: a minute is more than it ever needs.
                ownEnd != null && lastEnd != null && lastEnd.isBefore(ownEnd.plus(METER_ENDS))
                        ? ownEnd
                        : lastEnd,
                own.stream().anyMatch(PodReader::isEndUnknown),
                lost(status),
                transition(status, "Ready", "False"),
                removal(pod.getMetadata()),
                written(pod.getMetadata()));
    }

    /** Since when the scheduler has found no place; null if it does not say so. */
    private static @Nullable Instant unschedulableSince(@Nullable PodStatus status) {
        PodCondition scheduled = condition(status, "PodScheduled");
        return scheduled != null && "Unschedulable".equals(scheduled.getReason())
                ? instant(scheduled.getLastTransitionTime())
                : null;
    }

    /**
     * The name of the sidecar that the webhook added; null if there is none. The annotation that
     * names it may be a tenant's where no webhook answered, so it must look like one, too.
     */
    private static @Nullable String meter(Pod pod, PodRequest request) {
        Map<String, String> annotations =
                Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of());
        String name = annotations.get(Names.SIDECAR_ANNOTATION);
        return request.containers().stream()
                        .filter(container -> container.kind() == Kind.NativeSidecar)
                        .filter(container -> container.name().equals(name))
                        .anyMatch(container -> container.limits().isEmpty())
                ? name
                : null;
    }

    private static Stream<ContainerStatus> containers(PodStatus status) {
        return Stream.of(
                        status.getContainerStatuses(),
                        status.getInitContainerStatuses(),
                        status.getEphemeralContainerStatuses())
                .flatMap(List::stream)
                .filter(container -> container.getState() != null);
    }

    private static @Nullable Instant finished(Stream<ContainerStatus> containers) {
        return containers
                .map(container -> container.getState().getTerminated())
                .filter(Objects::nonNull)
                .map(ContainerStateTerminated::getFinishedAt)
                .map(PodReader::instant)
                .filter(Objects::nonNull)
                .max(Instant::compareTo)
                .orElse(null);
    }

    /** It runs, waits to run again, or its kubelet has lost sight of it. */
    private static boolean isEndUnknown(ContainerStatus container) {
        ContainerState state = container.getState();
        if (state.getTerminated() != null) {
            return instant(state.getTerminated().getFinishedAt()) == null;
        }
        return state.getRunning() != null
                || (container.getLastState() != null
                        && container.getLastState().getTerminated() != null);
    }

    private static @Nullable Instant lost(PodStatus status) {
        PodCondition condition = condition(status, "DisruptionTarget");
        return condition != null && LOST.contains(String.valueOf(condition.getReason()))
                ? transition(status, "DisruptionTarget", "True")
                : null;
    }

    /**
     * Whether this entry is of somebody who wrote when the pod was scheduled. What the API server
     * stamps at a binding is nobody's write: there an entry may be left of a scheduler that noted
     * before that it had found no place.
     */
    private static boolean wrotePodScheduled(
            ManagedFieldsEntry entry, @Nullable Instant scheduled) {
        if (!"status".equals(entry.getSubresource()) || !hasPodScheduled(entry)) {
            return false;
        }
        Instant written = instant(entry.getTime());
        // The kubelet's own clock may be ahead of the entry's time.
        return "kubelet".equals(entry.getManager())
                || scheduled == null
                || written == null
                || written.isAfter(scheduled);
    }

    /** Whether somebody's entry says that they wrote when the pod was scheduled. */
    private static boolean hasPodScheduled(ManagedFieldsEntry entry) {
        Object fields =
                entry.getFieldsV1() == null ? null : entry.getFieldsV1().getAdditionalProperties();
        for (String name : POD_SCHEDULED_FIELD) {
            fields = fields instanceof Map<?, ?> map ? map.get(name) : null;
        }
        return fields != null;
    }

    /** Nodes write the instants in a status; when it was written, the API server notes itself. */
    private static @Nullable Instant written(ObjectMeta meta) {
        return meta.getManagedFields().stream()
                .filter(entry -> "status".equals(entry.getSubresource()))
                .map(entry -> instant(entry.getTime()))
                .filter(Objects::nonNull)
                .max(Instant::compareTo)
                .orElse(null);
    }

    private static @Nullable Instant removal(ObjectMeta meta) {
        Long grace = meta.getDeletionGracePeriodSeconds();
        return grace != null && grace == 0 ? instant(meta.getDeletionTimestamp()) : null;
    }

    private static @Nullable Instant transition(PodStatus status, String type, String value) {
        PodCondition condition = condition(status, type);
        return condition != null && value.equals(condition.getStatus())
                ? instant(condition.getLastTransitionTime())
                : null;
    }

    private static @Nullable PodCondition condition(@Nullable PodStatus status, String type) {
        return status == null
                ? null
                : status.getConditions().stream()
                        .filter(condition -> type.equals(condition.getType()))
                        .findFirst()
                        .orElse(null);
    }

    private static @Nullable Instant instant(@Nullable String time) {
        return time == null || time.isEmpty() ? null : ApiTime.read(time);
    }
}
