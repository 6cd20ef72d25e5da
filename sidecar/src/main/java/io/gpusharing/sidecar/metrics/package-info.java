/** The node agent's numbers for Prometheus. */
@NullMarked
package io.gpusharing.sidecar.metrics;

import org.jspecify.annotations.NullMarked;
