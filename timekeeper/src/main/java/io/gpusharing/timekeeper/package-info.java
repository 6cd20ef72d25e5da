/**
 * Knows, to the second, how much GPU time each budget has used. In the order in which it flows:
 *
 * <ul>
 *   <li>{@code cluster}: pods and nodes, as the API server reports them
 *   <li>{@code allocation}: from a pod's object to what it holds, from when to when; pure
 *   <li>{@code ledger}: what is written of it, charges and corrections
 *   <li>{@code budget}: who pays, how each budget stands, its status and what people are notified
 *       of
 *   <li>{@code usage}: what pods really did with their share, as node agents report it
 *   <li>{@code receipt}: what {@code GpuEviction} objects say of who ended whom, kept for ever
 *   <li>{@code explanation}: what the scheduler says of room, for who asks us
 *   <li>{@code statement}: what people ask about the past
 *   <li>{@code audit}: whether the ledger is right
 *   <li>{@code injection}: whether the webhook may inject the metering sidecar
 *   <li>below all of them {@code database}, {@code leader} and {@code web}
 * </ul>
 */
@NullMarked
package io.gpusharing.timekeeper;

import org.jspecify.annotations.NullMarked;
