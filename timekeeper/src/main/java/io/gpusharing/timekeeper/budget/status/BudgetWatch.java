package io.gpusharing.timekeeper.budget.status;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.ObjectWatch;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.budget.grant.GrantWatch;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.stereotype.Component;

/**
 * Follows the {@code GpuBudget} objects. Nothing is posted before they are known, nor before the
 * quotas that they may refer to and the grants that add to them: whoever closed a period without
 * one would write down a debt that nobody has.
 *
 * <p>A spec that makes no sense is read as one without a limit. A budget that cannot be read even
 * so goes on as it was: without it its pods would be charged to nobody.
 */
@Component
public final class BudgetWatch extends ObjectWatch<GpuBudget, Budget> {

    private final Budgets budgets;

    public BudgetWatch(
            KubernetesClient client,
            Budgets budgets,
            UnreadableObjects unreadable,
            LedgerWriter writer,
            QuotaWatch quotas,
            GrantWatch grants) {
        super(
                "gpubudgets",
                client.resources(GpuBudget.class),
                unreadable,
                writer,
                quotas.known().runAfterBoth(grants.known(), () -> {}));
        this.budgets = budgets;
        known().thenRun(writer::begin);
    }

    @Override
    protected Budget read(GpuBudget object) {
        return Budget.of(object);
    }

    /** What we publish ourselves changes nothing. */
    @Override
    protected boolean same(Budget before, Budget after) {
        return before.sameAs(after);
    }

    @Override
    protected void note(Collection<Budget> all) {
        budgets.seen(all);
    }

    @Override
    protected void take(Collection<Budget> all) {
        budgets.known(all);
    }

    /** All namespaces that any budget names. */
    Set<String> namedNamespaces() {
        return all().stream()
                .flatMap(budget -> budget.spec().namespaces().stream())
                .collect(Collectors.toSet());
    }
}
