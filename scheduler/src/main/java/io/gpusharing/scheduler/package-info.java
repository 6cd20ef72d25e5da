/** Places fractions on physical GPUs, as an extender of kube-scheduler. */
@NullMarked
package io.gpusharing.scheduler;

import org.jspecify.annotations.NullMarked;
