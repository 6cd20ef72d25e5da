package io.gpusharing.e2e.admission;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The API server, queried in JSON: objects come back exactly as it stores them, and warnings with
 * them, neither of which a typed client shows.
 */
public final class Api {

    /** As deep as the API server stores it. */
    private static final ObjectMapper JSON =
            new ObjectMapper(
                    JsonFactory.builder()
                            .streamReadConstraints(
                                    StreamReadConstraints.builder()
                                            .maxNestingDepth(Integer.MAX_VALUE)
                                            .build())
                            .build());

    private static final YAMLMapper YAML = new YAMLMapper();
    private static final Pattern WARNING = Pattern.compile("\\d{3} \\S+ \"(.*)\"");

    private final KubernetesClient client;
    private final String user;
    private final String node;
    private final List<String> groups;

    public Api(KubernetesClient client) {
        this(client, "", "", List.of());
    }

    private Api(KubernetesClient client, String user, String node, List<String> groups) {
        this.client = client;
        this.user = user;
        this.node = node;
        this.groups = groups;
    }

    /** The same API server, as a user. */
    public Api as(String user, String... groups) {
        return new Api(client, user, "", List.of(groups));
    }

    /** The same API server, as a service account whose token is bound to a pod of a node. */
    public Api on(String node) {
        return new Api(client, user, node, groups);
    }

    /** A manifest in YAML. */
    public static ObjectNode yaml(String manifest) {
        try {
            return (ObjectNode) YAML.readTree(manifest);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(manifest, e);
        }
    }

    public Answer create(String namespace, JsonNode object) {
        return send("POST", path(namespace, object), object.toString(), "application/json");
    }

    public Answer create(String namespace, String manifest) {
        return create(namespace, yaml(manifest));
    }

    /**
     * Creates what a subresource takes.
     *
     * @param path for instance {@code /api/v1/namespaces/a/pods/b/eviction}
     */
    public Answer post(String path, String manifest) {
        return post(path, yaml(manifest));
    }

    /** As {@link #post(String, String)}. */
    public Answer post(String path, JsonNode object) {
        return send("POST", path, object.toString(), "application/json");
    }

    /** A dry run of a creation. */
    public Answer dryRun(String namespace, JsonNode object) {
        return send(
                "POST",
                path(namespace, object) + "?dryRun=All",
                object.toString(),
                "application/json");
    }

    public Answer dryRun(String namespace, String manifest) {
        return dryRun(namespace, yaml(manifest));
    }

    /**
     * Changes a part of an object, by a JSON Merge Patch.
     *
     * @param path for instance {@code /api/v1/namespaces/a/pods/b/status}
     * @param change in YAML
     */
    public Answer merge(String path, String change) {
        return merge(path, yaml(change));
    }

    /** As {@link #merge(String, String)}. */
    public Answer merge(String path, JsonNode change) {
        return send("PATCH", path, change.toString(), "application/merge-patch+json");
    }

    /** Changes a part of an object; lists are merged by the names of their entries. */
    public Answer patch(String path, String change) {
        return patch(path, yaml(change));
    }

    /** As {@link #patch(String, String)}. */
    public Answer patch(String path, JsonNode change) {
        return send("PATCH", path, change.toString(), "application/strategic-merge-patch+json");
    }

    /** Puts an object in the place of what is there. */
    public Answer replace(String path, JsonNode object) {
        return send("PUT", path, object.toString(), "application/json");
    }

    public Answer get(String path) {
        return send("GET", path, "", "application/json");
    }

    public Answer delete(String path) {
        return send("DELETE", path, "", "application/json");
    }

    /** A condition of an object's status; missing if there is none of this type. */
    public static JsonNode condition(JsonNode object, String type) {
        for (JsonNode condition : object.at("/status/conditions")) {
            if (condition.path("type").asText().equals(type)) {
                return condition;
            }
        }
        return MissingNode.getInstance();
    }

    /** The path of a pod. */
    public static String pod(String namespace, String name) {
        return "/api/v1/namespaces/" + namespace + "/pods/" + name;
    }

    private static String path(String namespace, JsonNode object) {
        return collection(
                namespace, object.path("apiVersion").asText(), object.path("kind").asText());
    }

    /**
     * Where objects of a kind lie.
     *
     * @param namespace empty for what belongs to no namespace
     */
    public static String collection(String namespace, String version, String kind) {
        return (version.contains("/") ? "/apis/" : "/api/")
                + version
                + (namespace.isEmpty() ? "" : "/namespaces/" + namespace)
                + "/"
                + kind.toLowerCase(Locale.ROOT)
                + (kind.endsWith("s") ? "es" : "s");
    }

    private Answer send(String method, String path, String body, String type) {
        HttpRequest.Builder request =
                client.getHttpClient()
                        .newHttpRequestBuilder()
                        .uri(client.getMasterUrl() + path.substring(1))
                        .method(method, type, body.isEmpty() ? null : body);
        if (!user.isEmpty()) {
            request.header("Impersonate-User", user);
            groups.forEach(group -> request.header("Impersonate-Group", group));
            if (!node.isEmpty()) {
                request.header("Impersonate-Extra-authentication.kubernetes.io%2Fnode-name", node);
            }
        }
        HttpResponse<String> response =
                client.getHttpClient().sendAsync(request.build(), String.class).join();
        return new Answer(
                method + " " + path,
                response.code(),
                json(response.body()),
                response.headers("Warning").stream().map(Api::warning).toList());
    }

    private static JsonNode json(String body) {
        try {
            return body == null || body.isEmpty() ? MissingNode.getInstance() : JSON.readTree(body);
        } catch (JsonProcessingException e) {
            throw new AssertionError("The API server answered something else: " + body, e);
        }
    }

    private static String warning(String header) {
        Matcher matcher = WARNING.matcher(header);
        return matcher.matches() ? matcher.group(1).replace("\\\"", "\"") : header;
    }

    /**
     * What the API server said.
     *
     * @param request method and path
     * @param code HTTP status
     * @param body the object, or a Status that says why not
     * @param warnings what kubectl would print as warnings
     */
    public record Answer(String request, int code, JsonNode body, List<String> warnings) {

        public boolean accepted() {
            return code / 100 == 2;
        }

        public String message() {
            return body.path("message").asText("");
        }

        /**
         * The object, where anything but success is a defect.
         *
         * @throws AssertionError if it was refused
         */
        public ObjectNode orFail() {
            if (!accepted()) {
                throw new AssertionError(request + " is answered " + code + ": " + message());
            }
            return (ObjectNode) body;
        }

        @Override
        public String toString() {
            return request + " → " + code + " " + (accepted() ? warnings : message());
        }
    }
}
