package io.gpusharing.scheduler.cluster;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.AnnotationBytes;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.AliyunGrammar;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.scheduler.gpus.Dialect;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.pods.PodEnd;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuGroup;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.wire.PlacementAnnotation;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads what a pod asks of physical GPUs, and where it was placed. */
public final class GpuPodReader {

    private final ProviderAsk asks;
    private final Strategy strategy;
    private final PodSharing sharing;

    /**
     * @param asks what the resources of containers mean
     * @param strategy of pods that name none
     * @param sharing how pods share GPUs
     */
    public GpuPodReader(ProviderAsk asks, Strategy strategy, PodSharing sharing) {
        this.asks = asks;
        this.strategy = strategy;
        this.sharing = sharing;
    }

    /** A pod that is to be placed. */
    public GpuPod waiting(Pod pod) {
        PodRequest request = request(pod);
        return gpuPod(pod, request, sharing.of(pod, asks.of(request)));
    }

    /**
     * Why a pod can be placed nowhere whatever is free, in words; empty if it may be.
     *
     * @param asks what it asks for
     */
    public static Optional<String> unplaceable(Pod pod, List<ContainerAsk> asks) {
        if (PlacementAnnotation.bytes(asks) > PlacementAnnotation.MOST_BYTES) {
            return Optional.of(
                    "it has %d containers with GPUs, and on which they are is more than the %d bytes that are written: spread them over several pods"
                            .formatted(asks.size(), PlacementAnnotation.MOST_BYTES));
        }
        long annotations =
                AnnotationBytes.of(
                        requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of()));
        long tooMuch = annotations + PlacementAnnotation.ROOM - AnnotationBytes.MOST;
        return tooMuch <= 0
                ? Optional.empty()
                : Optional.of(
                        "its annotations have %d bytes, which leaves no room for %s: shorten them by %d"
                                .formatted(annotations, PlacementAnnotation.KEY, tooMuch));
    }

    /** A pod that is bound, with the GPUs that are written on it. */
    GpuPod placed(Pod pod) {
        ObjectMeta metadata = pod.getMetadata();
        PodRequest request = request(pod);
        return gpuPod(
                pod,
                request,
                sharing.of(
                        pod,
                        PlacementAnnotation.placed(
                                asks.of(request),
                                metadata.getUid(),
                                requireNonNullElse(metadata.getAnnotations(), Map.of()))));
    }

    private static PodRequest request(Pod pod) {
        return ResourceReader.request(pod.getSpec(), name -> name.indexOf('/') > 0);
    }

    private GpuPod gpuPod(Pod pod, PodRequest request, List<ContainerAsk> asks) {
        ObjectMeta metadata = pod.getMetadata();
        return new GpuPod(
                metadata.getUid(),
                metadata.getNamespace(),
                metadata.getName(),
                asks,
                pod.getSpec().getContainers().stream().map(Container::getName).toList(),
                dialect(request),
                RunningPodReader.priority(pod),
                PodEnd.of(pod),
                strategy(metadata),
                group(metadata, asks));
    }

    static @Nullable GpuGroup group(ObjectMeta metadata, List<ContainerAsk> asks) {
        return GpuGroup.of(metadata.getNamespace(), metadata.getAnnotations(), asks).orElse(null);
    }

    /** Admission lets no other value pass. */
    private Strategy strategy(ObjectMeta metadata) {
        String wanted =
                requireNonNullElse(metadata.getAnnotations(), Map.<String, String>of())
                        .get(Names.STRATEGY_ANNOTATION);
        return wanted == null ? strategy : Strategy.of(wanted).orElse(strategy);
    }

    /** Admission lets nobody mix them. */
    private static Dialect dialect(PodRequest request) {
        if (request.asksFor(VcudaGrammar.CORE::equals)) {
            return Dialect.Vcuda;
        }
        return request.asksFor(AliyunGrammar.MEMORY::equals) ? Dialect.Aliyun : Dialect.Metagpu;
    }
}
