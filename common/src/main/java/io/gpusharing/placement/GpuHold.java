package io.gpusharing.placement;

/**
 * What a pod holds of one physical GPU.
 *
 * @param gpu the provider's name for the GPU
 * @param cores hundredths of its processors
 * @param memory device memory, in the provider's own blocks
 * @param whole whether nobody else may hold any of it
 */
public record GpuHold(String gpu, long cores, long memory, boolean whole) {}
