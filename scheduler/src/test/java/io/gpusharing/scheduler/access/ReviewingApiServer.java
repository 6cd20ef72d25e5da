package io.gpusharing.scheduler.access;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import io.gpusharing.web.Pem;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An API server of a cluster without pods, unless a test puts some there: keeps what is created,
 * knows tokens by the name that they are, with {@code @} and an audience where they are not for
 * itself, and lets those get nodes or list pods whose name or group says so ({@code may-get-nodes},
 * or {@code may-get-in-team-a} in that namespace alone).
 */
final class ReviewingApiServer implements AutoCloseable {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String NODE =
            """
            {"apiVersion":"gpusharing.io/v1alpha1","kind":"GpuNode","metadata":{"name":"gpu-node-1","uid":"1","resourceVersion":"1"},
             "status":{"tier":"TimeSlice","gpus":[{"uuid":"GPU-0","index":0,"memoryMiB":15360,"mig":false,"health":"Healthy","mode":"Idle","grants":[]}]}}
            """;

    private final FakeApiServer server = new FakeApiServer(this::answer);
    private final Map<String, String> objects = new ConcurrentHashMap<>();
    private volatile boolean hidden;
    private volatile boolean knowsNoAudiences;
    private final AtomicInteger tokenReviews = new AtomicInteger();

    /** What it was asked of somebody's rights. */
    final List<JsonNode> rightsAsked = new CopyOnWriteArrayList<>();

    String url() {
        return server.url();
    }

    KubernetesClient client() {
        return server.client();
    }

    int tokenReviews() {
        return tokenReviews.get();
    }

    /** From now on it knows clients by this authority. */
    void trust(X509Certificate authority) {
        objects.put(
                "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication",
                JSON.writeValueAsString(
                        Map.of(
                                "metadata", Map.of("name", "extension-apiserver-authentication"),
                                "data", Map.of("client-ca-file", Pem.of(authority)))));
    }

    /** From now on this is answered at a path. */
    void put(String path, String json) {
        objects.put(path, json);
    }

    /** From now on nobody may read by which authority it knows clients. */
    void hideAuthority() {
        hidden = true;
    }

    /** From now on it takes tokens for whatever they are, and does not say for what. */
    void knowNoAudiences() {
        knowsNoAudiences = true;
    }

    /** The certificate that the extender has published for kube-scheduler to trust. */
    String published() {
        String map =
                objects.get(
                        "/api/v1/namespaces/gpusharing-system/configmaps/gpusharing-scheduler-ca");
        return map == null ? "" : JSON.readTree(map).at("/data/ca.crt").asString();
    }

    private Answer answer(Request request) {
        String path = request.path();
        if (request.method().equals("POST")) {
            return new Answer(201, created(path, request.body()));
        }
        if (hidden && path.endsWith("/extension-apiserver-authentication")) {
            return Answer.status(403, "");
        }
        String found = objects.get(path);
        if (found != null) {
            return Answer.ok(found);
        }
        if (path.endsWith("/gpunodes")) {
            return Answer.list(NODE);
        }
        if (List.of("/api/v1/pods", "/apis/policy/v1/poddisruptionbudgets").contains(path)
                || path.endsWith("/gpureservations")) {
            return Answer.list("");
        }
        return Answer.status(404, "");
    }

    private String created(String path, String body) {
        JsonNode asked = JSON.readTree(body);
        if (path.endsWith("/tokenreviews")) {
            tokenReviews.incrementAndGet();
            return "{\"status\":%s}".formatted(reviewed(asked.at("/spec")));
        }
        if (path.endsWith("/subjectaccessreviews")) {
            rightsAsked.add(asked.at("/spec"));
            return "{\"status\":{\"allowed\":%s}}".formatted(isAllowed(asked.at("/spec")));
        }
        String object = decoded(asked);
        objects.put(path + "/" + asked.at("/metadata/name").asString(), object);
        return object;
    }

    private String reviewed(JsonNode spec) {
        String token = spec.path("token").asString();
        String own = "https://kubernetes.default.svc";
        String audience = token.contains("@") ? token.substring(token.indexOf('@') + 1) : own;
        JsonNode wanted = spec.path("audiences");
        boolean good =
                knowsNoAudiences
                        || (wanted.isEmpty() ? own : wanted.path(0).asString()).equals(audience);
        return "{\"authenticated\":%s,\"audiences\":[%s],\"user\":{\"username\":\"%s\",\"groups\":[\"system:authenticated\"]}}"
                .formatted(
                        good && !token.startsWith("forged"),
                        good && !knowsNoAudiences ? "\"%s\"".formatted(audience) : "",
                        token.replaceFirst("@.*", ""));
    }

    private static boolean isAllowed(JsonNode spec) {
        JsonNode right = spec.at("/resourceAttributes");
        String verb = right.path("verb").asString();
        String namespace = right.path("namespace").asString("");
        String who = spec.toString();
        return who.contains("may-%s-%s".formatted(verb, right.path("resource").asString()))
                || (!namespace.isEmpty()
                        && who.contains("may-%s-in-%s".formatted(verb, namespace)));
    }

    /** An API server writes {@code stringData} as {@code data}. */
    private static String decoded(JsonNode object) {
        if (!object.has("stringData")) {
            return object.toString();
        }
        var data = new ConcurrentHashMap<String, String>();
        object.get("stringData")
                .properties()
                .forEach(entry ->
                        data.put(
                                entry.getKey(),
                                Base64.getEncoder()
                                        .encodeToString(
                                                entry.getValue().asString().getBytes(UTF_8))));
        return JSON.writeValueAsString(Map.of("metadata", object.get("metadata"), "data", data));
    }

    @Override
    public void close() {
        server.close();
    }
}
