package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An API server that dies after the head of each answer. */
@Timeout(30)
class ApiServerConnectionsTest {

    private final CountDownLatch listed = new CountDownLatch(2);
    private final HttpServer server;
    private final KubernetesClient client;

    ApiServerConnectionsTest() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::begin);
        server.start();
        client =
                new KubernetesClientBuilder()
                        .withConfig(
                                new ConfigBuilder()
                                        .withMasterUrl(
                                                "http://127.0.0.1:" + server.getAddress().getPort())
                                        .withRequestTimeout(1_000)
                                        .withRequestRetryBackoffLimit(0)
                                        .build())
                        .withHttpClientFactory(new ApiServerConnections(Duration.ofSeconds(1)))
                        .build();
    }

    private void begin(HttpExchange exchange) throws IOException {
        if (exchange.getRequestURI().getPath().endsWith("/nodes")) {
            listed.countDown();
        }
        exchange.sendResponseHeaders(200, 1_000);
        exchange.getResponseBody().write('{');
        exchange.getResponseBody().flush();
    }

    @AfterEach
    void stop() {
        client.close();
        server.stop(0);
    }

    /** So that a leader is one no more, and the next one is elected. */
    @Test
    void whoWaitsForTheRestOfAnAnswerIsTold() {
        assertThatThrownBy(() -> client.leases().inNamespace("a").withName("b").get())
                .isInstanceOf(KubernetesClientException.class);
    }

    @Test
    void aListIsAskedForAgain() throws InterruptedException {
        try (var nodes =
                new ObjectInformer<>("nodes", client.nodes(), new UnreadableObjects(_ -> {}))) {
            var _ = nodes.start(new ObjectInformer.Handler<>() {});

            assertThat(listed.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }
}
