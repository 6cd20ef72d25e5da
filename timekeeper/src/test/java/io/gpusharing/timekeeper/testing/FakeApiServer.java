package io.gpusharing.timekeeper.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.timekeeper.cluster.LeanObjects;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * An API server that records its requests. It creates whatever it is given, each name once, and
 * refuses what a test asks it to refuse. Watches end as soon as they have begun.
 */
public final class FakeApiServer implements AutoCloseable {

    /** A request. */
    public record Asked(String method, String path, String query, String body) {}

    private static final Pattern NAME =
            Pattern.compile("\"metadata\":\\{[^}]*\"name\":\"([^\"]+)\"");

    public final List<Asked> requests = new CopyOnWriteArrayList<>();

    /** Those that were not refused. */
    public final List<Asked> taken = new CopyOnWriteArrayList<>();

    private final Map<String, Integer> refused = new ConcurrentHashMap<>();
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private final Map<String, String> events = new ConcurrentHashMap<>();
    private final Map<String, String> kept = new ConcurrentHashMap<>();
    private final Set<String> created = ConcurrentHashMap.newKeySet();
    private final Set<String> terminating = ConcurrentHashMap.newKeySet();
    private final HttpServer server;
    private final KubernetesClient client;

    public FakeApiServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
        client =
                new KubernetesClientBuilder()
                        .withKubernetesSerialization(LeanObjects.serialization())
                        .withConfig(
                                new ConfigBuilder(Config.empty())
                                        .withMasterUrl(
                                                "http://127.0.0.1:" + server.getAddress().getPort())
                                        .withRequestRetryBackoffLimit(0)
                                        // A list that is refused is asked for again after this.
                                        .withWatchReconnectInterval(250)
                                        .build())
                        .build();
    }

    /** A client of it, closed with it. */
    public KubernetesClient client() {
        return client;
    }

    /** Every path that ends so is answered with this status. */
    public void refuse(String end, int code) {
        refused.put(end, code);
    }

    /** Nothing that ends so is refused any more. */
    public void allow(String end) {
        refused.remove(end);
    }

    /** A namespace is being deleted: nothing new is accepted there. */
    public void terminate(String namespace) {
        terminating.add(namespace);
    }

    /** Every GET of a path that ends so is answered with this. */
    public void answer(String end, String json) {
        answers.put(end, json);
    }

    /** The next watch of a path that ends so gets this event. */
    public void happen(String end, String event) {
        events.put(end, event);
    }

    /**
     * A GET of a path that ends so is answered with this from now on, until somebody creates or
     * replaces the object there.
     *
     * @param json empty if there is no such object
     */
    public void store(String end, String json) {
        kept.put(end, json);
    }

    /** What is stored at a path that ends so; empty if nothing is. */
    public String kept(String end) {
        return kept.getOrDefault(end, "");
    }

    /** What was created at paths that end so, and was not refused. */
    public long created(String end) {
        return created.stream()
                .filter(it -> it.substring(0, it.lastIndexOf('/')).endsWith(end))
                .count();
    }

    /** The requests for paths that end so. */
    public List<Asked> to(String end) {
        return requests.stream().filter(it -> it.path().endsWith(end)).toList();
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String query = exchange.getRequestURI().getQuery();
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        String method = exchange.getRequestMethod();
        var asked = new Asked(method, path, query == null ? "" : query, body);
        requests.add(asked);
        int code =
                refused.entrySet().stream()
                        .filter(it -> path.endsWith(it.getKey()))
                        .map(Map.Entry::getValue)
                        .findFirst()
                        .orElseGet(() -> code(method, path, body));
        if (code < 300) {
            taken.add(asked);
        }
        boolean watch = query != null && query.contains("watch=true");
        String text =
                code >= 300
                        ? status(code, path)
                        : watch ? event(exchange, path) : text(method, path, body);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(code, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    /** The client tries a WebSocket first, which this server does not speak. */
    private String event(HttpExchange exchange, String path) {
        if (exchange.getRequestHeaders().containsKey("Upgrade")) {
            return "";
        }
        return events.keySet().stream()
                .filter(path::endsWith)
                .findFirst()
                .map(events::remove)
                .map(event -> event + "\n")
                .orElse("");
    }

    private int code(String method, String path, String body) {
        for (String end : List.copyOf(kept.keySet())) {
            String name = "\"name\":\"" + end.substring(end.lastIndexOf('/') + 1) + "\"";
            if (path.endsWith(end)) {
                if (method.equals("PUT")) {
                    kept.put(end, body);
                }
                return kept(end).isEmpty() ? 404 : 200;
            }
            if (method.equals("POST")
                    && (path + "/").endsWith(end.substring(0, end.lastIndexOf('/') + 1))
                    && body.contains(name)) {
                kept.put(end, body);
                return 201;
            }
        }
        if (terminating.stream().anyMatch(it -> path.contains("/" + it + "/"))) {
            return 403;
        }
        return method.equals("POST") ? create(path, body) : 200;
    }

    /** A name is accepted once. */
    private int create(String path, String body) {
        Matcher name = NAME.matcher(body);
        boolean fresh = !name.find() || created.add(path + "/" + name.group(1));
        return fresh ? 201 : 409;
    }

    private String text(String method, String path, String body) {
        return method.equals("GET")
                ? Stream.of(kept, answers)
                        .flatMap(all -> all.entrySet().stream())
                        .filter(it -> path.endsWith(it.getKey()))
                        .map(Map.Entry::getValue)
                        .findFirst()
                        .orElse(
                                "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}")
                : body;
    }

    private String status(int code, String path) {
        boolean ending = terminating.stream().anyMatch(it -> path.contains("/" + it + "/"));
        return "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":%d,\"message\":\"no\"%s}"
                .formatted(
                        code,
                        ending
                                ? ",\"details\":{\"causes\":[{\"reason\":\"NamespaceTerminating\"}]}"
                                : "");
    }

    @Override
    public void close() {
        client.close();
        server.stop(0);
    }
}
