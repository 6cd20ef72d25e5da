package io.gpusharing.scheduler.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.GpuAsk;
import io.gpusharing.placement.PodPlacement.ContainerAsk;
import io.gpusharing.placement.ProviderAsk;
import io.gpusharing.placement.Strategy;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.Filtered;
import io.gpusharing.scheduler.gpus.Filtered.Chosen;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.preemption.DisruptionBudget;
import io.gpusharing.scheduler.preemption.RunningPods;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A cluster in which there is one of each kind that cannot be read, before another that can. */
class ClusterWatchTest {

    private static final Instant NOON = Instant.parse("2026-11-26T12:00:00Z");

    private static final String NODES =
            """
            {"metadata": {"name": "odd"}, "status": {"gpus": [{"uuid": "GPU-odd", "mode": "Idle"}]}},
            {"metadata": {"name": "a"}, "status": {"gpus": [
              {"uuid": "GPU-a", "memoryMiB": 16384, "health": "Healthy", "mode": "Idle"}]}},
            {"metadata": {"name": "b"}, "status": {"gpus": [
              {"uuid": "GPU-b", "memoryMiB": 16384, "health": "Healthy", "mode": "Idle"}]}}
            """;

    private static final String PODS =
            """
            {"metadata": {"name": "odd", "namespace": "lab", "uid": "u-odd", "deletionTimestamp": "soon"},
             "spec": {"nodeName": "a", "containers": [{"name": "c",
               "resources": {"limits": {"tencent.com/vcuda-core": "1", "tencent.com/vcuda-memory": "1"}}}]},
             "status": {"phase": "Running"}},
            {"metadata": {"name": "endless", "namespace": "lab", "uid": "u-endless",
               "annotations": {"gpusharing.io/placement": "u-endless;c=GPU-b"}},
             "spec": {"nodeName": "b", "containers": [{"name": "c", "resources": {
               "requests": {"cpu": "9e999"},
               "limits": {"cpu": "9e999", "tencent.com/vcuda-core": "40", "tencent.com/vcuda-memory": "1"}}}]},
             "status": {"startTime": "10000-01-01T00:59:59Z"}}
            """;

    private static final String RESERVATIONS =
            """
            {"metadata": {"name": "odd"},
             "spec": {"priority": 0, "node": "b", "until": "2027-01-01T00:00:00Z"}},
            {"metadata": {"name": "u-waiter"},
             "spec": {"pod": {"namespace": "lab", "name": "w", "uid": "u-waiter"}, "priority": 7, "node": "b",
               "gpus": [{"uuid": "GPU-b", "core": 40, "memoryMiB": 256, "whole": false}],
               "until": "10000-01-01T00:59:59Z"}}
            """;

    private static final String BUDGETS =
            """
            {"metadata": {"name": "odd", "namespace": "lab"}},
            {"metadata": {"name": "usual", "namespace": "team-a"},
             "spec": {"selector": {"matchLabels": {"guarded": "yes"}}}, "status": {"disruptionsAllowed": 1}}
            """;

    private final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));
    private final RunningPods running = new RunningPods();
    private final UnreadableObjects unreadable = new UnreadableObjects(_ -> {});
    private HttpServer server;
    private KubernetesClient client;
    private DisruptionBudgetWatch budgets;
    private ClusterWatch watch;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", ClusterWatchTest::answer);
        server.start();
        client =
                new KubernetesClientBuilder()
                        .withConfig(
                                new ConfigBuilder()
                                        .withAutoConfigure(false)
                                        .withMasterUrl(
                                                "http://127.0.0.1:" + server.getAddress().getPort())
                                        .build())
                        .withKubernetesSerialization(LeanObjects.serialization())
                        .build();
        budgets = new DisruptionBudgetWatch(client, unreadable);
        watch =
                new ClusterWatch(
                        client,
                        new GpuPodReader(
                                new ProviderAsk(Map.of()), Strategy.BestFit, PodSharing.NONE),
                        new RunningPodReader(""),
                        gpus,
                        running,
                        budgets,
                        new SchedulerName(""),
                        unreadable,
                        Clock.fixed(NOON, ZoneOffset.UTC));
        watch.start();
        for (int i = 0; i < 500 && !(watch.isKnown() && budgets.hasSynced()); i++) {
            Thread.sleep(20);
        }
        assertThat(watch.isKnown()).isTrue();
    }

    @AfterEach
    void stop() {
        watch.stop();
        client.close();
        server.stop(0);
    }

    private static void answer(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        if (exchange.getRequestHeaders().containsKey("Upgrade")) {
            // A client that would rather have a web socket asks again without.
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
            return;
        }
        if (String.valueOf(exchange.getRequestURI().getQuery()).contains("watch=true")) {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().flush();
            return; // As long as the test takes nothing happens.
        }
        String path = exchange.getRequestURI().getPath();
        String items =
                switch (path.substring(path.lastIndexOf('/') + 1)) {
                    case "gpunodes" -> NODES;
                    case "pods" -> PODS;
                    case "gpureservations" -> RESERVATIONS;
                    default -> BUDGETS;
                };
        byte[] body =
                "{\"metadata\": {\"resourceVersion\": \"1\"}, \"items\": [%s]}"
                        .formatted(items)
                        .getBytes(UTF_8);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private Filtered filter(int cores, String node) {
        var ask = new GpuAsk(1, cores, 256, false);
        return gpus.filter(
                new GpuPod(
                        node + cores,
                        "team-a",
                        "p",
                        List.of(new ContainerAsk("c", Kind.App, ask, Set.of()))),
                List.of(node),
                NOON);
    }

    @Test
    void whatCannotBeReadIsCountedAndEndsNothing() {
        assertThat(budgets.now()).hasSize(2);

        assertThat(unreadable.present())
                .extracting(Unreadable::kind)
                .containsExactlyInAnyOrder(
                        "GpuNode", "Pod", "GpuReservation", "PodDisruptionBudget");
        assertThat(unreadable.present()).extracting(Unreadable::name).containsOnly("odd");
    }

    @Test
    void aNodeThatCannotBeReadOffersNothing() {
        assertThat(filter(1, "odd")).isNotInstanceOf(Chosen.class);
    }

    @Test
    void onANodeWithAPodThatCannotBeReadNobodyIsPlacedAndNobodyGoes() {
        assertThat(filter(1, "a")).isNotInstanceOf(Chosen.class);
        assertThat(gpus.heldBeside("u", null, 1_000, List.of("a"), NOON))
                .hasEntrySatisfying(
                        "a", gpusOfIt -> assertThat(gpusOfIt.held()).containsOnlyKeys("u-odd"));
    }

    @Test
    void allOthersAreKnownHoweverOdd() {
        assertThat(filter(20, "b")).as("beside 40 held and 40 kept").isInstanceOf(Chosen.class);
        assertThat(filter(21, "b")).isNotInstanceOf(Chosen.class);
    }

    @Test
    void aDisruptionBudgetThatCannotBeReadGuardsItsNamespace() {
        DisruptionBudget odd =
                budgets.now().stream()
                        .filter(it -> it.namespace().equals("lab"))
                        .findFirst()
                        .orElseThrow();

        assertThat(odd.allowed()).isZero();
        assertThat(odd.selects().test(Map.of("app", "any"))).isTrue();
    }
}
