package io.gpusharing.timekeeper.database;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

@ExtendWith(OutputCaptureExtension.class)
class DatabaseConnectionTest {

    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties(DatabaseConnection.class)
    static class Connected {}

    @Configuration(proxyBeanMethods = false)
    @Import({Connected.class, DataSourceAutoConfiguration.class})
    static class Timekeeper {}

    @Test
    void theConfiguredDatabaseIsUsed() {
        new ApplicationContextRunner()
                .withUserConfiguration(Connected.class)
                .withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
                .withPropertyValues(
                        "spring.datasource.url=jdbc:postgresql://db/ledger",
                        "spring.datasource.username=timekeeper",
                        "spring.datasource.password=secret")
                .run(context -> {
                    var pool = context.getBean(HikariDataSource.class);
                    assertThat(pool.getJdbcUrl()).isEqualTo("jdbc:postgresql://db/ledger");
                    assertThat(pool.getUsername()).isEqualTo("timekeeper");
                    assertThat(pool.getPassword()).isEqualTo("secret");
                });
    }

    @Test
    void withoutOneTheStartFailsAndSaysWhatToSet(CapturedOutput output) {
        try {
            SpringApplication.run(Timekeeper.class, "--spring.main.web-application-type=none")
                    .close();
        } catch (RuntimeException e) {
            assertThat(e).rootCause().hasMessageStartingWith("No database is configured");
        }

        assertThat(output)
                .contains("APPLICATION FAILED TO START", "No database is configured")
                .contains("SPRING_DATASOURCE_URL", "SPRING_DATASOURCE_USERNAME");
    }
}
