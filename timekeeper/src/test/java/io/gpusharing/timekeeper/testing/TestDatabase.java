package io.gpusharing.timekeeper.testing;

import static java.util.Objects.requireNonNull;

import com.zaxxer.hikari.HikariDataSource;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.ClusterTenant;
import jakarta.persistence.EntityManagerFactory;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.hibernate.boot.model.naming.PhysicalNamingStrategySnakeCaseImpl;
import org.hibernate.cfg.MappingSettings;
import org.hibernate.cfg.SchemaToolingSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.data.jpa.repository.support.JpaRepositoryFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * A real PostgreSQL 18 with our schema: a container where a Docker daemon answers, the embedded one
 * elsewhere. One server for all tests of a run, one database for each that asks.
 */
public final class TestDatabase {

    private static final int CONNECTIONS = 4;
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
        return create(CONNECTIONS);
    }

    /**
     * A new database with the schema and nothing in it.
     *
     * @param connections how many of them may be in use at a time
     */
    public static TestDatabase create(int connections) {
        return connected(copyOf(Template.NAME), connections);
    }

    private static String copyOf(String template) {
        String name = "test_" + COUNT.incrementAndGet();
        // Copying the files takes half of the time that writing them by way of the log takes.
        TestServer.INSTANCE.execute(
                "create database %s template %s strategy file_copy".formatted(name, template));
        return name;
    }

    private static TestDatabase connected(String name, int connections) {
        var pool = new HikariDataSource();
        pool.setDataSource(TestServer.INSTANCE.connect(name));
        pool.setMaximumPoolSize(connections);
        pool.setMinimumIdle(0);
        pool.setIdleTimeout(10_000);
        return new TestDatabase(name, pool);
    }

    /** A copy as of now, as a backup would have it. */
    public TestDatabase backup() {
        // A database that is copied may have no other connection.
        pool.getHikariPoolMXBean().softEvictConnections();
        TestServer.INSTANCE.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = '%s'"
                        .formatted(name));
        return connected(copyOf(name), CONNECTIONS);
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

    /** The database that the others are copies of: migrated once, and nobody is connected to it. */
    private static final class Template {

        static final String NAME = migrated();

        private static String migrated() {
            TestServer.INSTANCE.execute("create database migrated");
            Flyway.configure().dataSource(TestServer.INSTANCE.connect("migrated")).load().migrate();
            return "migrated";
        }
    }
}
