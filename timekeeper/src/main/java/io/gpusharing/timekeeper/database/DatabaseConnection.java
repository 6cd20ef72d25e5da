package io.gpusharing.timekeeper.database;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;

/**
 * The database that {@code spring.datasource} names; without one the timekeeper does not start.
 *
 * @param url of JDBC, for PostgreSQL 16 or newer
 */
@ConfigurationProperties("spring.datasource")
public record DatabaseConnection(
        @DefaultValue("") String url, @Nullable String username, @Nullable String password)
        implements JdbcConnectionDetails {

    public DatabaseConnection {
        if (url.isBlank()) {
            throw new IllegalStateException(
                    "No database is configured. Set SPRING_DATASOURCE_URL (jdbc:postgresql://HOST:5432/NAME), "
                            + "SPRING_DATASOURCE_USERNAME and SPRING_DATASOURCE_PASSWORD, for instance by the "
                            + "chart's value database. PostgreSQL 16 or newer; outside a cluster "
                            + "gpusharing-embedded-postgres.jar runs one.");
        }
    }

    @Override
    public String getJdbcUrl() {
        return url;
    }

    @Override
    public @Nullable String getUsername() {
        return username;
    }

    @Override
    public @Nullable String getPassword() {
        return password;
    }
}
