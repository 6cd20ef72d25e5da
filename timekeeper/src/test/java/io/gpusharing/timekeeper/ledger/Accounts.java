package io.gpusharing.timekeeper.ledger;

import io.gpusharing.timekeeper.cluster.ClusterProperties;
import io.gpusharing.timekeeper.testing.TestDatabase;

/** Lets tests of other packages read the ledger. */
public final class Accounts {

    private Accounts() {}

    public static UsageBook usage(TestDatabase database, ClusterProperties cluster) {
        return new UsageBook(database.jdbc(), cluster);
    }

    public static StatementBook statements(TestDatabase database, ClusterProperties cluster) {
        return new StatementBook(database.jdbc(), cluster);
    }
}
