package io.gpusharing.webhook.standing;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.Standing;
import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.budget.Standing.Unlimited;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** All published budgets, found by namespace. A namespace belongs to one budget. */
public final class Budgets {

    private static final Comparator<PublishedBudget> OLDER_FIRST =
            Comparator.comparing(PublishedBudget::created).thenComparing(PublishedBudget::name);

    /** No budgets at all. */
    public static final Budgets NONE = new Budgets(List.of(), Optional.empty());

    /**
     * A budget with its line, which is computed once: the standing of every pod is read from it.
     */
    private record Known(PublishedBudget budget, Optional<BudgetLine> line) {

        NamespaceStanding at(Instant now) {
            Standing standing =
                    line.<Standing>map(it -> it.standingAt(now)).orElseGet(Unlimited::new);
            return new NamespaceStanding(
                    budget.name(),
                    standing,
                    budget.spec().onExhausted(),
                    now,
                    standing instanceof OverBudget ? refills(now) : null);
        }

        private @Nullable Instant refills(Instant now) {
            Instant end = line.map(it -> it.at(now).periodEnd()).orElse(null);
            return end != null && line.orElseThrow().standingAt(end) instanceof InBudget
                    ? end
                    : null;
        }
    }

    private final @Nullable Known ofAllOthers;
    private final Set<String> names;
    private final Map<String, Known> byNamespace = new HashMap<>();

    /**
     * Finds the budget of each namespace.
     *
     * @param budgets if two name one namespace, the older keeps it; of two created in the same
     *     second, the first by name
     * @param shared name of the budget of all namespaces that no budget names; empty if they are
     *     unlimited until one does
     */
    public Budgets(Collection<PublishedBudget> budgets, Optional<String> shared) {
        this.names =
                budgets.stream().map(PublishedBudget::name).collect(Collectors.toUnmodifiableSet());
        this.ofAllOthers =
                budgets.stream()
                        .filter(budget -> shared.isPresent() && budget.name().equals(shared.get()))
                        .findFirst()
                        .map(Budgets::known)
                        .orElse(null);
        budgets.stream()
                .sorted(OLDER_FIRST)
                .map(Budgets::known)
                .forEach(known ->
                        known.budget()
                                .spec()
                                .namespaces()
                                .forEach(namespace -> byNamespace.putIfAbsent(namespace, known)));
    }

    private static Known known(PublishedBudget budget) {
        return new Known(budget, budget.line());
    }

    /** Whether there is a budget of that name. */
    public boolean has(String name) {
        return names.contains(name);
    }

    /**
     * How a namespace stands. Where each namespace gets a budget of its own, the timekeeper makes
     * it; until then nothing of it is used, and the namespace is unlimited here.
     */
    public NamespaceStanding standingOf(String namespace, Instant now) {
        Known known = byNamespace.containsKey(namespace) ? byNamespace.get(namespace) : ofAllOthers;
        return known == null ? NamespaceStanding.unlimited(now) : known.at(now);
    }
}
