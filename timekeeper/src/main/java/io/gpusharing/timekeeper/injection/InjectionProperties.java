package io.gpusharing.timekeeper.injection;

import jakarta.validation.constraints.PositiveOrZero;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * When the injection of the metering container is stopped.
 *
 * @param stopAfterPods in so many pods its image could not be pulled, and in none it could since; 0
 *     never stops it
 */
@Validated
@ConfigurationProperties("gpusharing.injection")
public record InjectionProperties(@PositiveOrZero @DefaultValue("3") int stopAfterPods) {}
