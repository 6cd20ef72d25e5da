package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuBudgetSpec.ChargeBy;
import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.budget.RateRule;
import io.gpusharing.budget.ShareRule.Reference;
import io.gpusharing.timekeeper.budget.account.Assignment;
import io.gpusharing.timekeeper.budget.account.Assignment.Conflict;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.ledger.Payer;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Who pays for each namespace, and at which rate. */
final class PayerTable {

    private final BudgetProperties properties;
    private final Map<String, Payer> rates = new HashMap<>();
    private Map<String, Budget> budgets = Map.of();
    private Assignment assignment = Assignment.NONE;
    private Map<String, Fixed> quotas = Map.of();

    /** Namespaces whose payer is not the same any more; null if that may be any. */
    private @Nullable Set<String> repriced = new HashSet<>();

    PayerTable(BudgetProperties properties) {
        this.properties = properties;
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
                            ? unnamed(namespace).after(before, now)
                            : payer(owner, namespace, before, first, now);
            if (first || !before.sameTerms(after)) {
                rates.put(namespace, after);
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

    /** What a budget charges begins with its creation; a later edit begins when it is seen. */
    private Payer payer(Budget owner, String namespace, Payer before, boolean first, Instant now) {
        var payer =
                new Payer(
                        owner.name(),
                        RateRule.of(owner.spec().share(), quotas.get(namespace)),
                        owner.spec().chargeBy() == ChargeBy.Utilization,
                        first ? owner.created() : now,
                        before);
        // Whether an edit brought the namespace, nobody can say who saw none: pods that come are
        // charged from the creation on, those that somebody else has paid for from now on.
        return first && owner.generation() > 1 ? payer.after(payer, now) : payer;
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
