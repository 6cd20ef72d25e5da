package io.gpusharing.scheduler;

import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How pods ask for GPUs here, also for those that another provider hands out. The same as the
 * webhook's and the timekeeper's: the chart renders all from one place.
 *
 * @param grammars ways of asking that are understood, in order of precedence
 * @param customResources extended resources of the site's own, each with the micro-GPUs that one
 *     unit is worth
 */
@ConfigurationProperties("gpusharing")
record RequestProperties(
        @DefaultValue({"vcuda", "aliyun", "metagpu", "nvidia", "hami"}) List<String> grammars,
        @DefaultValue Map<String, Long> customResources) {}
