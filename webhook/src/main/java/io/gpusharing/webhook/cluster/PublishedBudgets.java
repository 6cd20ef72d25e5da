package io.gpusharing.webhook.cluster;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.Standing;
import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.budget.Standing.Unlimited;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * All published budgets, found by namespace. A namespace belongs to one budget. Any thread may ask
 * while another follows what the cluster says.
 */
public final class PublishedBudgets {

    /** No budgets at all. */
    public static final PublishedBudgets NONE = new PublishedBudgets(List.of(), Optional.empty());

    /**
     * A budget with its line, which is computed once: the standing of every pod is read from it.
     *
     * @param byDefault whether namespaces may draw on it that it does not name yet
     */
    private record Known(PublishedBudget budget, Optional<BudgetLine> line, boolean byDefault) {

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

    private final Optional<String> shared;
    private final Map<String, Known> byName = new ConcurrentHashMap<>();

    /** Name of the budget by namespace. */
    private volatile Map<String, String> owners;

    /**
     * Finds the budget of each namespace.
     *
     * @param budgets if two name one namespace, the older keeps it; of two created in the same
     *     second, the first by name
     * @param shared name of the budget of all namespaces that no budget names; empty if they are
     *     unlimited until one does
     */
    public PublishedBudgets(Collection<PublishedBudget> budgets, Optional<String> shared) {
        this.shared = shared;
        budgets.forEach(budget -> byName.put(budget.name(), known(budget, true)));
        this.owners = assigned();
    }

    private Map<String, String> assigned() {
        return PublishedBudget.owners(byName.values().stream().map(Known::budget));
    }

    /**
     * A budget is new or has changed. A status changes often, and costs no more than itself.
     *
     * @param byDefault whether the timekeeper made it: an administrator's own pays for those
     *     namespaces alone that it names, whatever its name is
     */
    void put(PublishedBudget budget, boolean byDefault) {
        Known before = byName.put(budget.name(), known(budget, byDefault));
        if (before == null
                || !before.budget().created().equals(budget.created())
                || !before.budget().spec().namespaces().equals(budget.spec().namespaces())) {
            owners = assigned();
        }
    }

    /** It has gone. */
    void remove(String name) {
        if (byName.remove(name) != null) {
            owners = assigned();
        }
    }

    private static Known known(PublishedBudget budget, boolean byDefault) {
        return new Known(budget, budget.line(), byDefault);
    }

    /** The budget of a name; empty if there is none. */
    public Optional<PublishedBudget> named(String name) {
        return Optional.ofNullable(byName.get(name)).map(Known::budget);
    }

    /** The budget that pays for a namespace because it names it; empty if none names it. */
    public Optional<PublishedBudget> naming(String namespace) {
        return Optional.ofNullable(owners.get(namespace)).flatMap(this::named);
    }

    /**
     * How a namespace stands. Where each namespace gets a budget of its own, the timekeeper makes
     * it; until then nothing of it is used, and the namespace is unlimited here.
     */
    public NamespaceStanding standingOf(String namespace, Instant now) {
        String owner = owners.get(namespace);
        Known known =
                owner == null
                        ? shared.map(byName::get).filter(Known::byDefault).orElse(null)
                        : byName.get(owner);
        return known == null ? NamespaceStanding.unlimited(now) : known.at(now);
    }
}
