package io.gpusharing.timekeeper.database;

import java.nio.file.Path;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The embedded database, which serves only where {@code spring.datasource.url} is not set.
 *
 * @param directory where its data is kept; one timekeeper at a time
 */
@ConfigurationProperties("gpusharing.database")
record DatabaseProperties(@DefaultValue("${user.home}/.gpusharing/database") Path directory) {}
