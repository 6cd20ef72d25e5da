/** Keeps the room that preemption and reclaim have made for whom they made it. */
@NullMarked
package io.gpusharing.scheduler.reservation;

import org.jspecify.annotations.NullMarked;
