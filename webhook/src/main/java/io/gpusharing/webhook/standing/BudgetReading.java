package io.gpusharing.webhook.standing;

import io.gpusharing.budget.PublishedBudget;
import java.time.Clock;
import java.time.DateTimeException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads budgets as they are in the cluster. One that cannot be understood is told once, and counts
 * as it was when it was understood last, until the timekeeper has marked it as not understood: from
 * then on it has no limit, and the cluster says so.
 */
final class BudgetReading {

    private static final Logger log = LoggerFactory.getLogger(BudgetReading.class);

    private final Clock clock;
    private final Optional<String> shared;
    private Map<String, PublishedBudget> lastGood = Map.of();

    /** By budget, what was told of it; anything else is told anew. */
    private final Map<String, String> told = new HashMap<>();

    /**
     * @param shared see {@link Budgets}
     */
    BudgetReading(Clock clock, Optional<String> shared) {
        this.clock = clock;
        this.shared = shared;
    }

    synchronized Budgets read(Collection<GpuBudget> objects) {
        var understood = new HashMap<String, PublishedBudget>();
        var budgets = new ArrayList<PublishedBudget>();
        for (GpuBudget object : objects) {
            String name = object.getMetadata().getName();
            PublishedBudget budget = understand(object, name);
            if (budget != null) {
                understood.put(name, budget);
                budgets.add(budget);
            }
        }
        lastGood = understood;
        told.keySet().retainAll(objects.stream().map(it -> it.getMetadata().getName()).toList());
        return new Budgets(budgets, shared);
    }

    private @Nullable PublishedBudget understand(GpuBudget object, String name) {
        try {
            PublishedBudget budget = object.published();
            var _ = budget.standingAt(clock.instant());
            told.remove(name);
            return budget;
        } catch (IllegalArgumentException | DateTimeException | ArithmeticException e) {
            tell(object, name, String.valueOf(e.getMessage()));
            return lastGood.get(name);
        }
    }

    /** All budgets are read again whenever one of them changes; the same is not worth two lines. */
    private void tell(GpuBudget object, String name, String problem) {
        String content = object.getMetadata().getGeneration() + " " + problem;
        if (!content.equals(told.put(name, content))) {
            log.atWarn()
                    .addKeyValue("budget", name)
                    .addKeyValue("problem", problem)
                    .log(
                            "budget not understood; its last good state holds until the timekeeper marks it Understood=False, then it has no limit");
        }
    }
}
