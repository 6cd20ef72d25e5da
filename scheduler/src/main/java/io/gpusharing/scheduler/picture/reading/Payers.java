package io.gpusharing.scheduler.picture.reading;

import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.budgets.Doubts;
import io.gpusharing.scheduler.budgets.KnownBudget;
import io.gpusharing.scheduler.picture.BudgetAccount;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Who pays for namespaces, as it stands at one instant. Whether budgets may be acted on is asked
 * once, before the first budget is looked at: it holds for what is known of them afterwards. For
 * one thread.
 */
public final class Payers {

    private final Budgets budgets;
    private final Supplier<Doubts> asked;
    private final Instant now;
    private final Map<String, Optional<BudgetAccount>> known = new HashMap<>();
    private @Nullable Doubts doubts;

    /**
     * @param asked what stands against acting on budgets
     */
    public Payers(Budgets budgets, Supplier<Doubts> asked, Instant now) {
        this.budgets = budgets;
        this.asked = asked;
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
            doubts = asked.get();
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
