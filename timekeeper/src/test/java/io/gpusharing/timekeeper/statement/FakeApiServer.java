package io.gpusharing.timekeeper.statement;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * An API server that authenticates five users by their tokens: {@code reader} may get and list
 * budgets, {@code admin} may do everything, {@code stranger} nothing. {@code clerk} may update
 * budgets, but not create grants. {@code scoped} is the administrator, with a token that may not be
 * used for any of it. All but the stranger may get and create pods in {@code team-a}, and the
 * administrator alone metrics.
 */
final class FakeApiServer implements AutoCloseable {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String SCOPED = "scoped";
    private static final String SCOPES = "scopes.authorization.openshift.io";
    private static final Map<String, Set<String>> VERBS =
            Map.of(
                    "reader",
                    Set.of("get", "list"),
                    "clerk",
                    Set.of("get", "list", "update"),
                    "admin",
                    Set.of("get", "list", "update"),
                    SCOPED,
                    Set.of("get", "list", "update"),
                    "stranger",
                    Set.of());

    private final HttpServer server;
    final Map<String, JsonNode> grants = new ConcurrentHashMap<>();

    /** What it answers to GET, by path; without the parameters. */
    final Map<String, JsonNode> objects = new ConcurrentHashMap<>();

    final List<String> grantors = new CopyOnWriteArrayList<>();

    /** Whether the webhook that checks grants is away. */
    volatile boolean withoutWebhook;

    FakeApiServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        byte[] body = exchange.getRequestBody().readAllBytes();
        if (path.endsWith("/tokenreviews")) {
            send(exchange, 201, review((ObjectNode) JSON.readTree(body)));
        } else if (path.endsWith("/subjectaccessreviews")) {
            send(exchange, 201, access((ObjectNode) JSON.readTree(body)));
        } else if (path.endsWith("/gpugrants")) {
            create(exchange, (ObjectNode) JSON.readTree(body));
        } else if (path.contains("/gpugrants/")) {
            JsonNode grant = grants.get(path.substring(path.lastIndexOf('/') + 1));
            if (grant == null) {
                send(exchange, 404, status(404, "not found"));
            } else {
                send(exchange, 200, grant);
            }
        } else if (objects.containsKey(path)) {
            send(exchange, 200, objects.get(path));
        } else {
            send(exchange, 404, status(404, "no such path: " + path));
        }
    }

    private static JsonNode review(ObjectNode review) {
        String token = review.at("/spec/token").asString();
        ObjectNode status = review.putObject("status");
        status.put("authenticated", VERBS.containsKey(token));
        if (VERBS.containsKey(token)) {
            ObjectNode user = status.putObject("user").put("username", token + "@example.com");
            user.putArray("groups");
            if (token.equals(SCOPED)) {
                user.putObject("extra").putArray(SCOPES).add("user:info");
            }
        }
        return review;
    }

    private static JsonNode access(ObjectNode review) {
        String user = review.at("/spec/user").asString().replace("@example.com", "");
        JsonNode right = review.at("/spec/resourceAttributes");
        String verb = right.path("verb").asString();
        boolean ofPods = right.path("resource").asString().equals("pods");
        if (review.at("/spec/nonResourceAttributes/path").asString("").equals("/metrics")) {
            review.putObject("status").put("allowed", user.equals("admin"));
            return review;
        }
        if (review.at("/spec/extra").has(SCOPES)) {
            review.putObject("status").put("allowed", false);
            return review;
        }
        review.putObject("status")
                .put(
                        "allowed",
                        ofPods
                                ? !user.equals("stranger")
                                        && right.path("namespace").asString("").equals("team-a")
                                : VERBS.getOrDefault(user, Set.of()).contains(verb));
        return review;
    }

    private void create(HttpExchange exchange, ObjectNode grant) throws IOException {
        String token =
                exchange.getRequestHeaders().getFirst("Authorization").replace("Bearer ", "");
        String name = grant.at("/metadata/name").asString();
        if (!token.equals("admin")) {
            send(exchange, 403, status(403, token + " cannot create resource gpugrants"));
        } else if (withoutWebhook) {
            send(
                    exchange,
                    500,
                    status(
                            500,
                            "Internal error occurred: failed calling webhook \"authors.gpusharing.io\": no endpoints available"));
        } else if (grants.containsKey(name)) {
            send(exchange, 409, status(409, name + " already exists"));
        } else {
            ObjectNode meta = (ObjectNode) grant.get("metadata");
            meta.put("uid", "uid-" + name).put("creationTimestamp", "2026-03-01T10:00:00Z");
            grants.put(name, grant);
            grantors.add(token);
            send(exchange, 201, grant);
        }
    }

    private static JsonNode status(int code, String message) {
        return JSON.createObjectNode()
                .put("kind", "Status")
                .put("apiVersion", "v1")
                .put("code", code)
                .put("message", message);
    }

    private static void send(HttpExchange exchange, int code, JsonNode answer) throws IOException {
        byte[] bytes = answer.toString().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(code, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }
}
