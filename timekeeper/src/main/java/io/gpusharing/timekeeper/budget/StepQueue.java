package io.gpusharing.timekeeper.budget;

import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** When each budget next changes by itself, the soonest first. */
final class StepQueue {

    private final TreeSet<Step> queue =
            new TreeSet<>(Comparator.comparing(Step::at).thenComparing(Step::budget));
    private final Map<String, Step> byBudget = new HashMap<>();

    private record Step(Instant at, String budget) {}

    /**
     * @param at null if it does not change by itself
     */
    void put(String budget, @Nullable Instant at) {
        remove(budget);
        if (at != null) {
            var step = new Step(at, budget);
            queue.add(step);
            byBudget.put(budget, step);
        }
    }

    void remove(String budget) {
        Step before = byBudget.remove(budget);
        if (before != null) {
            queue.remove(before);
        }
    }

    /** The next step of all; null if there is none. */
    @Nullable Instant next() {
        return queue.isEmpty() ? null : queue.first().at();
    }

    /** The budgets whose step has come. */
    List<String> due(Instant now) {
        return queue.stream().takeWhile(step -> !step.at().isAfter(now)).map(Step::budget).toList();
    }
}
