/**
 * Whom kube-scheduler preempts for a pod: it counts sums of nodes and would evict from the wrong
 * GPU, and it believes what {@link io.gpusharing.scheduler.preemption.Preemptions} answers. Pure.
 */
@NullMarked
package io.gpusharing.scheduler.preemption;

import org.jspecify.annotations.NullMarked;
