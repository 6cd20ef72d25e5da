package io.gpusharing.timekeeper.cluster;

import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How pods ask for GPUs here. The same as the webhook's, or what one admits the other does not
 * charge: the chart renders both from one place.
 *
 * @param resources names that ask for a GPU here, a prefix where one ends in {@code *}: the webhook
 *     sees no others. Empty for all that is read
 * @param grammars ways of asking that are understood, in order of precedence
 * @param customResources extended resources of the site's own, each with the micro-GPUs that one
 *     unit is worth
 * @param metagpuUnits the resources of the grammar {@code metagpu} and how many units of each are a
 *     GPU; 100 of {@code cnvrg.io/metagpu} where it is not named
 */
@ConfigurationProperties("gpusharing")
public record RequestProperties(
        @DefaultValue List<String> resources,
        @DefaultValue({"vcuda", "aliyun", "metagpu", "nvidia", "hami"}) List<String> grammars,
        @DefaultValue Map<String, Long> customResources,
        @DefaultValue Map<String, Integer> metagpuUnits) {

    /** Whether the webhook sees pods that ask for it. */
    public boolean lists(String resource) {
        return resources.isEmpty()
                || resources.stream()
                        .anyMatch(it ->
                                it.endsWith("*")
                                        ? resource.startsWith(it.substring(0, it.length() - 1))
                                        : resource.equals(it));
    }
}
