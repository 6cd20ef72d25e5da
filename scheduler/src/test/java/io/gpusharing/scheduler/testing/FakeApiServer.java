package io.gpusharing.scheduler.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.scheduler.cluster.LeanObjects;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * An API server that answers what a test says. Its watches stay open, and say nothing but what the
 * test tells.
 */
public final class FakeApiServer implements AutoCloseable {

    private final HttpServer server;
    private final Function<Request, Answer> answers;
    private final List<Watch> watches = new CopyOnWriteArrayList<>();

    /**
     * A question.
     *
     * @param uri path and query, as they were sent
     * @param contentType empty if there is none
     */
    public record Request(String method, URI uri, String contentType, String body) {

        /** Its path alone. */
        public String path() {
            return uri.getPath();
        }
    }

    /** What it is answered. */
    public record Answer(int code, String body) {

        /** That it has been done. */
        public static Answer ok(String body) {
            return new Answer(200, body);
        }

        /** All of a kind, as JSON with commas between them. */
        public static Answer list(String items) {
            return ok(
                    "{\"metadata\": {\"resourceVersion\": \"1\"}, \"items\": [%s]}"
                            .formatted(items));
        }

        /** A status instead of an object. */
        public static Answer status(int code, String message) {
            return new Answer(
                    code,
                    "{\"apiVersion\":\"v1\",\"kind\":\"Status\",\"message\":\"%s\",\"code\":%d}"
                            .formatted(message, code));
        }
    }

    private record Watch(URI uri, OutputStream out) {}

    /**
     * Starts it on a free port of the loopback.
     *
     * @param answers what it answers to all but watches; may be asked by several threads at once
     */
    public FakeApiServer(Function<Request, Answer> answers) {
        this.answers = answers;
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

    /** Its address. */
    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** A client of it, as the scheduler has one. */
    public KubernetesClient client() {
        return new KubernetesClientBuilder()
                .withConfig(
                        new ConfigBuilder()
                                .withAutoConfigure(false)
                                .withMasterUrl(url())
                                .withRequestRetryBackoffLimit(0)
                                .build())
                .withKubernetesSerialization(LeanObjects.serialization())
                .build();
    }

    /** The watches that are open, by what was asked for. */
    public List<URI> watches() {
        return watches.stream().map(Watch::uri).toList();
    }

    /** Tells all watches of a kind an event. */
    public void tell(String plural, String event) {
        tell(uri -> uri.getPath().endsWith("/" + plural), event);
    }

    /** Tells an event to those watches that were asked for in this way. */
    public void tell(Predicate<URI> asked, String event) {
        for (Watch watch : watches) {
            if (asked.test(watch.uri())) {
                try {
                    watch.out().write((event + "\n").getBytes(UTF_8));
                    watch.out().flush();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        URI uri = exchange.getRequestURI();
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        if (exchange.getRequestHeaders().containsKey("Upgrade")) {
            // A client that would rather have a web socket asks again without.
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        } else if (String.valueOf(uri.getQuery()).contains("watch=true")) {
            exchange.sendResponseHeaders(200, 0);
            // The head alone, so that the client knows that it watches.
            exchange.getResponseBody().flush();
            watches.add(new Watch(uri, exchange.getResponseBody()));
        } else {
            String type = exchange.getRequestHeaders().getFirst("Content-Type");
            Answer answer =
                    answers.apply(
                            new Request(
                                    exchange.getRequestMethod(),
                                    uri,
                                    type == null ? "" : type,
                                    new String(exchange.getRequestBody().readAllBytes(), UTF_8)));
            byte[] body = answer.body().getBytes(UTF_8);
            exchange.sendResponseHeaders(answer.code(), body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
