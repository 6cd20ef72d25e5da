package io.gpusharing.webhook.cluster;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Who places pods that ask for what our device plugin hands out.
 *
 * @param schedulerName the scheduler that such pods get: {@code default-scheduler} where the
 *     cluster's own asks our extender, so that they keep it; empty where none does
 * @param resources what our device plugin may offer: a plugin that names others says nothing
 * @param installedFor those of them that it offers unless a label of a node says otherwise: pods
 *     that ask for these get the scheduler before the first node is there, too
 * @param takeOver schedulers whose pods get ours; a name that begins with an asterisk stands for
 *     all that end so
 * @param nodeLabels labels of nodes on which our device plugin runs, each of them enough: {@code
 *     gpusharing.io/gpus=shared}
 */
@ConfigurationProperties("gpusharing.placement")
public record PlacementProperties(
        @DefaultValue("") String schedulerName,
        @DefaultValue List<String> resources,
        @DefaultValue List<String> installedFor,
        @DefaultValue List<String> takeOver,
        @DefaultValue("gpusharing.io/gpus=shared") List<String> nodeLabels) {

    private static final String DEFAULT = "default-scheduler";

    /** Whether pods get a scheduler at all. */
    boolean isWanted() {
        return !schedulerName.isEmpty();
    }

    /**
     * Whether a pod gets ours. The API server has filled in the default where the author wrote
     * none, so nobody can tell the two apart.
     */
    public boolean concerns(@Nullable String schedulerName) {
        return isWanted()
                && (schedulerName == null
                        || schedulerName.equals(DEFAULT)
                        || isTakenOver(schedulerName));
    }

    /** Whether it is another scheduler's pod that ours gets. */
    public boolean isTakenOver(@Nullable String schedulerName) {
        return isWanted()
                && schedulerName != null
                && !schedulerName.equals(this.schedulerName)
                && takeOver.stream()
                        .anyMatch(name ->
                                name.startsWith("*")
                                        ? schedulerName.endsWith(name.substring(1))
                                        : schedulerName.equals(name));
    }

    /** Whether pods get another scheduler than the API server gives them. */
    public boolean isSecond() {
        return isWanted() && !schedulerName.equals(DEFAULT);
    }

    /** Whether it is ours that a pod names already. */
    public boolean isOurs(@Nullable String schedulerName) {
        return isSecond() && this.schedulerName.equals(schedulerName);
    }

    boolean isLabelled(Map<String, String> labels) {
        return labels.entrySet().stream()
                .anyMatch(label -> nodeLabels.contains(label.getKey() + "=" + label.getValue()));
    }
}
