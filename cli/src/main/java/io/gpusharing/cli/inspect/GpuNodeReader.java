package io.gpusharing.cli.inspect;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.wire.GpuHold;
import io.gpusharing.wire.GpuNodeStatus;
import io.gpusharing.wire.GpuNodeStatus.Gpu;
import io.gpusharing.wire.GpuNodeStatus.Grant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
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
     * @param pods that are bound to any node
     */
    static Host read(GpuNode node, @Nullable Node kubernetesNode, List<Pod> pods) {
        List<Gpu> gpus = requireNonNullElse(node.getStatus().gpus(), List.of());
        var shared = SharedNode.of(node.getMetadata().getName(), node.getStatus());
        // Init containers use what the others hold: placing knows how that adds up.
        Map<String, List<GpuHold>> held = shared.granted();
        var placed = new PlacedPods(shared, pods);
        var read = new ArrayList<HostGpu>();
        for (Gpu gpu : gpus) {
            boolean split = Boolean.TRUE.equals(gpu.mig());
            long memory = requireNonNullElse(gpu.memoryMiB(), 0L);
            List<PodPart> parts =
                    split
                            ? List.of()
                            : Stream.concat(
                                            pods(gpu, memory, held).stream(),
                                            placed.on(gpu.uuid()).stream())
                                    .toList();
            read.add(
                    new HostGpu(
                            index(gpu, read.size()),
                            gpu.uuid(),
                            gpu.model(),
                            state(gpu, split, parts),
                            gpu.reason(),
                            split ? null : WHOLE_CORE,
                            memory,
                            parts));
        }
        return new Host(
                node.getMetadata().getName(),
                Host.address(kubernetesNode),
                Host.Source.GpuNode,
                node.getStatus().tier(),
                1,
                read,
                placed.unplaced());
    }

    /** The device plugin calls a GPU idle until the first container on it starts. */
    private static String state(Gpu gpu, boolean split, List<PodPart> parts) {
        if (!gpu.health().equals("Healthy")) {
            return HostGpu.UNHEALTHY;
        }
        if (split) {
            return HostGpu.MIG;
        }
        if (!gpu.mode().equals(HostGpu.IDLE) || parts.isEmpty()) {
            return gpu.mode();
        }
        boolean whole =
                parts.size() == 1 && Long.valueOf(WHOLE_CORE).equals(parts.getFirst().core());
        return whole ? HostGpu.WHOLE : HostGpu.SHARED;
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
