package io.gpusharing.timekeeper.allocation;

import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.sharing.ProviderAsk;
import org.jspecify.annotations.Nullable;

/**
 * One GPU of a node, as its {@code GpuNode} describes it.
 *
 * @param model by the name that nodes are labelled with; null if it has none
 * @param memoryMiB 0 if that is not known
 */
public record PhysicalGpu(@Nullable String model, long memoryMiB) {

    /**
     * A pebibyte: what is said beyond is no GPU's, and must be summed up and written all the same.
     */
    private static final long MOST_MIB = 1L << 30;

    /**
     * As NVML names the model, which in labels has no spaces. Whoever has a node's token may write
     * any.
     */
    public static PhysicalGpu of(@Nullable String model, @Nullable Long memoryMiB) {
        return new PhysicalGpu(
                model == null || model.isBlank()
                        ? null
                        : PodReader.storable(model).strip().replaceAll("\\s+", "-"),
                memoryMiB == null ? 0 : Math.clamp(memoryMiB, 0, MOST_MIB));
    }

    /**
     * The node as if all of its GPUs were like this one, so that a part of their memory is a part
     * of this one's; in the units that our device plugin offers. The node itself if the memory is
     * not known.
     */
    public NodeFacts as(NodeFacts node) {
        return memoryMiB == 0 ? node : ProviderAsk.alike(node, memoryMiB);
    }
}
