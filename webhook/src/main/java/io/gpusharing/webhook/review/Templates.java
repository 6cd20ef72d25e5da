package io.gpusharing.webhook.review;

import java.util.Map;
import java.util.Optional;

/** Where the pod template stands in the objects that controllers make pods from. */
public final class Templates {

    private static final String USUAL = "/spec/template";

    private static final Map<String, String> PATHS =
            Map.of(
                    "apps/Deployment", USUAL,
                    "apps/ReplicaSet", USUAL,
                    "apps/StatefulSet", USUAL,
                    "apps/DaemonSet", USUAL,
                    "batch/Job", USUAL,
                    "batch/CronJob", "/spec/jobTemplate/spec/template",
                    "/PodTemplate", "/template",
                    "/ReplicationController", USUAL);

    private Templates() {}

    /**
     * The template's place as a JSON Pointer.
     *
     * @param apiVersion a group, or a group and its version; empty or {@code v1} for the core group
     */
    public static Optional<String> path(String apiVersion, String kind) {
        String group = apiVersion.equals("v1") ? "" : apiVersion.replaceFirst("/.*", "");
        return Optional.ofNullable(PATHS.get(group + "/" + kind));
    }
}
