package io.gpusharing.timekeeper.cluster;

import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How pods ask for GPUs here. The same as the webhook's, or what one admits the other does not
 * charge: the chart renders both from one place.
 *
 * @param grammars ways of asking that are understood, in order of precedence
 * @param customResources extended resources of the site's own, each with the micro-GPUs that one
 *     unit is worth
 */
@ConfigurationProperties("gpusharing")
public record RequestProperties(
        @DefaultValue("vcuda") List<String> grammars,
        @DefaultValue Map<String, Long> customResources) {}
