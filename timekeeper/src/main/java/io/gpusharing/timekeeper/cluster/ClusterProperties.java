package io.gpusharing.timekeeper.cluster;

import jakarta.validation.constraints.NotBlank;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * The cluster that is watched.
 *
 * @param namespace namespace of our own services; features get it by this property's name
 * @param watchRetry how long to wait before the API server is asked again after a failure
 */
@Validated
@ConfigurationProperties("gpusharing.cluster")
public record ClusterProperties(
        @NotBlank @DefaultValue("gpusharing-system") String namespace,
        @DefaultValue("1s") Duration watchRetry) {}
