/**
 * Which physical GPUs are free, and where a pod is placed: {@link
 * io.gpusharing.scheduler.gpus.ClusterGpus} for all nodes that share GPUs, pure.
 */
@NullMarked
package io.gpusharing.scheduler.gpus;

import org.jspecify.annotations.NullMarked;
