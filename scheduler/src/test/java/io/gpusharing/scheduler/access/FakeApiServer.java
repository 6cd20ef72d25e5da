package io.gpusharing.scheduler.access;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.web.Pem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An API server of a cluster without pods: keeps what is created, knows tokens by the name that
 * they are, and lets those get nodes or list pods whose name or group says so.
 */
final class FakeApiServer implements AutoCloseable {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String NODE =
            """
            {"apiVersion":"gpusharing.io/v1alpha1","kind":"GpuNode","metadata":{"name":"gpu-node-1","uid":"1","resourceVersion":"1"},
             "status":{"tier":"TimeSlice","gpus":[{"uuid":"GPU-0","index":0,"memoryMiB":15360,"mig":false,"health":"Healthy","mode":"Idle","grants":[]}]}}
            """;

    private final HttpServer server;
    private final Map<String, String> objects = new ConcurrentHashMap<>();
    private volatile boolean hidden;
    private final AtomicInteger tokenReviews = new AtomicInteger();

    /** What it was asked of somebody's rights. */
    final List<JsonNode> rightsAsked = new CopyOnWriteArrayList<>();

    FakeApiServer() {
        try {
            server =
                    HttpServer.create(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::answer);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    KubernetesClient client() {
        return new KubernetesClientBuilder()
                .withConfig(
                        new ConfigBuilder()
                                .withAutoConfigure(false)
                                .withMasterUrl(url())
                                .withRequestRetryBackoffLimit(0)
                                .build())
                .build();
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

    /** From now on nobody may read by which authority it knows clients. */
    void hideAuthority() {
        hidden = true;
    }

    /** The certificate that the extender has published for kube-scheduler to trust. */
    String published() {
        String map =
                objects.get(
                        "/api/v1/namespaces/gpusharing-system/configmaps/gpusharing-scheduler-ca");
        return map == null ? "" : JSON.readTree(map).at("/data/ca.crt").asString();
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String query = String.valueOf(exchange.getRequestURI().getQuery());
        String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
        if (exchange.getRequestHeaders().containsKey("Upgrade")) {
            // A client that would rather have a web socket asks again without.
            reply(exchange, 200, "{}");
            return;
        }
        if (query.contains("watch=true")) {
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().flush();
            return; // As long as the test takes nothing happens.
        }
        if (exchange.getRequestMethod().equals("POST")) {
            reply(exchange, 201, created(path, body));
        } else if (path.endsWith("/gpunodes")) {
            reply(exchange, 200, list(NODE));
        } else if (List.of("/api/v1/pods", "/apis/policy/v1/poddisruptionbudgets").contains(path)
                || path.endsWith("/gpureservations")) {
            reply(exchange, 200, list(""));
        } else {
            if (hidden && path.endsWith("/extension-apiserver-authentication")) {
                reply(exchange, 403, "{}");
                return;
            }
            String found = objects.get(path);
            reply(exchange, found == null ? 404 : 200, found == null ? "{}" : found);
        }
    }

    private String created(String path, String body) {
        JsonNode asked = JSON.readTree(body);
        if (path.endsWith("/tokenreviews")) {
            tokenReviews.incrementAndGet();
            String token = asked.at("/spec/token").asString();
            return "{\"status\":{\"authenticated\":%s,\"user\":{\"username\":\"%s\",\"groups\":[\"system:authenticated\"]}}}"
                    .formatted(!token.startsWith("forged"), token);
        }
        if (path.endsWith("/subjectaccessreviews")) {
            rightsAsked.add(asked.at("/spec"));
            return "{\"status\":{\"allowed\":%s}}"
                    .formatted(
                            asked.at("/spec")
                                    .toString()
                                    .contains(
                                            "may-%s-%s"
                                                    .formatted(
                                                            asked.at(
                                                                            "/spec/resourceAttributes/verb")
                                                                    .asString(),
                                                            asked.at(
                                                                            "/spec/resourceAttributes/resource")
                                                                    .asString())));
        }
        String object = decoded(asked);
        objects.put(path + "/" + asked.at("/metadata/name").asString(), object);
        return object;
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

    private static String list(String item) {
        return "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[%s]}".formatted(item);
    }

    private static void reply(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
