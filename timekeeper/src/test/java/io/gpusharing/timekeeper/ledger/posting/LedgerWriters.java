package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.timekeeper.allocation.Weights;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.cluster.ClusterViews;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.springframework.transaction.support.TransactionTemplate;

/** Bookkeepers for tests, also of other packages; the cluster is called {@code test}. */
public final class LedgerWriters {

    private LedgerWriters() {}

    /** One that keeps the ledger of a database for these budgets. */
    public static LedgerWriter on(
            TestDatabase database,
            Budgets budgets,
            MeterRegistry registry,
            Leadership leadership,
            Clock clock) {
        var ledger = ledger(database);
        var round =
                new PostingRound(
                        ledger,
                        budgets,
                        budgets,
                        ClusterViews.withNode(),
                        new RequestGrammars(List.of(new VcudaGrammar())),
                        new ModelWeights(Weights.EQUAL, registry),
                        new Settlement(ledger, pods -> Map.of(), budgets, TestLedger.PROPERTIES),
                        TestLedger.PROPERTIES,
                        clock);
        return new LedgerWriter(ledger, round, registry, TestLedger.PROPERTIES, leadership, clock);
    }

    /** What is written there. */
    public static Ledger ledger(TestDatabase database) {
        return new Ledger(database.rows(), new TransactionTemplate(database.transactions()));
    }
}
