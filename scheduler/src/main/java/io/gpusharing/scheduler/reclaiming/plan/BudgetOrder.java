package io.gpusharing.scheduler.reclaiming.plan;

import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.victims.Order;
import java.time.Instant;
import java.util.BitSet;
import java.util.Comparator;
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

    /**
     * Pods that are evicted together or not at all.
     *
     * @param budget the budget of all of them
     * @param newest when the last of them was bound
     */
    record Gang(String key, BudgetAccount budget, List<Holder> pods, Instant newest) {

        /** The most overdrawn budget first, in it the newest pods. */
        static final Comparator<Gang> EVICTION_ORDER =
                Comparator.comparing((Gang gang) -> gang.budget().overrun())
                        .reversed()
                        .thenComparing(gang -> gang.budget().name())
                        .thenComparing(Gang::newest, Comparator.reverseOrder())
                        .thenComparing(Gang::key);
    }
}
