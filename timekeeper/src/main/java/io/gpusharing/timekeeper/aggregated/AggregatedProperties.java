package io.gpusharing.timekeeper.aggregated;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Whether the API server passes on questions to us.
 *
 * @param enabled whether there is an {@code APIService} that names us
 * @param port where the API server finds us; 0 for any
 */
@ConfigurationProperties("gpusharing.aggregated")
record AggregatedProperties(
        @DefaultValue("false") boolean enabled, @DefaultValue("8444") int port) {}
