/** What Prometheus is told of GPUs and of who gets them. */
@NullMarked
package io.gpusharing.scheduler.metrics;

import org.jspecify.annotations.NullMarked;
