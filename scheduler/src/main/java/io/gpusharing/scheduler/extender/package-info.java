/**
 * What kube-scheduler asks an extender over HTTP: {@code filter}, {@code preempt} and {@code bind}
 * (k8s.io/kube-scheduler, extender/v1).
 */
@NullMarked
package io.gpusharing.scheduler.extender;

import org.jspecify.annotations.NullMarked;
