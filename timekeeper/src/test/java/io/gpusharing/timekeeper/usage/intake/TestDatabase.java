package io.gpusharing.timekeeper.usage.intake;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A real PostgreSQL with our schema, one for all tests of a run. */
public final class TestDatabase {

    private static final EmbeddedPostgres POSTGRES = start();
    public static final DataSource DATA_SOURCE = migrated();

    private TestDatabase() {}

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

    private static EmbeddedPostgres start() {
        try {
            return EmbeddedPostgres.builder().setServerConfig("max_connections", "50").start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static DataSource migrated() {
        var config = new com.zaxxer.hikari.HikariConfig();
        config.setDataSource(POSTGRES.getPostgresDatabase(Map.of("reWriteBatchedInserts", "true")));
        config.setMaximumPoolSize(8);
        var pool = new com.zaxxer.hikari.HikariDataSource(config);
        Flyway.configure().dataSource(pool).load().migrate();
        return pool;
    }
}
