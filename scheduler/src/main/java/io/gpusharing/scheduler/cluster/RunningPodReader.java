package io.gpusharing.scheduler.cluster;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.scheduler.preemption.Preemptor;
import io.gpusharing.scheduler.preemption.RunningPod;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads what decides whether a pod has to go for another. */
public final class RunningPodReader {

    /** What the API server writes where nothing is said. */
    private static final long DEFAULT_GRACE = 30;

    private final String gangLabel;

    /**
     * @param gangLabel label whose value names a gang within its namespace; empty for none
     */
    public RunningPodReader(String gangLabel) {
        this.gangLabel = gangLabel;
    }

    /** A pod that is bound. */
    RunningPod running(Pod pod) {
        var metadata = pod.getMetadata();
        Instant started =
                pod.getStatus() == null
                        ? null
                        : ApiTime.readPresent(pod.getStatus().getStartTime());
        return new RunningPod(
                metadata.getUid(),
                metadata.getNamespace(),
                metadata.getName(),
                Map.copyOf(requireNonNullElse(metadata.getLabels(), Map.of())),
                priority(pod),
                requireNonNullElse(started, Instant.MAX),
                deletion(pod),
                grace(pod),
                gang(pod));
    }

    /** The API server takes a negative one, too, and kubelets take it for a second. */
    private static Duration grace(Pod pod) {
        Long seconds = pod.getSpec().getTerminationGracePeriodSeconds();
        return Duration.ofSeconds(seconds == null ? DEFAULT_GRACE : Math.max(1, seconds));
    }

    /**
     * A pod that waits.
     *
     * @param asks what it asks of GPUs of ours
     */
    public Preemptor preemptor(Pod pod, List<ContainerAsk> asks) {
        return new Preemptor(
                pod.getMetadata().getUid(),
                priority(pod),
                !"Never".equals(pod.getSpec().getPreemptionPolicy()) && isJudged(pod.getSpec()),
                gang(pod),
                GpuPodReader.group(pod.getMetadata(), asks),
                asks,
                requests(pod));
    }

    /**
     * Whether sums and GPUs alone decide where it fits. Whoever must go so that others are away
     * from it, or a port is free, is not known here: somebody else would go in vain.
     */
    private static boolean isJudged(PodSpec spec) {
        Affinity affinity = spec.getAffinity();
        return (affinity == null
                        || (affinity.getPodAffinity() == null
                                && affinity.getPodAntiAffinity() == null))
                && requireNonNullElse(spec.getTopologySpreadConstraints(), List.of()).isEmpty()
                && spec.getContainers().stream()
                        .flatMap(it ->
                                requireNonNullElse(it.getPorts(), List.<ContainerPort>of())
                                        .stream())
                        .allMatch(port -> port.getHostPort() == null);
    }

    static Amounts requests(Pod pod) {
        return ResourceReader.requests(
                pod.getSpec(), ResourceReader.request(pod.getSpec(), resource -> true));
    }

    /** By when it is to have ended; null if it is not being deleted. */
    static @Nullable Instant deletion(Pod pod) {
        return ApiTime.readPresent(pod.getMetadata().getDeletionTimestamp());
    }

    static int priority(Pod pod) {
        return requireNonNullElse(pod.getSpec().getPriority(), 0);
    }

    private String gang(Pod pod) {
        var metadata = pod.getMetadata();
        String group =
                gangLabel.isEmpty() || metadata.getLabels() == null
                        ? null
                        : metadata.getLabels().get(gangLabel);
        if (group != null) {
            return metadata.getNamespace() + "/" + group;
        }
        return requireNonNullElse(metadata.getOwnerReferences(), List.<OwnerReference>of()).stream()
                .filter(owner -> Boolean.TRUE.equals(owner.getController()))
                .filter(owner -> "Job".equals(owner.getKind()))
                .map(OwnerReference::getUid)
                .findFirst()
                .orElse(metadata.getUid());
    }
}
