package io.gpusharing.webhook.policy;

import io.gpusharing.Names;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.RequestGrammar;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.webhook.decision.Findings;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.PodView.Container;
import io.gpusharing.webhook.review.PodView.Volume;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * What a pod says of MPS. The device plugin tells a client its daemon and its limits by variables,
 * and the limits bind only who keeps to them. A pod that sets such variables itself relies on what
 * does not hold, or means to get around its limits: neither passes unseen.
 */
public final class MpsPolicy {

    private final MpsProperties properties;

    public MpsPolicy(MpsProperties properties) {
        this.properties = properties;
    }

    /**
     * Ways to MPS past the device plugin.
     *
     * @param asksForAPart whether the pod asks for a part of a GPU that our device plugin offers
     */
    public void checkBypass(PodView pod, BooleanSupplier asksForAPart, Findings findings) {
        if (!properties.enabled()) {
            return;
        }
        List<Container> setting =
                pod.allContainers().stream()
                        .filter(container -> container.mpsVariable() != null)
                        .toList();
        List<Volume> pipes = pod.volumes().stream().filter(MpsPolicy::isPipe).toList();
        if ((setting.isEmpty() && pipes.isEmpty() && !pod.spec().hostIpc())
                || !asksForAPart.getAsBoolean()) {
            return;
        }
        for (Container container : setting) {
            findings.react(
                    properties.bypass(),
                    "MPS_VARIABLE",
                    "container \"%s\": %s is for the device plugin to set, as are all that begin with CUDA_MPS_; remove it"
                            .formatted(container.name(), container.mpsVariable()));
        }
        if (pod.spec().hostIpc()) {
            findings.react(
                    properties.bypass(),
                    "HOST_IPC",
                    "spec.hostIPC is true: with a part of a GPU the pod would share memory with programs of the node, and take turns on the GPU; remove it");
        }
        for (Volume volume : pipes) {
            findings.react(
                    properties.bypass(),
                    "MPS_PATH",
                    "volume \"%s\": hostPath %s reaches MPS daemons past the device plugin; remove it"
                            .formatted(volume.name(), volume.hostPath()));
        }
    }

    /** Of the root of the node it is said already that it is a device path. */
    private static boolean isPipe(Volume volume) {
        return volume.hostPath() != null
                && MpsPath.matches(volume.hostPath())
                && !DevicePath.matches(volume.hostPath());
    }

    /** The annotation's value, and whether it has the effect that its author expects. */
    void checkWish(
            String value,
            PodView pod,
            PodRequest request,
            RequestGrammar grammar,
            Findings findings) {
        if (!Sharing.WISHES.contains(value)) {
            findings.refuse(
                    "ILLEGAL_MPS",
                    "annotation %s is \"%s\"; write %s, or remove it"
                            .formatted(
                                    Names.MPS_ANNOTATION,
                                    value,
                                    String.join(" or ", Sharing.WISHES)));
        } else if (value.equals(Sharing.ENABLED)) {
            whyNot(pod, request, grammar)
                    .ifPresent(reason ->
                            findings.warn(
                                    "annotation %s has no effect: %s"
                                            .formatted(Names.MPS_ANNOTATION, reason)));
        }
    }

    /** Why its containers cannot be clients of MPS; empty if they can where a node serves it. */
    private Optional<String> whyNot(PodView pod, PodRequest request, RequestGrammar grammar) {
        if (!grammar.asksForAPart(request)) {
            return Optional.of("the pod asks for whole GPUs, which it shares with nobody");
        }
        if (!properties.enabled()) {
            return Optional.of("this site serves no MPS; the pod takes turns with others");
        }
        if (pod.spec().hostIpc()) {
            return Optional.of("spec.hostIPC is true, so the pod takes turns with others");
        }
        var parts = new HashSet<String>();
        for (ContainerRequest container : request.containers()) {
            PodRequest own = new PodRequest(List.of(container));
            if (!grammar.asksForAPart(own)) {
                continue;
            }
            if (RequestAnnotations.isMoreThanOne(own, grammar)) {
                return Optional.of(
                        "container \"%s\" asks for more than a GPU, so the pod takes turns with others"
                                .formatted(container.name()));
            }
            parts.add(container.name());
        }
        return pod.allContainers().stream()
                .filter(Container::ownSharedMemory)
                .map(Container::name)
                .filter(parts::contains)
                .findFirst()
                .map(
                        "container \"%s\" has a volume of its own at /dev/shm, so the pod takes turns with others"
                                ::formatted);
    }
}
