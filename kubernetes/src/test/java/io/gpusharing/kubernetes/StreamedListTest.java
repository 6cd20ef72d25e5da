package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;

@Timeout(30)
class StreamedListTest {

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final List<String> shown = new ArrayList<>();
    private final HttpServer server;
    private final KubernetesClient client;
    private Answer answer = (exchange, body) -> {};

    /** What the API server says. */
    private interface Answer {
        void write(HttpExchange exchange, OutputStream body)
                throws IOException, InterruptedException;
    }

    StreamedListTest() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        client =
                new KubernetesClientBuilder()
                        .withConfig(
                                new ConfigBuilder()
                                        .withMasterUrl(
                                                "http://127.0.0.1:" + server.getAddress().getPort())
                                        .withRequestTimeout(1_000)
                                        .withRequestRetryBackoffLimit(0)
                                        .build())
                        .withKubernetesSerialization(ApiServerJson.serialization())
                        .build();
    }

    @BeforeEach
    void start() {
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext(
                "/",
                exchange -> {
                    asked.add(exchange.getRequestURI().toString());
                    try (exchange;
                            OutputStream body = exchange.getResponseBody()) {
                        answer.write(exchange, body);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
        server.start();
    }

    @AfterEach
    void stop() {
        client.close();
        server.stop(0);
    }

    @Test
    void everyObjectOfEveryPageIsShown() {
        answer =
                (exchange, body) -> {
                    exchange.sendResponseHeaders(200, 0);
                    boolean second = exchange.getRequestURI().getQuery().contains("continue=A&B");
                    write(
                            body,
                            second
                                    ? "{'items': [%s], 'metadata': {'resourceVersion': '7'}}"
                                            .formatted(pod("last"))
                                    : "{'kind': 'PodList', 'metadata': {'resourceVersion': '6', 'continue': 'A&B'}, 'items': [%s, %s], 'odd': [{}]}"
                                            .formatted(pod("first"), pod("second")));
                };
        String position =
                StreamedList.of(client, Pod.class)
                        .withLabels("a!=b")
                        .withFields("spec.nodeName=n")
                        .forEach(this::show);
        assertThat(shown).containsExactly("first", "second", "last");
        assertThat(position).isEqualTo("7");
        assertThat(asked)
                .containsExactly(
                        "/api/v1/pods?labelSelector=a%21%3Db&fieldSelector=spec.nodeName%3Dn&limit=250",
                        "/api/v1/pods?labelSelector=a%21%3Db&fieldSelector=spec.nodeName%3Dn&limit=250&continue=A%26B");
    }

    @Test
    void anObjectIsShownBeforeTheNextHasCome() {
        var seen = new CountDownLatch(1);
        answer =
                (exchange, body) -> {
                    exchange.sendResponseHeaders(200, 0);
                    write(body, "{'items': [" + pod("first"));
                    body.flush();
                    if (seen.await(20, TimeUnit.SECONDS)) {
                        write(
                                body,
                                "," + pod("second") + "], 'metadata': {'resourceVersion': '1'}}");
                    }
                };
        StreamedList.of(client, Pod.class)
                .forEach(pod -> {
                    show(pod);
                    seen.countDown();
                });
        assertThat(shown).containsExactly("first", "second");
    }

    @Test
    void aKindOfAGroupHasItsOwnPath() {
        answer =
                (exchange, body) -> {
                    exchange.sendResponseHeaders(200, 0);
                    write(body, "{'items': [], 'metadata': {'resourceVersion': '1'}}");
                };
        StreamedList.of(client, PodDisruptionBudget.class).forEach(it -> {});
        assertThat(asked).containsExactly("/apis/policy/v1/poddisruptionbudgets?limit=250");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "[]", "{}", "{'kind': 'Status'}", "{'items': null}", "{'items': []}"})
    void whatIsNoListIsNotAnEmptyOne(String other) {
        answer =
                (exchange, body) -> {
                    exchange.sendResponseHeaders(200, 0);
                    write(body, other);
                };
        assertThatThrownBy(this::list).isInstanceOf(KubernetesClientException.class);
    }

    @Test
    void anObjectOfAnotherShapeIsNoOutage() {
        answer =
                (exchange, body) -> {
                    exchange.sendResponseHeaders(200, 0);
                    write(body, "{'items': [{'metadata': []}], 'metadata': {}}");
                };
        assertThatThrownBy(this::list).isInstanceOf(JacksonException.class);
    }

    @Test
    void aRefusalHasItsCode() {
        answer =
                (exchange, body) -> {
                    exchange.sendResponseHeaders(403, 0);
                    write(body, "{'kind': 'Status', 'message': 'pods is forbidden'}");
                };
        assertThatThrownBy(this::list)
                .isInstanceOfSatisfying(
                        KubernetesClientException.class,
                        it -> assertThat(it.getCode()).isEqualTo(403))
                .hasMessage("Cannot list pods: 403 pods is forbidden");
    }

    @Test
    void aRefusalOfWhoeverIsBetweenIsOneToo() {
        answer =
                (exchange, body) -> {
                    exchange.sendResponseHeaders(502, 0);
                    write(body, "<html>");
                };
        assertThatThrownBy(this::list)
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("502");
    }

    @Test
    void aListThatEndsEarlyIsNone() {
        answer =
                (exchange, body) -> {
                    exchange.sendResponseHeaders(200, 0);
                    write(body, "{'items': [" + pod("first"));
                };
        assertThatThrownBy(this::list).isInstanceOf(KubernetesClientException.class);
    }

    @Test
    void aListThatStallsIsGivenUp() {
        var over = new CountDownLatch(1);
        answer =
                (exchange, body) -> {
                    exchange.sendResponseHeaders(200, 0);
                    write(body, "{'items': [" + pod("first"));
                    body.flush();
                    over.await(20, TimeUnit.SECONDS);
                };
        assertThatThrownBy(this::list)
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("nothing came for PT1S");
        over.countDown();
    }

    private void list() {
        StreamedList.of(client, Pod.class).forEach(this::show);
    }

    private void show(Pod pod) {
        shown.add(pod.getMetadata().getName());
    }

    private static String pod(String name) {
        return "{'metadata': {'name': '%s'}}".formatted(name);
    }

    private static void write(OutputStream body, String json) throws IOException {
        body.write(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    }
}
