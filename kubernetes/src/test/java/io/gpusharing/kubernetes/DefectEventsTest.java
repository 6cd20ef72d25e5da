package io.gpusharing.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.testing.SteppingClock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class DefectEventsTest {

    private final HttpServer server =
            HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    private final KubernetesClient client;
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final SteppingClock clock = new SteppingClock(Instant.parse("2026-03-02T10:00:00Z"));
    private final Rounds rounds =
            new Rounds(
                    "reclaim",
                    Duration.ofSeconds(1),
                    LoggerFactory.getLogger(DefectEventsTest.class),
                    clock);

    /** Of the API server, when it is asked for our own pod. */
    private volatile int code = 200;

    DefectEventsTest() throws IOException {
        server.createContext("/api/v1/namespaces/gpusharing-system/pods/timekeeper-0", this::pod);
        server.createContext("/api/v1/namespaces/gpusharing-system/events", this::event);
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
        new DefectEvents(
                        client,
                        "gpusharing-timekeeper",
                        "gpusharing-system",
                        "timekeeper-0",
                        Runnable::run,
                        clock)
                .follow(rounds);
    }

    @AfterEach
    void stop() {
        client.close();
        server.stop(0);
    }

    private void pod(HttpExchange exchange) throws IOException {
        answer(
                exchange,
                code,
                """
                {"metadata": {"name": "timekeeper-0", "namespace": "gpusharing-system", "uid": "own"}}
                """);
    }

    private void event(HttpExchange exchange) throws IOException {
        String event = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
        events.add(event);
        answer(exchange, 201, event);
    }

    private static void answer(HttpExchange exchange, int code, String text) throws IOException {
        byte[] body = text.getBytes(UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(code, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private void twoRoundsThrow() {
        rounds.failed(new IllegalArgumentException("not a number"));
        rounds.failed(new IllegalArgumentException("not a number"));
    }

    @Test
    void anEventAboutOurOwnPodSaysWhichPartFails() {
        twoRoundsThrow();

        assertThat(events)
                .singleElement()
                .asString()
                .contains("\"reason\":\"PartFailing\"", "\"uid\":\"own\"", "Two rounds of reclaim");
    }

    @Test
    void whereWeAreNoPodThereIsNoEvent() {
        code = 404;

        twoRoundsThrow();

        assertThat(events).isEmpty();
    }

    @Test
    void anApiServerThatTakesNoEventDisturbsNobody() {
        code = 403;

        twoRoundsThrow();

        assertThat(rounds.failing()).isTrue();
    }
}
