package io.gpusharing.scheduler.picture.reading;

import io.gpusharing.scheduler.picture.Waiter;
import io.gpusharing.sharing.GpuGroup;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of a pod with our label.
 *
 * @param waiter null if it does not wait
 * @param holder null if it holds nothing, and no room is being made for it
 * @param group with which it shares a GPU by wish; null if with none
 */
record KnownPod(@Nullable Waiter waiter, @Nullable KnownHolder holder, @Nullable GpuGroup group) {}
