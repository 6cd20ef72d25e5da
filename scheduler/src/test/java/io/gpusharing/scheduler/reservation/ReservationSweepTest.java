package io.gpusharing.scheduler.reservation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.cluster.LeanObjects;
import io.gpusharing.scheduler.rounds.Rounds;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReservationSweepTest {

    private static final String LIST =
            """
            {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuReservationList", "metadata": {}, "items": [
              {"metadata": {"name": "odd", "resourceVersion": "1"},
               "spec": {"priority": 0, "node": "n", "gpus": [], "until": "2027-01-01T00:00:00Z"}},
              {"metadata": {"name": "late", "resourceVersion": "2"},
               "spec": {"pod": {"namespace": "lab", "name": "p", "uid": "late"}, "priority": 0,
                        "node": "n", "gpus": [], "until": "2026-01-01T00:00:00Z"}}]}
            """;

    private final List<String> deleted = new ArrayList<>();
    private final UnreadableObjects unreadable = new UnreadableObjects(_ -> {});

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            boolean delete = exchange.getRequestMethod().equals("DELETE");
            if (delete) {
                deleted.add(exchange.getRequestURI().getPath().replaceAll(".*/", ""));
            }
            byte[] body = (delete ? "{\"kind\": \"Status\"}" : LIST).getBytes(UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    @Test
    void oneThatCannotBeReadKeepsNoOtherFromBeingDeleted() throws IOException {
        var server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
        try (KubernetesClient client =
                new KubernetesClientBuilder()
                        .withConfig(
                                new ConfigBuilder()
                                        .withAutoConfigure(false)
                                        .withMasterUrl(
                                                "http://127.0.0.1:" + server.getAddress().getPort())
                                        .withRequestRetryBackoffLimit(0)
                                        .build())
                        .withKubernetesSerialization(LeanObjects.serialization())
                        .build()) {
            new ReservationSweep(
                            client,
                            unreadable,
                            new Rounds(new SimpleMeterRegistry()),
                            Clock.fixed(Instant.parse("2026-11-26T12:00:00Z"), ZoneOffset.UTC))
                    .sweep();
        } finally {
            server.stop(0);
        }

        assertThat(deleted).containsExactly("late");
        assertThat(unreadable.present()).extracting(Unreadable::name).containsExactly("odd");
    }
}
