/**
 * What is free on each physical GPU of a node, and where a pod would fit: {@link GpuLayout#place}
 * says it, {@link GpuLayout#without} what would be left. Pure, so that whoever hands out GPUs and
 * whoever makes room for a pod compute the same.
 */
@NullMarked
package io.gpusharing.placement;

import org.jspecify.annotations.NullMarked;
