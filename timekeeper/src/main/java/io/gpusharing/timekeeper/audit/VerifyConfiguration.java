package io.gpusharing.timekeeper.audit;

import io.gpusharing.timekeeper.audit.recount.LedgerBills;
import io.gpusharing.timekeeper.budget.store.GrantRepository;
import io.gpusharing.timekeeper.budget.store.PeriodRepository;
import io.gpusharing.timekeeper.budget.store.TermsRepository;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/**
 * Only what reading the ledger needs: no cluster, no web server, no migration.
 *
 * <p>Deliberately without {@code @Configuration}: the timekeeper itself, which scans these
 * packages, must not find it.
 */
@ImportAutoConfiguration({
    DataSourceAutoConfiguration.class,
    DataSourceTransactionManagerAutoConfiguration.class,
    JdbcTemplateAutoConfiguration.class,
    JdbcClientAutoConfiguration.class,
    TransactionAutoConfiguration.class
})
@Import({
    ClusterDatabase.class,
    Verification.class,
    ClosedPeriodCheck.class,
    PeriodRepository.class,
    GrantRepository.class,
    TermsRepository.class,
    UsageRepository.class,
    LedgerBills.class
})
class VerifyConfiguration {

    @Bean
    Clock clock() {
        return Clock.systemUTC();
    }

    /**
     * The embedded server that a timekeeper on this machine runs; it is neither started nor
     * stopped.
     */
    @Bean
    @ConditionalOnProperty(
            name = "spring.datasource.url",
            havingValue = "none",
            matchIfMissing = true)
    JdbcConnectionDetails runningEmbeddedDatabase(Environment environment) {
        Path file =
                Path.of(
                                environment.getProperty(
                                        "gpusharing.database.directory",
                                        System.getProperty("user.home") + "/.gpusharing/database"))
                        .resolve("postmaster.pid");
        String url = "jdbc:postgresql://127.0.0.1:%s/postgres".formatted(port(file));
        return new JdbcConnectionDetails() {
            @Override
            public String getJdbcUrl() {
                return url;
            }

            @Override
            public String getUsername() {
                return "postgres";
            }

            @Override
            public String getPassword() {
                return "";
            }
        };
    }

    /** {@code postmaster.pid}: process id, data directory, start, port, one a line. */
    private static String port(Path file) {
        try {
            List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
            if (lines.size() < 4) {
                throw new IllegalStateException(
                        "No database: set SPRING_DATASOURCE_URL, _USERNAME and _PASSWORD, or start the timekeeper, whose embedded one is not running; GPUSHARING_DATABASE_DIRECTORY says where it is ("
                                + file
                                + ")");
            }
            return lines.get(3).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
