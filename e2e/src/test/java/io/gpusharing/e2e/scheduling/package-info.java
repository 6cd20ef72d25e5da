/** Pods placed on single GPUs by a real kube-scheduler that asks our extender. */
@NullMarked
package io.gpusharing.e2e.scheduling;

import org.jspecify.annotations.NullMarked;
