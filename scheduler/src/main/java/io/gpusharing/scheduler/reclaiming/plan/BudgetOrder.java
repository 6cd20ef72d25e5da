package io.gpusharing.scheduler.reclaiming.plan;

import io.gpusharing.scheduler.victims.Order;
import java.util.BitSet;
import java.util.List;

/**
 * The order of budgets: the gang that stands first goes first, however many go. Of nodes the one is
 * best where the last that goes stands first, and of these the one where fewer pods go.
 *
 * @param gangs by their numbers, which are their ranks, too
 */
record BudgetOrder(List<Gang> gangs) implements Order<Long> {

    @Override
    public List<Integer> firstToGo(BitSet among) {
        return among.stream().boxed().toList();
    }

    @Override
    public Long cost(BitSet going) {
        long pods = going.stream().map(gang -> gangs.get(gang).pods().size()).sum();
        return (long) going.length() << Integer.SIZE | pods;
    }

    @Override
    public boolean isStrict() {
        return true;
    }
}
