package io.gpusharing.timekeeper.database;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

/**
 * The configured database, or an embedded one where none is configured and one machine is enough.
 * That is seen at the start and not by a condition, since the image's beans are chosen when it is
 * built.
 */
@Configuration(proxyBeanMethods = false)
class DatabaseConfiguration {

    @Bean(destroyMethod = "close")
    @Lazy
    EmbeddedDatabase embeddedDatabase(DatabaseProperties properties, Environment environment) {
        if (environment.containsProperty("KUBERNETES_SERVICE_HOST")) {
            throw new DatasourceMissingException();
        }
        return EmbeddedDatabase.open(properties.directory());
    }

    @Bean
    JdbcConnectionDetails databaseConnection(
            DataSourceProperties configured, ObjectProvider<EmbeddedDatabase> embedded) {
        if (configured.getUrl() != null) {
            return new Connection(
                    configured.determineUrl(),
                    configured.determineUsername(),
                    configured.determinePassword());
        }
        EmbeddedDatabase database = embedded.getObject();
        return new Connection(database.url(), database.user(), "");
    }

    private record Connection(
            String getJdbcUrl, @Nullable String getUsername, @Nullable String getPassword)
            implements JdbcConnectionDetails {}
}
