package io.gpusharing.scheduler.gpus;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The memory of a node's GPUs, and who has it. */
public record NodeMemory(String node, List<GpuMemory> gpus) {

    public NodeMemory {
        gpus = List.copyOf(gpus);
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
