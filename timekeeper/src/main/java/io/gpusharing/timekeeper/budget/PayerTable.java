package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuBudgetSpec.ChargeBy;
import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.budget.RateRule;
import io.gpusharing.budget.ShareRule.Reference;
import io.gpusharing.timekeeper.budget.account.Assignment;
import io.gpusharing.timekeeper.budget.account.Assignment.Conflict;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.budget.store.PayerRepository.Paid;
import io.gpusharing.timekeeper.budget.store.PayerRepository.Seen;
import io.gpusharing.timekeeper.ledger.Payer;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Who pays for each namespace, and at which rate. */
final class PayerTable {

    private final BudgetProperties properties;
    private final Map<String, Payer> rates = new HashMap<>();
    private Map<String, Budget> budgets = Map.of();
    private Assignment assignment = Assignment.NONE;
    private Map<String, Fixed> quotas = Map.of();

    /** What was known of each budget before those that exist now. */
    private Map<String, Seen> seen = Map.of();

    /** Namespaces whose payer is not written down yet. */
    private final Set<String> unwritten = new HashSet<>();

    /** Namespaces whose payer is not the same any more; null if that may be any. */
    private @Nullable Set<String> repriced = new HashSet<>();

    PayerTable(BudgetProperties properties) {
        this.properties = properties;
    }

    /** These paid when that was written down last, and the budgets were seen so. */
    void restore(Map<String, Payer> last, Map<String, Seen> budgets) {
        last.forEach(rates::putIfAbsent);
        seen = budgets;
    }

    /** Takes what is not written down yet. */
    List<Paid> unwritten() {
        return unwritten.stream()
                .map(namespace -> new Paid(namespace, of(namespace)))
                // What always held needs no row.
                .filter(it -> it.payer().since().isAfter(Instant.MIN))
                .toList();
    }

    /** Says that all of it is written down. */
    void written() {
        unwritten.clear();
    }

    /** These budgets exist from now on. */
    void assign(Collection<Budget> present, Instant now) {
        Map<String, Budget> before = budgets;
        budgets = present.stream().collect(Collectors.toMap(Budget::name, it -> it));
        if (properties.unnamedNamespaces() != BudgetProperties.UnnamedNamespaces.Unlimited
                && !namesOfOthers(before).equals(namesOfOthers(budgets))) {
            // Who pays for a namespace that no budget names depends on what its name is taken for.
            repriced = null;
        }
        assignment = Assignment.of(present);
        update(now);
        seen = present.stream().collect(Collectors.toMap(Budget::name, Seen::of));
    }

    /** What the namespaces' own quotas allow from now on, in core units and blocks of memory. */
    void quotas(Map<String, Fixed> byNamespace, Instant now) {
        quotas = byNamespace;
        update(now);
    }

    private void update(Instant now) {
        Set<String> namespaces = new HashSet<>(rates.keySet());
        namespaces.addAll(assignment.owners().keySet());
        for (String namespace : namespaces) {
            boolean first = !rates.containsKey(namespace);
            Payer before = of(namespace);
            Budget owner = assignment.owners().get(namespace);
            Payer after =
                    owner == null
                            ? unnamed(namespace).after(before, changed(before, null, now))
                            : payer(owner, namespace, before, first, now);
            if (first || !before.sameTerms(after)) {
                rates.put(namespace, after);
                unwritten.add(namespace);
                if (repriced != null) {
                    repriced.add(namespace);
                }
            }
        }
    }

    /**
     * Namespaces whose payer or rate has changed since this was asked last; null if it may be any.
     */
    @Nullable Set<String> repriced() {
        Set<String> namespaces = repriced;
        repriced = new HashSet<>();
        return namespaces;
    }

    private static Set<String> namesOfOthers(Map<String, Budget> budgets) {
        return budgets.values().stream()
                .filter(budget -> !budget.byDefault())
                .map(Budget::name)
                .collect(Collectors.toSet());
    }

    /**
     * What a budget charges begins with its creation, and a later edit when the API server says
     * that it was made, or else when it is seen.
     */
    private Payer payer(Budget owner, String namespace, Payer before, boolean first, Instant now) {
        var payer =
                new Payer(
                        owner.name(),
                        RateRule.of(owner.spec().share(), quotas.get(namespace)),
                        owner.spec().chargeBy() == ChargeBy.Utilization,
                        first ? owner.created() : changed(before, owner, now),
                        before);
        // Whether an edit brought the namespace, nobody can say who saw none: pods that come are
        // charged from the creation on, those that somebody else has paid for from now on.
        return first && owner.generation() > 1 ? payer.after(payer, now) : payer;
    }

    /**
     * When a payer gave way to another: the API server says when a budget was created or edited. It
     * keeps nothing of one that was deleted; that is when it was missed. Of two that were written,
     * the later one completed the move: before that the new payer had not got the namespace, or the
     * old one had not given it away.
     */
    private Instant changed(Payer before, @Nullable Budget owner, Instant now) {
        return Stream.concat(
                        Stream.ofNullable(owner), Stream.ofNullable(budgets.get(before.budget())))
                .flatMap(budget -> Stream.ofNullable(news(budget)))
                .filter(it -> it.isAfter(before.since()) && !it.isAfter(now))
                .max(Comparator.naturalOrder())
                .orElse(now);
    }

    /**
     * When a budget was created or edited, if that is news. One that was edited since its creation
     * may have got by that edit what another had paid for until then. An edit that only takes
     * namespaces away leaves the stamp of the one before it, which says nothing.
     */
    private @Nullable Instant news(Budget budget) {
        Seen known = seen.get(budget.name());
        if (known == null || !known.uid().equals(budget.uid())) {
            return budget.generation() > 1 ? budget.edited() : budget.created();
        }
        Instant edited = budget.edited();
        boolean news =
                known.generation() != budget.generation()
                        && edited != null
                        && edited.isAfter(known.edited());
        return news ? edited : null;
    }

    /** The payer of a namespace now, with those before it. */
    Payer of(String namespace) {
        Payer payer = rates.get(namespace);
        return payer == null ? unnamed(namespace) : payer;
    }

    /**
     * What holds for a namespace that no budget names. If it is going to get a budget by default,
     * its first charges already bear that budget's name, so that no pod is free until it is made.
     */
    private Payer unnamed(String namespace) {
        return properties
                .budgetOfUnnamed(namespace)
                .filter(name -> !isSomebodyElses(name))
                .map(name -> new Payer(name, RateRule.DEFAULT, false, Instant.MIN, null))
                .orElse(Payer.FREE);
    }

    private boolean isSomebodyElses(String name) {
        Budget budget = budgets.get(name);
        return budget != null && !budget.byDefault();
    }

    /** The namespaces that a budget names and an older one keeps. */
    List<Conflict> conflicts(String budget) {
        return assignment.conflicts().getOrDefault(budget, List.of());
    }

    /** Namespaces of a budget that refers to their quotas and finds none. */
    List<String> withoutQuota(Budget budget) {
        if (budget.spec().share().reference() != Reference.FromQuota) {
            return List.of();
        }
        return budget.spec().namespaces().stream()
                .filter(namespace -> !quotas.containsKey(namespace))
                .filter(namespace -> isOwner(budget, namespace))
                .toList();
    }

    private boolean isOwner(Budget budget, String namespace) {
        Budget owner = assignment.owners().get(namespace);
        return owner != null && owner.name().equals(budget.name());
    }
}
