package io.gpusharing.deviceplugin.cluster;

import com.google.gson.stream.JsonReader;
import java.io.IOException;
import java.util.Map;

/**
 * What concerns us of this plugin's Node.
 *
 * @param containerRuntime program and version, {@code containerd://2.1.4}; empty if the kubelet has
 *     not said so yet
 * @param allocatable what kubelet offers of extended resources, as it writes the amounts
 */
public record NodeView(
        String uid,
        Map<String, String> labels,
        Map<String, String> allocatable,
        String containerRuntime) {

    public NodeView {
        labels = Map.copyOf(labels);
        allocatable = Map.copyOf(allocatable);
    }

    /** Asks the API server for it. */
    public static NodeView read(ApiServer api, String node)
            throws IOException, InterruptedException {
        return api.get(path(node), json -> new Reader().read(json));
    }

    static String path(String node) {
        return "/api/v1/nodes/" + node;
    }

    private static final class Reader {

        private String uid = "";
        private Map<String, String> labels = Map.of();
        private Map<String, String> allocatable = Map.of();
        private String containerRuntime = "";

        private NodeView read(JsonReader json) throws IOException {
            Json.object(json, this::member);
            return new NodeView(uid, labels, allocatable, containerRuntime);
        }

        private void member(String member, JsonReader json) throws IOException {
            switch (member) {
                case "metadata" -> Json.object(json, this::metadata);
                case "status" -> Json.object(json, this::status);
                default -> json.skipValue();
            }
        }

        private void metadata(String member, JsonReader json) throws IOException {
            switch (member) {
                case "uid" -> uid = Json.text(json);
                case "labels" -> labels = Json.texts(json, label -> true);
                default -> json.skipValue();
            }
        }

        private void status(String member, JsonReader json) throws IOException {
            switch (member) {
                case "allocatable" ->
                        allocatable = Json.texts(json, resource -> resource.indexOf('/') > 0);
                case "nodeInfo" ->
                        containerRuntime =
                                Json.texts(json, "containerRuntimeVersion"::equals)
                                        .getOrDefault("containerRuntimeVersion", "");
                default -> json.skipValue();
            }
        }
    }
}
