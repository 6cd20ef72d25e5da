/**
 * What is free on a node and on each of its physical GPUs, and where a pod would fit: {@link
 * FreeCapacity} for a node, {@link GpuLayout} for its GPUs. Who holds them says {@link SharedNode}
 * where our device plugin hands them out, else {@link PlacementReader}; {@link NodeOccupancy} what
 * of it is kept for others, {@link Reason} and {@link Shortage} why a pod fits nowhere, in words.
 * Pure, so that scheduler and reclaim compute the same.
 */
@NullMarked
package io.gpusharing.placement;

import org.jspecify.annotations.NullMarked;
