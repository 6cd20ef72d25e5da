package io.gpusharing.cli.cluster;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A question to the timekeeper that is put by creating an object; nothing is stored. */
public final class UsageQuestion {

    private static final String VERSION = "usage.gpusharing.io/v1alpha1";

    private static final JsonMapper JSON = new JsonMapper();

    private UsageQuestion() {}

    /**
     * Asks about a namespace in which the user makes pods.
     *
     * @param resource for instance {@code quotes}
     * @return its status
     */
    public static JsonNode answer(
            Cluster cluster,
            String namespace,
            String resource,
            String kind,
            Map<String, Object> spec) {
        String answer =
                cluster.post(
                        "/apis/%s/namespaces/%s/%s"
                                .formatted(
                                        VERSION,
                                        URLEncoder.encode(namespace, StandardCharsets.UTF_8),
                                        resource),
                        JSON.writeValueAsString(
                                Map.of("apiVersion", VERSION, "kind", kind, "spec", spec)),
                        "ask whoever administers the namespace for the role edit or admin there");
        return JSON.readTree(answer).path("status");
    }
}
