/**
 * What a pod says of itself that decides who goes for whom: read in one way for preemption, for
 * reclaim and for who evicts.
 */
@NullMarked
package io.gpusharing.scheduler.pods;

import org.jspecify.annotations.NullMarked;
