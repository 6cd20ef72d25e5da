package io.gpusharing.scheduler.picture.reading;

import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.budgets.Doubts;
import io.gpusharing.scheduler.budgets.FreshBudgets;
import io.gpusharing.scheduler.budgets.KnownBudget;
import io.gpusharing.scheduler.picture.BudgetAccount;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Who pays for namespaces, as it stands at one instant. Whether budgets may be acted on is asked
 * once, before the first budget is looked at: it holds for what is known of them afterwards. For
 * one thread.
 */
public final class Payers {

    private final Budgets budgets;
    private final FreshBudgets fresh;
    private final Instant now;
    private final Map<String, Optional<BudgetAccount>> known = new HashMap<>();
    private @Nullable Doubts doubts;

    public Payers(Budgets budgets, FreshBudgets fresh, Instant now) {
        this.budgets = budgets;
        this.fresh = fresh;
        this.now = now;
    }

    /**
     * The budget that pays for a namespace; empty if none limits it.
     *
     * @throws io.fabric8.kubernetes.client.KubernetesClientException if the API server does not say
     *     whether budgets may be acted on
     */
    public Optional<BudgetAccount> of(String namespace) {
        return known.computeIfAbsent(namespace, this::read);
    }

    private Optional<BudgetAccount> read(String namespace) {
        if (budgets.ofNamespace(namespace).isEmpty()) {
            return Optional.empty();
        }
        if (doubts == null) {
            doubts = fresh.doubts(now);
        }
        Doubts said = doubts;
        return budgets.ofNamespace(namespace).map(it -> account(it, said));
    }

    private BudgetAccount account(KnownBudget budget, Doubts said) {
        return new BudgetAccount(
                budget.name(),
                budget.standing(now),
                budget.onExhausted(),
                budget.minimumRun(),
                budget.paused(),
                said.of(budget).orElse(null));
    }
}
