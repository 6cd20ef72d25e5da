/**
 * GPUSharing as the chart installs it, on a test cluster: its own manifests, its own service
 * accounts, its own processes.
 *
 * <p>Nothing in such a cluster can reach a Service, so the services run beside it and are found by
 * URL.
 */
@NullMarked
package io.gpusharing.e2e.installation;

import org.jspecify.annotations.NullMarked;
