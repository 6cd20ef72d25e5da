package io.gpusharing.deviceplugin;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/** {@code /livez}, {@code /readyz} and {@code /metrics}, plain HTTP. */
final class ProbeServer implements AutoCloseable {

    static {
        // Anybody in the cluster may connect; whoever stops in the middle is dropped.
        System.setProperty("sun.net.httpserver.maxReqTime", "2");
        System.setProperty("sun.net.httpserver.maxRspTime", "5");
        System.setProperty("jdk.httpserver.maxConnections", "64");
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /**
     * @param port 0 for any free one
     * @param dead why the process has to be started again; empty if it has not
     * @param unready why nothing is handed out now; empty if it is
     */
    ProbeServer(
            int port,
            Supplier<Optional<String>> dead,
            Supplier<Optional<String>> unready,
            Supplier<String> metrics)
            throws IOException {
        server = HttpServer.create(new InetSocketAddress(port), 16);
        server.setExecutor(threads);
        server.createContext("/livez", exchange -> probe(exchange, dead.get()));
        server.createContext("/readyz", exchange -> probe(exchange, unready.get()));
        server.createContext("/metrics", exchange -> answer(exchange, 200, metrics.get()));
        server.start();
    }

    private static void probe(HttpExchange exchange, Optional<String> problem) throws IOException {
        answer(exchange, problem.isEmpty() ? 200 : 503, problem.orElse("ok") + "\n");
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        try (exchange) {
            byte[] body = text.getBytes(UTF_8);
            exchange.getResponseHeaders()
                    .set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
