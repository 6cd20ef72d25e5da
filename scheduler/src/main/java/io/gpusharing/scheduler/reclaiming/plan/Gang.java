package io.gpusharing.scheduler.reclaiming.plan;

import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.Holder;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

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
