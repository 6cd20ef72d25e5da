package io.gpusharing.timekeeper.explanation;

import java.net.URI;
import java.nio.file.Path;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Where the scheduler is asked why pods wait.
 *
 * @param url of its Service, whose name its certificate carries
 * @param authority name of the ConfigMap ({@code ca.crt}) in our namespace in which the scheduler
 *     publishes by whom its certificate is signed
 * @param token file with a token of our service account for the scheduler's audience alone; the one
 *     that the API server is asked with is shown to nobody else
 */
@ConfigurationProperties("gpusharing.explanation")
record ExplanationProperties(
        @DefaultValue("https://gpusharing-scheduler-explanations.gpusharing-system.svc") URI url,
        @DefaultValue("gpusharing-scheduler-ca") String authority,
        @DefaultValue("/var/run/secrets/gpusharing.io/token") Path token) {}
