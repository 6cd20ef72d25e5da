package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.placement.PlacementAnnotation;
import io.gpusharing.placement.PodPlacement.ContainerAsk;
import io.gpusharing.placement.ProviderAsk;
import io.gpusharing.scheduler.gpus.GpuPod;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.stereotype.Component;

/** Reads what a pod asks of physical GPUs, and where it was placed. */
@Component
public class GpuPodReader {

    private final ProviderAsk asks;

    /**
     * @param asks what the resources of containers mean
     */
    public GpuPodReader(ProviderAsk asks) {
        this.asks = asks;
    }

    /** A pod that is to be placed. */
    public GpuPod waiting(Pod pod) {
        ObjectMeta metadata = pod.getMetadata();
        return new GpuPod(
                metadata.getUid(),
                metadata.getNamespace(),
                metadata.getName(),
                asks.of(ResourceReader.request(pod.getSpec(), name -> name.indexOf('/') > 0)));
    }

    /**
     * A pod that is bound, with the GPUs that are written on it. What was written for another pod
     * places nobody.
     */
    GpuPod placed(Pod pod) {
        GpuPod waiting = waiting(pod);
        Map<String, String> annotations = pod.getMetadata().getAnnotations();
        String text = annotations == null ? null : annotations.get(PlacementAnnotation.KEY);
        Map<String, Set<String>> gpus =
                text == null
                        ? Map.of()
                        : PlacementAnnotation.parse(text)
                                .filter(it -> it.podUid().equals(waiting.uid()))
                                .map(PlacementAnnotation::gpus)
                                .orElse(Map.of());
        List<ContainerAsk> placed =
                waiting.asks().stream()
                        .map(ask ->
                                new ContainerAsk(
                                        ask.container(),
                                        ask.kind(),
                                        ask.ask(),
                                        gpus.getOrDefault(ask.container(), Set.of())))
                        .toList();
        return new GpuPod(waiting.uid(), waiting.namespace(), waiting.name(), placed);
    }
}
