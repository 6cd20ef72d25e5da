package io.gpusharing.timekeeper.audit;

import io.gpusharing.timekeeper.budget.store.GrantRepository;
import io.gpusharing.timekeeper.budget.store.PeriodRepository;
import io.gpusharing.timekeeper.budget.store.TermsRepository;
import io.gpusharing.timekeeper.cluster.RequestProperties;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.DatabaseConnection;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
import java.time.Clock;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import tools.jackson.databind.json.JsonMapper;

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
@EnableConfigurationProperties({DatabaseConnection.class, RequestProperties.class})
@Import({
    ClusterDatabase.class,
    Verification.class,
    ClosedPeriodCheck.class,
    PeriodRepository.class,
    GrantRepository.class,
    TermsRepository.class,
    UsageRepository.class,
    LedgerBills.class,
    VerificationRepository.class
})
class VerifyConfiguration {

    @Bean
    Clock clock() {
        return Clock.systemUTC();
    }

    @Bean
    JsonMapper json() {
        return JsonMapper.builder().build();
    }
}
