package io.gpusharing.timekeeper.database;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Brings the embedded database where no other is configured and one machine is enough. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "spring.datasource.url", havingValue = "none", matchIfMissing = true)
class EmbeddedDatabaseConfiguration {

    @Bean(destroyMethod = "close")
    EmbeddedDatabase embeddedDatabase(DatabaseProperties properties, Environment environment) {
        if (environment.containsProperty("KUBERNETES_SERVICE_HOST")) {
            throw new DatasourceMissingException();
        }
        return EmbeddedDatabase.open(properties.directory());
    }

    @Bean
    JdbcConnectionDetails embeddedConnection(EmbeddedDatabase database) {
        return new JdbcConnectionDetails() {
            @Override
            public String getJdbcUrl() {
                return database.url();
            }

            @Override
            public String getUsername() {
                return database.user();
            }

            @Override
            public String getPassword() {
                return "";
            }
        };
    }
}
