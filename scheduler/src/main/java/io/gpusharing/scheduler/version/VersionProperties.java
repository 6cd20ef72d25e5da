package io.gpusharing.scheduler.version;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Which Deployment's kube-scheduler follows the API server's version.
 *
 * @param namespace of the Deployment
 * @param deployment its name; empty: none, the image stays as it is
 * @param container the container that runs kube-scheduler
 */
@ConfigurationProperties("gpusharing.scheduler.version")
record VersionProperties(
        @DefaultValue("gpusharing-system") String namespace,
        @DefaultValue("") String deployment,
        @DefaultValue("kube-scheduler") String container) {}
