/**
 * The ledger as an API of the cluster, {@code usage.gpusharing.io/v1alpha1}: the API server knows
 * who asks, asks RBAC, and passes the question on to us. {@link
 * io.gpusharing.timekeeper.aggregated.FrontProxies} knows the API server, {@link
 * io.gpusharing.timekeeper.aggregated.ApiServiceTrust} has it know us, and {@link
 * io.gpusharing.timekeeper.aggregated.Discovery} says what there is to ask.
 */
@NullMarked
package io.gpusharing.timekeeper.aggregated;

import org.jspecify.annotations.NullMarked;
