package io.gpusharing.cli.inspect;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.PodPhase;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.GpuHold;
import io.gpusharing.wire.PlacementAnnotation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What pods that are bound to a node of ours have of its GPUs though its device plugin has granted
 * them nothing yet: between binding and start, and where nodes are simulated. Our scheduler wrote
 * on them on which GPUs they are.
 */
final class PlacedPods {

    /** Of sites that count metagpu otherwise the pod is shown once it has started. */
    private static final ProviderAsk ASKS = new ProviderAsk(Map.of("cnvrg.io/metagpu", 100));

    private final SharedNode node;
    private final Map<String, List<PodPart>> byGpu = new HashMap<>();
    private final List<PodPart> unplaced = new ArrayList<>();

    /**
     * @param pods of any node
     */
    PlacedPods(SharedNode node, List<Pod> pods) {
        this.node = node;
        pods.stream()
                .filter(pod -> node.name().equals(pod.getSpec().getNodeName()))
                .filter(pod -> !PodPhase.hasEnded(pod))
                .filter(pod -> !node.granted().containsKey(pod.getMetadata().getUid()))
                .filter(pod -> !node.refused().contains(pod.getMetadata().getUid()))
                .forEach(this::add);
    }

    private void add(Pod pod) {
        ObjectMeta metadata = pod.getMetadata();
        List<ContainerAsk> asks =
                PlacementAnnotation.placed(
                        ASKS.of(ResourceReader.request(pod.getSpec(), _ -> true)),
                        metadata.getUid(),
                        requireNonNullElse(metadata.getAnnotations(), Map.of()));
        if (asks.isEmpty()) {
            return;
        }
        List<GpuHold> holds =
                SharedNode.isPlaced(asks) ? node.held(metadata.getUid(), asks) : List.of();
        if (holds.isEmpty()) {
            unplaced.add(
                    part(
                            pod,
                            asks.stream().map(ContainerAsk::ask).mapToLong(PlacedPods::cores).sum(),
                            asks.stream().mapToLong(it -> memory(it.ask())).sum()));
        }
        for (GpuHold hold : holds) {
            byGpu.computeIfAbsent(hold.gpu(), _ -> new ArrayList<>())
                    .add(part(pod, hold.cores(), hold.memory()));
        }
    }

    /** Those on a GPU. */
    List<PodPart> on(String gpu) {
        return byGpu.getOrDefault(gpu, List.of());
    }

    /** Those of which nobody says on which GPU they are. */
    List<PodPart> unplaced() {
        return unplaced;
    }

    private static long cores(GpuAsk ask) {
        return ask.count() * ask.cores();
    }

    private long memory(GpuAsk ask) {
        return ask.count() * (ask.whole() ? memoryOfAGpu() : ask.memory());
    }

    private long memoryOfAGpu() {
        return node.gpus().isEmpty() ? 0 : node.gpus().getFirst().memory();
    }

    private static PodPart part(Pod pod, long core, long memoryMiB) {
        return new PodPart(
                pod.getMetadata().getNamespace(), pod.getMetadata().getName(), core, memoryMiB);
    }
}
