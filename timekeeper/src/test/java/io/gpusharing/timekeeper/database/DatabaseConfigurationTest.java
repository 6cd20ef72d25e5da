package io.gpusharing.timekeeper.database;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

class DatabaseConfigurationTest {

    private final ApplicationContextRunner timekeeper =
            new ApplicationContextRunner()
                    .withUserConfiguration(Properties.class, DatabaseConfiguration.class)
                    .withPropertyValues("gpusharing.database.directory=/nowhere/database");

    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties({DatabaseProperties.class, DataSourceProperties.class})
    static class Properties {}

    @Test
    void theConfiguredDatabaseIsUsedAndNoOtherStarted() {
        timekeeper
                .withPropertyValues(
                        "spring.datasource.url=jdbc:postgresql://db/ledger",
                        "spring.datasource.username=timekeeper",
                        "spring.datasource.password=secret",
                        "KUBERNETES_SERVICE_HOST=10.0.0.1")
                .run(context -> {
                    var connection = context.getBean(JdbcConnectionDetails.class);
                    assertThat(connection.getJdbcUrl()).isEqualTo("jdbc:postgresql://db/ledger");
                    assertThat(connection.getUsername()).isEqualTo("timekeeper");
                    assertThat(connection.getPassword()).isEqualTo("secret");
                    assertThat(context.getBeanFactory().containsSingleton("embeddedDatabase"))
                            .isFalse();
                });
    }

    @Test
    void insideAClusterNoDatabaseIsMadeUp() {
        timekeeper
                .withPropertyValues("KUBERNETES_SERVICE_HOST=10.0.0.1")
                .run(context ->
                        assertThat(context)
                                .getFailure()
                                .rootCause()
                                .isInstanceOf(DatasourceMissingException.class));
    }
}
