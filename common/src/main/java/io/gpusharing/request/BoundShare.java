package io.gpusharing.request;

/**
 * What a pod holds on its node.
 *
 * @param share compute and memory part, in micro-GPUs
 * @param memoryKnown false if the node did not tell how large its devices are; the memory part is
 *     then 0 for fractions
 */
public record BoundShare(GpuShare share, boolean memoryKnown) {}
