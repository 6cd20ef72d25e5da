package io.gpusharing.cli.ledger;

import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.cli.budget.PayingBudget;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.NamespaceOption;
import io.gpusharing.cli.console.Failure;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Which budget a question is about. */
final class BudgetOptions {

    @Mixin private final NamespaceOption namespace = new NamespaceOption();

    @Parameters(
            arity = "0..1",
            paramLabel = "BUDGET",
            description = "Instead of the one that pays for the namespace.")
    private @Nullable String budget;

    /**
     * The name of the budget.
     *
     * @throws Failure if none is named, and none pays for the namespace
     */
    String in(Cluster cluster) {
        if (budget != null) {
            return budget;
        }
        String user = namespace.in(cluster);
        return PayingBudget.of(cluster, user)
                .map(PublishedBudget::name)
                .orElseThrow(() ->
                        new Failure(
                                "No budget names the namespace %s; kubectl gpusharing budgets -A shows all"
                                        .formatted(user)));
    }
}
