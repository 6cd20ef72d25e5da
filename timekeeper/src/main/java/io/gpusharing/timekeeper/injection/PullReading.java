package io.gpusharing.timekeeper.injection;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.timekeeper.injection.Pull.Done;
import io.gpusharing.timekeeper.injection.Pull.Failing;
import io.gpusharing.timekeeper.injection.Pull.Place;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Reads from a pod's status what became of the container that we injected. */
final class PullReading {

    /** Labels that a kubelet gives its node. */
    private static final String OS = "kubernetes.io/os";

    private static final String ARCHITECTURE = "kubernetes.io/arch";

    /** Reasons for which the kubelet keeps a container waiting for its image. */
    private static final Set<String> FAILURES =
            Set.of(
                    "ErrImagePull",
                    "ImagePullBackOff",
                    "InvalidImageName",
                    "ErrImageNeverPull",
                    "ImageInspectError",
                    "RegistryUnavailable",
                    "SignatureValidationFailed");

    private static final String LINUX = "linux";

    private PullReading() {}

    /**
     * Empty if the pod has no container of ours, or its image has not been asked for yet; also
     * where no container of ours could run, whatever the registry says.
     *
     * @param nodeLabels of the node where the pod is; none while they are not known
     */
    static Optional<Pull> of(Pod pod, Map<String, String> nodeLabels) {
        if (!nodeLabels.getOrDefault(OS, LINUX).equals(LINUX)) {
            return Optional.empty();
        }
        String name =
                pod.getMetadata().getAnnotations() == null
                        ? null
                        : pod.getMetadata().getAnnotations().get(Names.SIDECAR_ANNOTATION);
        if (name == null || pod.getStatus() == null) {
            return Optional.empty();
        }
        Optional<Container> ours =
                first(pod.getSpec().getInitContainers(), it -> name.equals(it.getName()));
        return ours.flatMap(container ->
                first(pod.getStatus().getInitContainerStatuses(), it -> name.equals(it.getName()))
                        .flatMap(status ->
                                pull(pod, container.getImage(), place(pod, nodeLabels), status)));
    }

    private static Place place(Pod pod, Map<String, String> nodeLabels) {
        return new Place(
                pod.getMetadata().getNamespace(),
                nodeLabels.containsKey(ARCHITECTURE)
                        ? LINUX + "/" + nodeLabels.get(ARCHITECTURE)
                        : "");
    }

    private static Optional<Pull> pull(Pod pod, String image, Place place, ContainerStatus status) {
        Optional<Instant> started = started(status);
        if (started.isPresent()) {
            return Optional.of(new Done(image, place, started.get()));
        }
        ContainerState state = status.getState();
        boolean fails =
                state != null
                        && state.getWaiting() != null
                        && FAILURES.contains(String.valueOf(state.getWaiting().getReason()));
        return fails
                ? Optional.of(
                        new Failing(
                                UUID.fromString(pod.getMetadata().getUid()),
                                ApiTime.read(pod.getMetadata().getCreationTimestamp()),
                                image,
                                place,
                                pod.getMetadata()
                                        .getAnnotations()
                                        .getOrDefault(Names.BUDGET_ANNOTATION, ""),
                                Objects.requireNonNullElse(pod.getSpec().getNodeName(), "")))
                : Optional.empty();
    }

    /** A container that ran once has its image, whatever became of it. */
    private static Optional<Instant> started(ContainerStatus status) {
        return Stream.of(
                        Optional.ofNullable(status.getState()),
                        Optional.ofNullable(status.getLastState()))
                .flatMap(Optional::stream)
                .flatMap(state ->
                        Stream.of(
                                Optional.ofNullable(state.getRunning())
                                        .map(it -> it.getStartedAt()),
                                Optional.ofNullable(state.getTerminated())
                                        .map(it -> it.getStartedAt())))
                .flatMap(Optional::stream)
                .map(ApiTime::read)
                .max(Instant::compareTo);
    }

    private static <T> Optional<T> first(List<T> all, Predicate<T> wanted) {
        return all.stream().filter(wanted).findFirst();
    }
}
