package io.gpusharing.kubernetes;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * An API server that stores one lease, and refuses writes that name an older version. It can be
 * away, and date what is written.
 */
final class FakeLease implements AutoCloseable {

    private static final JsonMapper JSON = new JsonMapper();

    private final HttpServer server;
    private final KubernetesClient client;
    private @Nullable ObjectNode stored;
    private int version;
    private boolean away;
    private int requests;
    private Runnable beforeWrites = () -> {};
    private @Nullable InstantSource clock;

    FakeLease() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        // What runs between a read and a write may ask, too.
        server.setExecutor(Thread::startVirtualThread);
        server.start();
        client =
                new KubernetesClientBuilder()
                        .withConfig(
                                new ConfigBuilder(Config.empty())
                                        .withMasterUrl(
                                                "http://127.0.0.1:" + server.getAddress().getPort())
                                        .withRequestRetryBackoffLimit(0)
                                        .build())
                        .build();
    }

    KubernetesClient client() {
        return client;
    }

    /** Whether it is unreachable now. */
    synchronized void away(boolean now) {
        away = now;
    }

    /** From now on it notes when each write was made, in whole seconds of this clock. */
    synchronized void datesWritesBy(InstantSource clock) {
        this.clock = clock;
    }

    /** Runs once, between a client's read and its write. */
    synchronized void beforeTheNextWrite(Runnable what) {
        beforeWrites = what;
    }

    /** How often it was asked for anything. */
    synchronized int requests() {
        return requests;
    }

    /** Somebody has deleted it. */
    synchronized void delete() {
        stored = null;
    }

    synchronized String holder() {
        return spec().path("holderIdentity").asString("");
    }

    synchronized JsonNode spec() {
        return stored == null ? JSON.createObjectNode() : stored.path("spec");
    }

    /** Another replica has written its name into it, or an empty one. */
    synchronized void write(String holder) {
        change(lease -> lease.withObject("/spec").put("holderIdentity", holder));
    }

    /** Somebody else changes it, if it is there. */
    synchronized void change(Consumer<ObjectNode> what) {
        if (stored != null) {
            what.accept(stored);
            store(stored);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        String method = exchange.getRequestMethod();
        byte[] body = exchange.getRequestBody().readAllBytes();
        if (!method.equals("GET")) {
            Runnable before = takeBeforeWrites();
            before.run();
        }
        Object answer = answer(method, body);
        int code = answer instanceof Integer refused ? refused : 200;
        byte[] text =
                (answer instanceof Integer
                                ? "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":%d}"
                                        .formatted(code)
                                : answer.toString())
                        .getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(code, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }

    private synchronized Runnable takeBeforeWrites() {
        Runnable what = beforeWrites;
        beforeWrites = () -> {};
        return what;
    }

    /** A lease, or the code of a refusal. */
    private synchronized Object answer(String method, byte[] body) {
        requests++;
        if (away) {
            return 503;
        }
        return switch (method) {
            case "GET" -> stored == null ? 404 : stored;
            case "POST" -> stored == null ? store((ObjectNode) JSON.readTree(body)) : 409;
            case "PUT" -> put((ObjectNode) JSON.readTree(body));
            default -> 405;
        };
    }

    private Object put(ObjectNode lease) {
        if (stored == null) {
            return 404;
        }
        String read = lease.at("/metadata/resourceVersion").asString("");
        return read.equals(Integer.toString(version)) ? store(lease) : 409;
    }

    private ObjectNode store(ObjectNode lease) {
        version++;
        ObjectNode metadata = (ObjectNode) lease.path("metadata");
        metadata.put("resourceVersion", Integer.toString(version));
        if (clock != null) {
            metadata.putArray("managedFields")
                    .addObject()
                    .put("operation", "Update")
                    .put("time", clock.instant().truncatedTo(ChronoUnit.SECONDS).toString());
        }
        stored = lease;
        return lease;
    }

    @Override
    public void close() {
        client.close();
        server.stop(0);
    }
}
