package io.gpusharing.scheduler.access;

import jakarta.validation.constraints.NotBlank;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * Where the timekeeper asks why pods wait.
 *
 * @param port on all addresses of the pod; 0 for any
 * @param service name of the Service; the serving certificate carries its DNS names
 */
@Validated
@ConfigurationProperties("gpusharing.scheduler.explanations")
record ExplanationsProperties(
        @DefaultValue("8444") int port,
        @NotBlank @DefaultValue("gpusharing-scheduler-explanations") String service) {}
