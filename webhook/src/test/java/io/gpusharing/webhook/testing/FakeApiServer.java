package io.gpusharing.webhook.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.zjsonpatch.JsonPatch;
import io.gpusharing.web.TrustAnchors;
import io.gpusharing.webhook.cluster.LeanObjects;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * As much of an API server as the webhook talks to: objects by path, versions and conflicts, lists,
 * watches, JSON patches. It can go away and come back.
 */
public final class FakeApiServer implements AutoCloseable {

    private static final JsonMapper MAPPER = JsonMapper.shared();

    private record Event(long version, String path, String line) {}

    private record Watcher(String collection, String name, OutputStream out) {

        /** Sends the event, if it concerns this watch; false if the client is gone. */
        boolean send(Event event) {
            int slash = event.path().lastIndexOf('/');
            boolean concerned =
                    event.path().substring(0, slash).equals(collection)
                            && (name.isEmpty() || event.path().substring(slash + 1).equals(name));
            try {
                if (concerned) {
                    out.write(event.line().getBytes(UTF_8));
                    out.flush();
                }
                return true;
            } catch (IOException e) {
                return false;
            }
        }
    }

    private final Map<String, ObjectNode> objects = new TreeMap<>();
    private final List<Event> events = new ArrayList<>();
    private final List<Watcher> watchers = new CopyOnWriteArrayList<>();
    private final int port;
    private HttpServer server;
    private long version;
    private volatile @Nullable String forbidden;

    /** Starts on a free port of the loopback. */
    public FakeApiServer() {
        server = listen(0);
        port = server.getAddress().getPort();
    }

    /** Base URL. */
    public String url() {
        return "http://127.0.0.1:" + port;
    }

    /** A client of this server. */
    public KubernetesClient client() {
        return new KubernetesClientBuilder()
                .withConfig(
                        new ConfigBuilder()
                                .withMasterUrl(url())
                                .withRequestRetryBackoffLimit(0)
                                .withWatchReconnectInterval(125)
                                .build())
                .withKubernetesSerialization(LeanObjects.serialization())
                .build();
    }

    /** The object at a path, or null. */
    public synchronized @Nullable JsonNode get(String path) {
        return objects.get(path);
    }

    /**
     * Trusts whom a mutating webhook configuration names, as an API server does that asks it.
     *
     * @param path of the configuration
     */
    public SSLContext trusting(String path) {
        String bundle =
                Objects.requireNonNull(get(path))
                        .at("/webhooks/0/clientConfig/caBundle")
                        .asString();
        return TrustAnchors.trusting(new String(Base64.getDecoder().decode(bundle), UTF_8));
    }

    /** The review of a new pod in {@code team-a} that asks for half a GPU. */
    public static byte[] review() {
        return """
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u",
         "kind": {"group": "", "version": "v1", "kind": "Pod"}, "namespace": "team-a", "operation": "CREATE",
         "object": {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "cuda", "resources": {
          "limits": {"tencent.com/vcuda-core": "50", "tencent.com/vcuda-memory": "15"}}}]}}}}
        """
                .getBytes(UTF_8);
    }

    /** Puts an object at a path, new or changed. */
    public synchronized void put(String path, String json) {
        boolean known = objects.containsKey(path);
        store(path, (ObjectNode) MAPPER.readTree(json), known ? "MODIFIED" : "ADDED");
    }

    /** Deletes the object at a path. */
    public synchronized void delete(String path) {
        ObjectNode gone = objects.remove(path);
        if (gone != null) {
            gone.withObject("/metadata").put("resourceVersion", Long.toString(++version));
            publish(path, "DELETED", gone);
        }
    }

    /** Answers 403 to everything below a path from now on; null ends that. */
    public void forbid(@Nullable String path) {
        this.forbidden = path;
    }

    /** Nobody answers any more, and open watches break. */
    public void goAway() {
        server.stop(0);
        watchers.clear();
    }

    /** Answers again, at the same address. */
    public void comeBack() {
        server = listen(port);
    }

    @Override
    public void close() {
        server.stop(0);
    }

    private HttpServer listen(int at) {
        try {
            var listening =
                    HttpServer.create(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), at), 0);
            listening.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
            listening.createContext("/", this::answer);
            listening.start();
            return listening;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String query = String.valueOf(exchange.getRequestURI().getQuery());
        byte[] body = exchange.getRequestBody().readAllBytes();
        String denied = forbidden;
        if (denied != null && path.startsWith(denied)) {
            status(exchange, 403, "Forbidden");
            return;
        }
        switch (exchange.getRequestMethod()) {
            case "GET" -> {
                if (query.contains("watch=true")) {
                    watch(exchange, path, query);
                } else {
                    read(exchange, path, query);
                }
            }
            case "POST" -> create(exchange, path, (ObjectNode) MAPPER.readTree(body));
            case "PUT" -> replace(exchange, path, (ObjectNode) MAPPER.readTree(body));
            case "PATCH" -> patch(exchange, path, MAPPER.readTree(body));
            default -> status(exchange, 405, "MethodNotAllowed");
        }
    }

    private void read(HttpExchange exchange, String path, String query) throws IOException {
        JsonNode found = get(path);
        if (found != null) {
            send(exchange, 200, found);
        } else if (isCollection(path)) {
            ObjectNode list = MAPPER.createObjectNode().put("kind", "List").put("apiVersion", "v1");
            synchronized (this) {
                list.putObject("metadata").put("resourceVersion", Long.toString(version));
                list.putArray("items").addAll(items(path, parameter(query, "metadata.name")));
            }
            send(exchange, 200, list);
        } else {
            status(exchange, 404, "NotFound");
        }
    }

    private void watch(HttpExchange exchange, String path, String query) throws IOException {
        if (exchange.getRequestHeaders().containsKey("Upgrade")) {
            // What a proxy without WebSockets says; the client then watches by plain HTTP.
            send(exchange, 200, MAPPER.createObjectNode());
            return;
        }
        exchange.sendResponseHeaders(200, 0);
        // The head alone, so that the client knows that it watches.
        exchange.getResponseBody().flush();
        var watcher =
                new Watcher(path, parameter(query, "metadata.name"), exchange.getResponseBody());
        String since = parameter(query, "resourceVersion");
        synchronized (this) {
            long seen = since.isEmpty() ? version : Long.parseLong(since);
            events.stream()
                    .filter(event -> event.version() > seen)
                    .forEach(event -> watcher.send(event));
            watchers.add(watcher);
        }
    }

    private synchronized void create(HttpExchange exchange, String collection, ObjectNode object)
            throws IOException {
        String path = collection + "/" + object.at("/metadata/name").asString();
        if (objects.containsKey(path)) {
            status(exchange, 409, "AlreadyExists");
        } else {
            store(path, object, "ADDED");
            send(exchange, 201, object);
        }
    }

    private synchronized void replace(HttpExchange exchange, String path, ObjectNode object)
            throws IOException {
        ObjectNode known = objects.get(path);
        if (known == null) {
            status(exchange, 404, "NotFound");
        } else if (!known.at("/metadata/resourceVersion")
                .equals(object.at("/metadata/resourceVersion"))) {
            status(exchange, 409, "Conflict");
        } else {
            store(path, object, "MODIFIED");
            send(exchange, 200, object);
        }
    }

    private synchronized void patch(HttpExchange exchange, String path, JsonNode patch)
            throws IOException {
        ObjectNode known = objects.get(path);
        if (known == null) {
            status(exchange, 404, "NotFound");
            return;
        }
        var patched = (ObjectNode) JsonPatch.apply(patch, known.deepCopy());
        store(path, patched, "MODIFIED");
        send(exchange, 200, patched);
    }

    private synchronized void store(String path, ObjectNode object, String event) {
        JsonNode text = object.remove("stringData");
        if (text != null) {
            text.forEachEntry((key, value) ->
                    object.withObject("/data")
                            .put(
                                    key,
                                    Base64.getEncoder()
                                            .encodeToString(value.asString().getBytes(UTF_8))));
        }
        ObjectNode metadata = object.withObject("/metadata");
        metadata.put("resourceVersion", Long.toString(++version));
        if (!metadata.has("creationTimestamp")) {
            metadata.put("creationTimestamp", "2026-03-10T11:00:00Z");
        }
        objects.put(path, object);
        publish(path, event, object);
    }

    private void publish(String path, String type, ObjectNode object) {
        ObjectNode json = MAPPER.createObjectNode().put("type", type);
        json.set("object", object.deepCopy());
        var event = new Event(version, path, json + "\n");
        events.add(event);
        watchers.removeIf(watcher -> !watcher.send(event));
    }

    private List<JsonNode> items(String collection, String name) {
        var items = new ArrayList<JsonNode>();
        objects.forEach((path, object) -> {
            String own = path.substring(path.lastIndexOf('/') + 1);
            if (path.equals(collection + "/" + own) && (name.isEmpty() || name.equals(own))) {
                items.add(object);
            }
        });
        return items;
    }

    /** Collections end in a plural; our objects' names have a hyphen or are no plural. */
    private static boolean isCollection(String path) {
        String last = path.substring(path.lastIndexOf('/') + 1);
        return last.endsWith("s") && !last.contains("-");
    }

    /** A parameter's value, also of one inside the field selector; empty if it is not there. */
    private static String parameter(String query, String name) {
        int at = query.indexOf(name + "=");
        return at < 0 ? "" : query.substring(at + name.length() + 1).split("&", -1)[0];
    }

    private static void status(HttpExchange exchange, int code, String reason) throws IOException {
        send(
                exchange,
                code,
                MAPPER.createObjectNode()
                        .put("kind", "Status")
                        .put("apiVersion", "v1")
                        .put("status", "Failure")
                        .put("reason", reason)
                        .put("message", reason)
                        .put("code", code));
    }

    private static void send(HttpExchange exchange, int code, JsonNode body) throws IOException {
        byte[] bytes = body.toString().getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(code, bytes.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(bytes);
        }
    }
}
