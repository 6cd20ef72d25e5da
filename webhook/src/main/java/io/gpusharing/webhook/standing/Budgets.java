package io.gpusharing.webhook.standing;

import io.gpusharing.budget.PublishedBudget;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** All published budgets, found by namespace. A namespace belongs to one budget. */
public final class Budgets {

    private static final Comparator<PublishedBudget> OLDER_FIRST =
            Comparator.comparing(PublishedBudget::created).thenComparing(PublishedBudget::name);

    /** No budgets at all. */
    public static final Budgets NONE = new Budgets(List.of());

    private final Map<String, PublishedBudget> byNamespace = new HashMap<>();

    /**
     * @param budgets if two name one namespace, the older keeps it; of two created in the same
     *     second, the first by name
     */
    public Budgets(Collection<PublishedBudget> budgets) {
        budgets.stream()
                .sorted(OLDER_FIRST)
                .forEach(budget ->
                        budget.spec()
                                .namespaces()
                                .forEach(namespace -> byNamespace.putIfAbsent(namespace, budget)));
    }

    /**
     * How a namespace stands. One that no budget names is unlimited here: where the installation
     * has another default, the timekeeper makes a budget that names it, and until then nothing of
     * it is used.
     */
    public NamespaceStanding standingOf(String namespace, Instant now) {
        PublishedBudget budget = byNamespace.get(namespace);
        return budget == null
                ? NamespaceStanding.unlimited(now)
                : new NamespaceStanding(
                        budget.name(), budget.standingAt(now), budget.spec().onExhausted(), now);
    }
}
