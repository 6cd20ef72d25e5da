package io.gpusharing.timekeeper.testing;

import static java.util.Objects.requireNonNull;

import com.zaxxer.hikari.HikariDataSource;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.ClusterTenant;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import jakarta.persistence.EntityManagerFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.hibernate.boot.model.naming.PhysicalNamingStrategySnakeCaseImpl;
import org.hibernate.cfg.MappingSettings;
import org.hibernate.cfg.SchemaToolingSettings;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.data.jpa.repository.support.JpaRepositoryFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.PlatformTransactionManager;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * A real PostgreSQL 18 with our schema: a container where a Docker daemon answers, the embedded one
 * elsewhere. One server for all tests of a run, one database for each that asks.
 */
public final class TestDatabase {

    private static final AtomicInteger COUNT = new AtomicInteger();

    private final String name;
    private final HikariDataSource pool;
    private @Nullable EntityManagerFactory entities;

    private TestDatabase(String name, HikariDataSource pool) {
        this.name = name;
        this.pool = pool;
    }

    /** A new database with the schema and nothing in it. */
    public static TestDatabase create() {
        String name = "test_" + COUNT.incrementAndGet();
        try (Connection connection = Server.INSTANCE.connect("postgres").getConnection()) {
            connection.createStatement().execute("create database " + name);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        TestDatabase database = connected(name);
        Flyway.configure().dataSource(database.pool).load().migrate();
        return database;
    }

    private static TestDatabase connected(String name) {
        var pool = new HikariDataSource();
        pool.setDataSource(Server.INSTANCE.connect(name));
        pool.setMaximumPoolSize(4);
        pool.setMinimumIdle(0);
        pool.setIdleTimeout(10_000);
        return new TestDatabase(name, pool);
    }

    /** A copy as of now, as a backup would have it. */
    public TestDatabase backup() {
        String name = "test_" + COUNT.incrementAndGet();
        // A database that is copied may have no other connection.
        pool.getHikariPoolMXBean().softEvictConnections();
        try (Connection connection = Server.INSTANCE.connect("postgres").getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity where datname = '%s'"
                            .formatted(this.name));
            statement.execute("create database %s template %s".formatted(name, this.name));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return connected(name);
    }

    public DataSource dataSource() {
        return pool;
    }

    public JdbcClient jdbc() {
        return JdbcClient.create(pool);
    }

    /** As the timekeeper of the cluster {@code test} sees it. */
    public ClusterDatabase rows() {
        return new ClusterDatabase(jdbc(), "test");
    }

    /** For SQL alone: nothing of Hibernate is started for it. */
    public PlatformTransactionManager transactions() {
        return new DataSourceTransactionManager(pool);
    }

    /** For entities and SQL in the same transaction, as the timekeeper has them. */
    public PlatformTransactionManager entityTransactions() {
        return new JpaTransactionManager(entities());
    }

    /** A repository of entities, as the timekeeper of the cluster {@code test} has it. */
    public <T> T repository(Class<T> type) {
        return new JpaRepositoryFactory(
                        SharedEntityManagerCreator.createSharedEntityManager(entities()))
                .getRepository(type);
    }

    private synchronized EntityManagerFactory entities() {
        if (entities == null) {
            var factory = new LocalContainerEntityManagerFactoryBean();
            factory.setDataSource(pool);
            factory.setPackagesToScan("io.gpusharing.timekeeper");
            factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
            factory.getJpaPropertyMap()
                    .putAll(
                            Map.of(
                                    MappingSettings.PHYSICAL_NAMING_STRATEGY,
                                    PhysicalNamingStrategySnakeCaseImpl.class.getName(),
                                    SchemaToolingSettings.HBM2DDL_AUTO,
                                    "validate"));
            new ClusterTenant(rows()).customize(factory.getJpaPropertyMap());
            factory.afterPropertiesSet();
            entities = requireNonNull(factory.getObject());
        }
        return entities;
    }

    /** Where the server is. */
    private record Server(String host, int port, String user, String password) {

        /**
         * Pools of finished tests keep their connections for half a minute, in which others begin.
         */
        static final String CONNECTIONS = "1000";

        static final Server INSTANCE = start();

        private static Server start() {
            Server server = dockerAnswers() ? container() : embedded();
            System.out.printf(
                    "tests use PostgreSQL on port %d, %s%n",
                    server.port, dockerAnswers() ? "in a container" : "embedded");
            return server;
        }

        private static boolean dockerAnswers() {
            return DockerClientFactory.instance().isDockerAvailable();
        }

        private static Server container() {
            var container = new PostgreSQLContainer("postgres:18");
            container.setCommand("postgres", "-c", "max_connections=" + CONNECTIONS);
            container.start();
            return new Server(
                    container.getHost(),
                    container.getMappedPort(5432),
                    container.getUsername(),
                    container.getPassword());
        }

        private static Server embedded() {
            try {
                EmbeddedPostgres postgres =
                        EmbeddedPostgres.builder()
                                .setServerConfig("max_connections", CONNECTIONS)
                                .start();
                return new Server("127.0.0.1", postgres.getPort(), "postgres", "");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        DataSource connect(String database) {
            var source = new PGSimpleDataSource();
            source.setServerNames(new String[] {host});
            source.setPortNumbers(new int[] {port});
            source.setDatabaseName(database);
            source.setUser(user);
            source.setPassword(password);
            return source;
        }
    }
}
