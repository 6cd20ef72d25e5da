package io.gpusharing.cli.inspect;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Node;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.wire.GpuHold;
import io.gpusharing.wire.GpuNodeStatus;
import io.gpusharing.wire.GpuNodeStatus.Gpu;
import io.gpusharing.wire.GpuNodeStatus.Grant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads what our device plugin says of its node. */
final class GpuNodeReader {

    /** More than any driver counts on a node. */
    private static final int MOST_GPUS = 1_000;

    private static final long WHOLE_CORE = 100;

    private GpuNodeReader() {}

    /** Whether our device plugin hands out GPUs there; where another does, it says nothing. */
    static boolean serves(GpuNode node) {
        GpuNodeStatus status = node.getStatus();
        return status != null
                && status.gpus() != null
                && (status.resources() == null || !status.resources().isEmpty());
    }

    /** A table has a column for each number, so one that no driver gives is not believed. */
    private static int index(Gpu gpu, int position) {
        Long index = gpu.index();
        return index == null || index > MOST_GPUS ? position : index.intValue();
    }

    /**
     * @param kubernetesNode null if it was not shown to us
     */
    static Host read(GpuNode node, @Nullable Node kubernetesNode) {
        List<Gpu> gpus = requireNonNullElse(node.getStatus().gpus(), List.of());
        // Init containers use what the others hold: placing knows how that adds up.
        Map<String, List<GpuHold>> held =
                SharedNode.of(node.getMetadata().getName(), node.getStatus()).granted();
        var read = new ArrayList<HostGpu>();
        for (Gpu gpu : gpus) {
            boolean split = Boolean.TRUE.equals(gpu.mig());
            long memory = requireNonNullElse(gpu.memoryMiB(), 0L);
            read.add(
                    new HostGpu(
                            index(gpu, read.size()),
                            gpu.uuid(),
                            gpu.model(),
                            state(gpu, split),
                            gpu.reason(),
                            split ? null : WHOLE_CORE,
                            memory,
                            split ? List.of() : pods(gpu, memory, held)));
        }
        return new Host(
                node.getMetadata().getName(),
                Host.address(kubernetesNode),
                Host.Source.GpuNode,
                node.getStatus().tier(),
                1,
                read,
                List.of());
    }

    private static String state(Gpu gpu, boolean split) {
        if (!gpu.health().equals("Healthy")) {
            return HostGpu.UNHEALTHY;
        }
        return split ? HostGpu.MIG : gpu.mode();
    }

    private static List<PodPart> pods(Gpu gpu, long memory, Map<String, List<GpuHold>> held) {
        return requireNonNullElse(gpu.grants(), List.<Grant>of()).stream()
                .map(grant -> new Holder(grant.podUid(), grant.namespace(), grant.pod()))
                .distinct()
                .flatMap(pod ->
                        held.getOrDefault(pod.uid(), List.of()).stream()
                                .filter(hold -> hold.gpu().equals(gpu.uuid()))
                                .map(hold -> part(pod, hold, memory)))
                .toList();
    }

    private static PodPart part(Holder pod, GpuHold hold, long memory) {
        return hold.whole()
                ? new PodPart(pod.namespace(), pod.name(), WHOLE_CORE, memory)
                : new PodPart(pod.namespace(), pod.name(), hold.cores(), hold.memory());
    }

    private record Holder(String uid, String namespace, String name) {}
}
