/**
 * What is free on a node and on each of its physical GPUs, and where a pod would fit: {@link
 * FreeCapacity} for a node, {@link GpuLayout} for its GPUs, {@link PlacementReader} for who holds
 * them. Pure, so that admission and reclaim compute the same.
 */
@NullMarked
package io.gpusharing.placement;

import org.jspecify.annotations.NullMarked;
