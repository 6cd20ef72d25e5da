package io.gpusharing.sidecar.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** {@code /metrics}, {@code /livez} and {@code /readyz} of the node agent, plain HTTP. */
public final class MetricsServer implements AutoCloseable {

    private static final int THREADS = 4;

    static {
        // Anybody in the cluster may connect. A client that stops in the middle of a request, or
        // does not read the answer, is dropped after so many seconds; the default is to wait.
        System.setProperty("sun.net.httpserver.maxReqTime", "2");
        System.setProperty("sun.net.httpserver.maxRspTime", "5");
        System.setProperty("jdk.httpserver.maxConnections", "64");
    }

    private final HttpServer server;
    private final ExecutorService threads =
            Executors.newFixedThreadPool(
                    THREADS, Thread.ofPlatform().name("metrics-", 0).daemon().factory());

    /**
     * Listens on all addresses.
     *
     * @param port 0 for any free one
     * @param page the text of {@code /metrics}
     * @param ready whether the meter ticks
     */
    public MetricsServer(int port, Supplier<String> page, BooleanSupplier ready)
            throws IOException {
        server = HttpServer.create(new InetSocketAddress(port), 16);
        // The default is one thread, and then one slow client keeps kubelet's probes waiting.
        server.setExecutor(threads);
        server.createContext(
                "/metrics",
                exchange ->
                        answer(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", page));
        server.createContext("/livez", exchange -> answer(exchange, 200, "text/plain", () -> "ok"));
        server.createContext(
                "/readyz",
                exchange -> {
                    boolean isReady = ready.getAsBoolean();
                    answer(
                            exchange,
                            isReady ? 200 : 503,
                            "text/plain",
                            () -> isReady ? "ok" : "NVML does not answer");
                });
        server.start();
    }

    private static void answer(
            HttpExchange exchange, int status, String type, Supplier<String> text)
            throws IOException {
        try (exchange) {
            byte[] body = text.get().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", type);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    /** The port it listens on. */
    public int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
