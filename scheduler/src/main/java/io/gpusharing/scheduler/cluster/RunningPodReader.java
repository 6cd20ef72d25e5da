package io.gpusharing.scheduler.cluster;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.budget.Standing;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.pods.PodEnd;
import io.gpusharing.scheduler.pods.Unjudged;
import io.gpusharing.scheduler.preemption.Preemptor;
import io.gpusharing.scheduler.preemption.RunningPod;
import io.gpusharing.scheduler.preemption.RunningPod.Stamps;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads what decides whether a pod has to go for another. */
public final class RunningPodReader {

    private final Gangs gangs;

    public RunningPodReader(Gangs gangs) {
        this.gangs = gangs;
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
                PodEnd.of(pod),
                PodEnd.grace(pod),
                gangs.of(pod),
                stamps(pod),
                null);
    }

    private static Stamps stamps(Pod pod) {
        var metadata = pod.getMetadata();
        Map<String, String> annotations =
                requireNonNullElse(metadata.getAnnotations(), Map.<String, String>of());
        return new Stamps(
                PodLookup.isTrue(metadata.getLabels(), Names.METERED_LABEL),
                Standing.wasOver(annotations),
                PodLookup.isTrue(annotations, Names.DO_NOT_RECLAIM_ANNOTATION));
    }

    /**
     * A pod that waits.
     *
     * @param asks what it asks of GPUs of ours
     */
    public Preemptor preemptor(Pod pod, List<ContainerAsk> asks) {
        return new Preemptor(
                pod.getMetadata().getUid(),
                pod.getMetadata().getNamespace(),
                priority(pod),
                !"Never".equals(pod.getSpec().getPreemptionPolicy())
                        && Unjudged.of(pod.getSpec()) == null,
                gangs.of(pod),
                GpuPodReader.group(pod.getMetadata(), asks),
                asks,
                requests(pod),
                null,
                since(pod));
    }

    private static @Nullable Instant since(Pod pod) {
        return pod.getStatus() == null
                ? null
                : pod.getStatus().getConditions().stream()
                        .filter(it ->
                                "PodScheduled".equals(it.getType())
                                        && "False".equals(it.getStatus()))
                        .map(it -> ApiTime.readPresent(it.getLastTransitionTime()))
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null);
    }

    static Amounts requests(Pod pod) {
        return ResourceReader.requests(
                pod.getSpec(), ResourceReader.request(pod.getSpec(), resource -> true));
    }

    static int priority(Pod pod) {
        return requireNonNullElse(pod.getSpec().getPriority(), 0);
    }
}
