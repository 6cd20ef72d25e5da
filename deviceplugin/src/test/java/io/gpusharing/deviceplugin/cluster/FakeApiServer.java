package io.gpusharing.deviceplugin.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An API server on 127.0.0.1: pods that can be listed and watched, with versions and a history that
 * it forgets when told so, and other objects that can be created, read and patched.
 */
final class FakeApiServer implements AutoCloseable {

    private static final String END = "";

    /** A request as it came in. */
    record Request(String method, String path, String body) {

        boolean isWatch() {
            return path.contains("watch=true");
        }

        boolean isList() {
            return path.startsWith("/api/v1/pods") && !isWatch();
        }

        String parameter(String name) {
            for (String pair : path.substring(path.indexOf('?') + 1).split("&", -1)) {
                if (pair.startsWith(name + "=")) {
                    return pair.substring(name.length() + 1);
                }
            }
            return "";
        }
    }

    private record Past(long version, String line) {}

    final List<Request> requests = new CopyOnWriteArrayList<>();

    private final HttpServer server;
    private final Path folder;
    private final BlockingQueue<Request> watches = new LinkedBlockingQueue<>();
    private final BlockingQueue<Request> changes = new LinkedBlockingQueue<>();

    /** Guarded by this, as all below. */
    private final List<BlockingQueue<String>> watchers = new ArrayList<>();

    private final Map<String, JsonObject> pods = new LinkedHashMap<>();
    private final Map<String, JsonObject> objects = new LinkedHashMap<>();
    private final List<Past> history = new ArrayList<>();
    private long version = 100;
    private long oldest = 100;
    private boolean mute;
    private String token = "first";

    /** What all requests are answered; null while all is well. */
    private volatile @Nullable Reply everything;

    private record Reply(int status, String body) {}

    FakeApiServer(Path folder) throws IOException {
        this.folder = folder;
        Files.writeString(folder.resolve("token"), "first\n");
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::handle);
        server.start();
    }

    /** A client of it. */
    ApiServer client() {
        return new ApiServer(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort()),
                folder.resolve("token"),
                folder.resolve("no-ca"));
    }

    /** It takes this token and no other. */
    synchronized void takeToken(String only) {
        token = only;
    }

    /** It answers all requests so, and ends all watches. */
    synchronized void answerAll(int status, String body) {
        everything = new Reply(status, body);
        endWatches();
    }

    /** It is as before. */
    void recover() {
        everything = null;
    }

    /** Creates or changes a pod. */
    synchronized void put(JsonObject pod) {
        JsonObject stored = pod.deepCopy();
        stored.getAsJsonObject("metadata").addProperty("resourceVersion", "" + ++version);
        boolean known = pods.put(uid(pod), stored) != null;
        tell(known ? "MODIFIED" : "ADDED", stored);
    }

    synchronized void delete(JsonObject pod) {
        JsonObject last = requireNonNull(pods.remove(uid(pod))).deepCopy();
        last.getAsJsonObject("metadata").addProperty("resourceVersion", "" + ++version);
        tell("DELETED", last);
    }

    private static String uid(JsonObject pod) {
        return pod.getAsJsonObject("metadata").get("uid").getAsString();
    }

    private void tell(String type, JsonObject pod) {
        var event = new JsonObject();
        event.addProperty("type", type);
        event.add("object", pod);
        history.add(new Past(version, event.toString()));
        if (!mute) {
            watchers.forEach(watcher -> watcher.add(event.toString()));
        }
    }

    /** Watches are told nothing more of what happens, until they end. */
    synchronized void mute() {
        mute = true;
    }

    /** Watches that begin from now on are told what happens. */
    synchronized void unmute() {
        mute = false;
        watchers.clear();
    }

    /** Says something to all watches. */
    synchronized void say(String line) {
        watchers.forEach(watcher -> watcher.add(line));
    }

    /** Ends all watches in good order. */
    synchronized void endWatches() {
        watchers.forEach(watcher -> watcher.add(END));
        watchers.clear();
    }

    /** A watch can no longer begin before the present. */
    synchronized void forget() {
        oldest = ++version;
        history.clear();
    }

    synchronized long version() {
        return version;
    }

    /** Waits for the next watch to begin. */
    Request nextWatch() throws InterruptedException {
        Request watch = watches.poll(10, TimeUnit.SECONDS);
        assertThat(watch).as("a watch").isNotNull();
        return watch;
    }

    /** Waits for the next change of an object. */
    Request nextChange() throws InterruptedException {
        Request change = changes.poll(10, TimeUnit.SECONDS);
        assertThat(change).as("a change").isNotNull();
        return change;
    }

    List<Request> lists() {
        return requests.stream().filter(Request::isList).toList();
    }

    synchronized void putObject(String path, String json) {
        objects.put(path, JsonParser.parseString(json).getAsJsonObject());
    }

    synchronized void removeObject(String path) {
        objects.remove(path);
    }

    synchronized JsonObject object(String path) {
        return requireNonNull(objects.get(path), path);
    }

    private void handle(HttpExchange exchange) throws IOException {
        var request =
                new Request(
                        exchange.getRequestMethod(),
                        exchange.getRequestURI().toString(),
                        new String(exchange.getRequestBody().readAllBytes(), UTF_8));
        requests.add(request);
        Reply always = everything;
        if (always != null) {
            reply(exchange, always.status(), always.body());
        } else if (!isKnown(exchange.getRequestHeaders().getFirst("Authorization"))) {
            reply(exchange, 401, status(401, "Unauthorized"));
        } else if (request.isWatch()) {
            watch(exchange, request);
        } else if (request.isList()) {
            reply(exchange, 200, list());
        } else {
            Reply reply = keep(request, exchange.getRequestHeaders().getFirst("Content-Type"));
            // Before the answer: the next change may be there before this thread goes on.
            if (!request.method().equals("GET")) {
                changes.add(request);
            }
            reply(exchange, reply.status(), reply.body());
        }
    }

    private synchronized boolean isKnown(@Nullable String authorization) {
        return ("Bearer " + token).equals(authorization);
    }

    private synchronized String list() {
        var items = new JsonArray();
        pods.values().forEach(items::add);
        var list = new JsonObject();
        list.addProperty("kind", "PodList");
        list.addProperty("apiVersion", "v1");
        list.add(
                "metadata",
                JsonParser.parseString("{\"resourceVersion\":\"%d\"}".formatted(version)));
        // As Go writes an empty one, at times.
        list.add("items", items.isEmpty() ? JsonNull.INSTANCE : items);
        return list.toString();
    }

    private void watch(HttpExchange exchange, Request request) throws IOException {
        var lines = new LinkedBlockingQueue<String>();
        synchronized (this) {
            long from = Long.parseLong(request.parameter("resourceVersion"));
            if (from < oldest) {
                var error = new JsonObject();
                error.addProperty("type", "ERROR");
                error.add(
                        "object", JsonParser.parseString(status(410, "too old resource version")));
                lines.add(error.toString());
                lines.add(END);
            }
            history.stream()
                    .filter(past -> past.version() > from)
                    .forEach(past -> lines.add(past.line()));
            watchers.add(lines);
        }
        exchange.sendResponseHeaders(200, 0);
        try (OutputStream out = exchange.getResponseBody()) {
            out.flush();
            watches.add(request);
            for (String line = lines.take(); !line.equals(END); line = lines.take()) {
                out.write((line + "\n").getBytes(UTF_8));
                out.flush();
            }
        } catch (InterruptedException e) {
            exchange.close();
        }
    }

    private synchronized Reply keep(Request request, @Nullable String contentType) {
        String path = request.path();
        return switch (request.method()) {
            case "GET" ->
                    objects.containsKey(path)
                            ? new Reply(200, object(path).toString())
                            : new Reply(404, status(404, path + " not found"));
            case "POST" -> create(path, JsonParser.parseString(request.body()).getAsJsonObject());
            case "PATCH" -> {
                if ("application/apply-patch+yaml".equals(contentType)) {
                    yield apply(request);
                }
                assertThat(contentType).isEqualTo("application/merge-patch+json");
                yield patch(path, JsonParser.parseString(request.body()).getAsJsonObject());
            }
            default -> new Reply(405, status(405, request.method()));
        };
    }

    private Reply create(String folder, JsonObject object) {
        String name = object.getAsJsonObject("metadata").get("name").getAsString();
        if (objects.putIfAbsent(folder + "/" + name, object) != null) {
            return new Reply(409, status(409, name + " already exists"));
        }
        return new Reply(201, object.toString());
    }

    /** As if nobody else had written it. */
    private Reply apply(Request request) {
        assertThat(request.parameter("fieldManager")).isNotEmpty();
        String path = request.path().replaceFirst("[?].*", "");
        JsonObject object = JsonParser.parseString(request.body()).getAsJsonObject();
        objects.merge(
                path,
                object,
                (there, applied) -> {
                    merge(there, applied);
                    return there;
                });
        return new Reply(200, object(path).toString());
    }

    private Reply patch(String path, JsonObject patch) {
        boolean ofStatus = path.endsWith("/status");
        JsonObject object = objects.get(path.replaceFirst("/status$", ""));
        if (object == null) {
            return new Reply(404, status(404, path + " not found"));
        }
        // A definition with a status of its own takes it there only, and nothing else there.
        patch.keySet().removeIf(member -> member.equals("status") != ofStatus);
        merge(object, patch);
        return new Reply(200, object.toString());
    }

    /** RFC 7396. */
    private static void merge(JsonObject into, JsonObject patch) {
        for (Map.Entry<String, JsonElement> member : patch.entrySet()) {
            if (member.getValue().isJsonNull()) {
                into.remove(member.getKey());
            } else if (member.getValue() instanceof JsonObject deeper) {
                if (!(into.get(member.getKey()) instanceof JsonObject)) {
                    into.add(member.getKey(), new JsonObject());
                }
                merge(into.getAsJsonObject(member.getKey()), deeper);
            } else {
                into.add(member.getKey(), member.getValue());
            }
        }
    }

    static String status(int code, String message) {
        var status = new JsonObject();
        status.addProperty("kind", "Status");
        status.addProperty("apiVersion", "v1");
        status.add("metadata", new JsonObject());
        status.addProperty("status", "Failure");
        status.addProperty("message", message);
        status.addProperty("code", code);
        return status.toString();
    }

    private static void reply(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        endWatches();
        server.stop(0);
    }
}
