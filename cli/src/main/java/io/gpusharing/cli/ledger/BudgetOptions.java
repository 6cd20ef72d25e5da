package io.gpusharing.cli.ledger;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.cli.budget.PayingBudget;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.console.Failure;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Which budget a question is about. */
final class BudgetOptions {

    @Option(
            names = {"-n", "--namespace"},
            paramLabel = "NAME",
            description = "The budget that pays for it, instead of the one of the context.")
    private @Nullable String namespace;

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
        String user = requireNonNullElse(namespace, cluster.namespace());
        return PayingBudget.of(cluster, user)
                .map(PublishedBudget::name)
                .orElseThrow(() ->
                        new Failure(
                                "No budget names the namespace %s; kubectl gpusharing budgets -A shows all"
                                        .formatted(user)));
    }
}
