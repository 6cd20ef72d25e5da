package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.PodFacts.Lifecycle;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the instants of a pod's life, from its status and from the API server's notes of who wrote
 * that.
 */
final class LifecycleReader {

    /** How much later than a pod's own containers its meter may end without being charged. */
    private static final Duration METER_ENDS = Duration.ofMinutes(1);

    /** Reasons of {@code DisruptionTarget} that mean a lost node. */
    private static final Set<String> LOST = Set.of("DeletionByTaintManager", "DeletionByPodGC");

    private LifecycleReader() {}

    /**
     * Reads a pod as the API server stores it.
     *
     * @param request what the pod asks for, from which it is known which container is a meter
     */
    static Lifecycle read(Pod pod, PodRequest request) {
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
                own.stream().anyMatch(LifecycleReader::isEndUnknown),
                lost(status),
                transition(status, "Ready", "False"),
                removal(pod.getMetadata()),
                written(pod.getMetadata()));
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
                .map(LifecycleReader::instant)
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
        for (String name : PodReader.POD_SCHEDULED_FIELD) {
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

    /** The condition of a type; null if the status does not have it. */
    static @Nullable PodCondition condition(@Nullable PodStatus status, String type) {
        return status == null
                ? null
                : status.getConditions().stream()
                        .filter(condition -> type.equals(condition.getType()))
                        .findFirst()
                        .orElse(null);
    }

    /** An instant as the API server writes it; null of nothing. */
    static @Nullable Instant instant(@Nullable String time) {
        return time == null || time.isEmpty() ? null : ApiTime.read(time);
    }
}
