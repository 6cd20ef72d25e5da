/**
 * Who must go so that a pod fits: one search for preemption and for reclaim. {@link
 * io.gpusharing.scheduler.victims.Room} says whether the pod fits on a node without certain gangs,
 * {@link io.gpusharing.scheduler.victims.Order} who goes before whom, and {@link
 * io.gpusharing.scheduler.victims.VictimSearch} chooses. Pure.
 */
@NullMarked
package io.gpusharing.scheduler.victims;

import org.jspecify.annotations.NullMarked;
