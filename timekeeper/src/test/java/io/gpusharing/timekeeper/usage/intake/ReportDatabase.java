package io.gpusharing.timekeeper.usage.intake;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.testing.TestDatabase;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The database that all tests of reports share, each as clusters of its own. */
public final class ReportDatabase {

    /** As many connections as the timekeeper has. */
    public static final DataSource DATA_SOURCE = TestDatabase.create(8).dataSource();

    private ReportDatabase() {}

    public static JdbcTemplate jdbc() {
        return new JdbcTemplate(DATA_SOURCE);
    }

    /** The rows of a cluster. */
    public static ClusterDatabase rows(String cluster) {
        return new ClusterDatabase(JdbcClient.create(DATA_SOURCE), cluster);
    }

    public static TransactionTemplate transaction() {
        return new TransactionTemplate(new JdbcTransactionManager(DATA_SOURCE));
    }
}
