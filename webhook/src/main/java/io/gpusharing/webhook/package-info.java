/**
 * Checks and completes pods that ask for GPUs, and what is written of GPU time, when the API server
 * asks. In the order in which a review passes:
 *
 * <ul>
 *   <li>{@code http}: takes it in, within limits
 *   <li>{@code review}: reads it
 *   <li>{@code admission}: decides by the kind of object
 *   <li>{@code pod}, {@code template}: the decision about a pod, and about a workload that makes
 *       pods
 *   <li>{@code budget}: the decision about a budget, a grant or a correction
 *   <li>{@code policy}: priority classes and ways around the limits, for both
 *   <li>{@code cluster}: what the cluster says at this moment, above all who is in budget
 *   <li>{@code injection}: what is added to a pod
 *   <li>{@code decision}: what can be decided, and how it is answered; {@code events} for its users
 *   <li>around them {@code settings}, {@code tls} and {@code readiness}
 * </ul>
 */
@NullMarked
package io.gpusharing.webhook;

import org.jspecify.annotations.NullMarked;
