package io.gpusharing.scheduler.victims;

import java.util.BitSet;
import java.util.List;

/**
 * Who goes before whom. Gangs are pods that go together or not at all; each has a number.
 *
 * @param <C> what a choice costs: the least is best, and fewer gangs never cost more
 */
public interface Order<C extends Comparable<? super C>> {

    /** These gangs, beginning with the one that goes first; the last one is spared first. */
    List<Integer> firstToGo(BitSet gangs);

    /** What it costs if these gangs go. */
    C cost(BitSet gangs);

    /**
     * Whether it never matters how few go: who is spared first stays wherever possible. Else a GPU
     * that few have to leave may be the better choice.
     */
    boolean isStrict();
}
