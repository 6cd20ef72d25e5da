/** Cumulative counters to the timekeeper, over TLS, once and only once. */
@NullMarked
package io.gpusharing.sidecar.report;

import org.jspecify.annotations.NullMarked;
