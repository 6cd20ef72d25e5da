package io.gpusharing.wire;

import io.gpusharing.sharing.Sharing;

/**
 * What a pod holds of one physical GPU.
 *
 * @param gpu the provider's name for the GPU
 * @param cores hundredths of its processors
 * @param memory device memory, in the provider's own blocks
 * @param whole whether nobody else may hold any of it
 * @param sharing how it shares the GPU with others; says nothing of a whole one
 */
public record GpuHold(String gpu, long cores, long memory, boolean whole, Sharing sharing) {

    /** By time slices. */
    public GpuHold(String gpu, long cores, long memory, boolean whole) {
        this(gpu, cores, memory, whole, Sharing.TIME_SLICES);
    }
}
