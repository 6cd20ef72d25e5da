package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.timekeeper.cluster.ClusterProperties;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
import io.gpusharing.timekeeper.statement.StatementRepository;
import io.gpusharing.timekeeper.testing.TestDatabase;

/** Lets tests of other packages read the ledger. */
public final class Accounts {

    private Accounts() {}

    public static UsageRepository usage(TestDatabase database, ClusterProperties cluster) {
        return new UsageRepository(database.jdbc(), cluster);
    }

    public static StatementRepository statements(TestDatabase database, ClusterProperties cluster) {
        return new StatementRepository(database.jdbc(), cluster);
    }
}
