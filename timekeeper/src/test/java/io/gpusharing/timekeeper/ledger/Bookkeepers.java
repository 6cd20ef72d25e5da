package io.gpusharing.timekeeper.ledger;

import io.gpusharing.request.RequestGrammars;
import io.gpusharing.request.VcudaGrammar;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.cluster.ClusterViews;
import io.gpusharing.timekeeper.leadership.Leadership;
import io.gpusharing.timekeeper.metering.Weights;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.springframework.transaction.support.TransactionTemplate;

/** Bookkeepers for tests, also of other packages; the cluster is called {@code test}. */
public final class Bookkeepers {

    private Bookkeepers() {}

    /** One that keeps the ledger of a database for these budgets. */
    public static Bookkeeper on(
            TestDatabase database,
            Budgets budgets,
            MeterRegistry registry,
            Leadership leadership,
            Clock clock) {
        var ledger = ledger(database);
        var book =
                new Book(
                        ledger,
                        budgets,
                        ClusterViews.withNode(),
                        new RequestGrammars(List.of(new VcudaGrammar())),
                        new ModelWeights(Weights.EQUAL, registry),
                        new Settlement(ledger, pods -> Map.of(), budgets, Books.PROPERTIES),
                        Books.PROPERTIES,
                        clock);
        var verification = Verifications.on(database, Books.CLUSTER, clock, List.of());
        return new Bookkeeper(
                ledger,
                book,
                new LedgerMetrics(registry, verification, leadership, clock),
                Books.PROPERTIES,
                leadership,
                clock);
    }

    /** What is written there. */
    public static Ledger ledger(TestDatabase database) {
        return new Ledger(
                database.jdbc(), new TransactionTemplate(database.transactions()), Books.CLUSTER);
    }
}
