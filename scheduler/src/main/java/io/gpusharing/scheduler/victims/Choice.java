package io.gpusharing.scheduler.victims;

import java.util.BitSet;

/**
 * Who goes so that a pod fits on a node. {@link VictimSearch} alone makes one.
 *
 * @param gangs the numbers of the gangs that go; none where the pod fits as it is
 * @param cost by the order that was asked for
 */
public record Choice<C>(Room room, BitSet gangs, C cost) {}
