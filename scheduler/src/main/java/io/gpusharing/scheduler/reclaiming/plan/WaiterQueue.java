package io.gpusharing.scheduler.reclaiming.plan;

import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Whose turn it is. A round serves a limited number of waiters; those postponed come first in the
 * next round. So hundreds of waiters cost no more than a few, and none is forgotten.
 */
public final class WaiterQueue {

    /** By priority, and of the same one those that have waited longest. */
    public static final Comparator<Waiter> MOST_IMPORTANT_FIRST =
            Comparator.comparingInt(Waiter::priority)
                    .reversed()
                    .thenComparing(Waiter::since)
                    .thenComparing(waiter -> waiter.pod().uid());

    private final Set<String> postponed = new LinkedHashSet<>();

    /** Those postponed before, in that order, and then the others. */
    List<Waiter> queue(List<Waiter> waiters) {
        Map<String, Integer> turns = new HashMap<>();
        postponed.forEach(uid -> turns.put(uid, turns.size()));
        var queue = new ArrayList<>(waiters);
        queue.sort(
                Comparator.comparingInt(
                                (Waiter it) -> turns.getOrDefault(it.pod().uid(), turns.size()))
                        .thenComparing(MOST_IMPORTANT_FIRST));
        postponed.clear();
        return queue;
    }

    void postpone(Waiter waiter) {
        postponed.add(waiter.pod().uid());
    }
}
