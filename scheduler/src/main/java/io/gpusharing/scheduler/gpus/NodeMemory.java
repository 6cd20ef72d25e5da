package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.wire.GpuHold;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The memory of a node's GPUs, and who has it. */
public record NodeMemory(String node, List<GpuMemory> gpus) {

    public NodeMemory {
        gpus = List.copyOf(gpus);
    }

    /**
     * The memory of a node that shares its GPUs.
     *
     * @param all its GPUs, healthy or not
     * @param bound its pods by UID
     * @param holds what each pod holds by UID
     */
    static NodeMemory of(
            SharedNode node,
            GpuLayout all,
            Map<String, GpuPod> bound,
            Map<String, List<GpuHold>> holds) {
        var used = new HashMap<String, Long>();
        var pods = new HashMap<String, List<PodMemory>>();
        holds.forEach((uid, held) -> {
            GpuPod pod = bound.get(uid);
            for (GpuHold hold : held) {
                used.merge(hold.gpu(), hold.memory(), Long::sum);
                if (pod != null) {
                    pods.computeIfAbsent(hold.gpu(), gpu -> new ArrayList<>())
                            .add(new PodMemory(pod.namespace(), pod.name(), hold.memory()));
                }
            }
        });
        return new NodeMemory(
                node.name(),
                all.gpus().stream()
                        .map(gpu ->
                                new GpuMemory(
                                        node.indexes().get(gpu.id()),
                                        gpu.memory(),
                                        used.getOrDefault(gpu.id(), 0L),
                                        pods.getOrDefault(gpu.id(), List.of())))
                        .toList());
    }

    /**
     * One GPU, healthy or not.
     *
     * @param index its number by NVML; null if it is not known
     * @param total MiB; 0 if it is not known
     * @param used MiB that others cannot have, by pods that are bound, about to be, or not quite
     *     gone
     * @param pods those of them that are bound. One of which nobody says where it is may be on any
     *     GPU of its node, and is on each
     */
    public record GpuMemory(@Nullable Integer index, long total, long used, List<PodMemory> pods) {

        public GpuMemory {
            pods = List.copyOf(pods);
        }
    }

    /**
     * A pod on a GPU.
     *
     * @param memory MiB that it has of this one
     */
    public record PodMemory(String namespace, String name, long memory) {}
}
