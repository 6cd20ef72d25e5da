package io.gpusharing.webhook.cluster;

import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.ObjectInformer;
import java.time.Clock;
import java.time.DateTimeException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads budgets as they are in the cluster. One that cannot be understood is logged once, and
 * counts as it was when it was understood last, until the timekeeper has marked it as not
 * understood: from then on it has no limit, and the cluster says so.
 */
final class BudgetReader implements ObjectInformer.Handler<GpuBudget> {

    private static final Logger log = LoggerFactory.getLogger(BudgetReader.class);

    private final Clock clock;
    private final PublishedBudgets budgets;

    /** By budget, what was logged of it; anything else is logged anew. */
    private final Map<String, String> logged = new HashMap<>();

    /**
     * @param shared see {@link PublishedBudgets}
     */
    BudgetReader(Clock clock, Optional<String> shared) {
        this.clock = clock;
        this.budgets = new PublishedBudgets(List.of(), shared);
    }

    /** All that were read, as they are now. */
    PublishedBudgets budgets() {
        return budgets;
    }

    @Override
    public void onList(Collection<GpuBudget> objects) {
        Set<String> names =
                objects.stream().map(it -> it.getMetadata().getName()).collect(Collectors.toSet());
        logged.keySet().retainAll(names);
        objects.forEach(this::onUpdate);
        budgets.retain(names);
    }

    @Override
    public void onUpdate(GpuBudget object) {
        String name = object.getMetadata().getName();
        try {
            PublishedBudget budget = object.published();
            var _ = budget.standingAt(clock.instant());
            logged.remove(name);
            budgets.put(budget);
        } catch (IllegalArgumentException | DateTimeException | ArithmeticException e) {
            log(object, name, String.valueOf(e.getMessage()));
        }
    }

    @Override
    public void onDelete(GpuBudget object) {
        logged.remove(object.getMetadata().getName());
        budgets.remove(object.getMetadata().getName());
    }

    /** A status is read each time that it changes; the same problem is not worth two lines. */
    private void log(GpuBudget object, String name, String problem) {
        String content = object.getMetadata().getGeneration() + " " + problem;
        if (!content.equals(logged.put(name, content))) {
            log.atWarn()
                    .addKeyValue("budget", name)
                    .addKeyValue("problem", problem)
                    .log(
                            "budget not understood; its last good state holds until the timekeeper marks it Understood=False, then it has no limit");
        }
    }
}
