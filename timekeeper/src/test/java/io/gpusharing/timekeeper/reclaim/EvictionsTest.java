package io.gpusharing.timekeeper.reclaim;

import static io.gpusharing.timekeeper.reclaim.Cluster.NOON;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.timekeeper.reclaim.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.Decision.Victim;
import io.gpusharing.timekeeper.reclaim.Evictions.Answer;
import io.gpusharing.timekeeper.reclaim.Receipts.Result;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is asked of the API server, in which order, and what its answers mean. */
class EvictionsTest {

    /** An API server that knows evictions and Events. */
    private static final class FakeApiServer implements AutoCloseable {

        private final HttpServer server;
        final List<String> evictions = new CopyOnWriteArrayList<>();
        final List<String> events = new CopyOnWriteArrayList<>();
        final Map<String, Integer> refused = new ConcurrentHashMap<>();

        FakeApiServer() throws IOException {
            server =
                    HttpServer.create(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", this::answer);
            server.start();
        }

        private void answer(HttpExchange exchange) throws IOException {
            String path = exchange.getRequestURI().getPath();
            String body =
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            int code = 201;
            String text = body;
            if (path.endsWith("/eviction")) {
                evictions.add(body);
                String pod = path.replaceAll(".*/pods/(.*)/eviction", "$1");
                code = refused.getOrDefault(pod, 201);
                text =
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":%d,\"message\":\"no\"}"
                                .formatted(code);
            } else {
                events.add(body);
            }
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(code, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        }

        String url() {
            return "http://127.0.0.1:" + server.getAddress().getPort();
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }

    private FakeApiServer api;
    private KubernetesClient client;
    private Evictions evictions;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        client =
                new KubernetesClientBuilder()
                        .withConfig(
                                new ConfigBuilder(io.fabric8.kubernetes.client.Config.empty())
                                        .withMasterUrl(api.url())
                                        .build())
                        .build();
        evictions = new Evictions(client, Duration.ofSeconds(60));
    }

    @AfterEach
    void stop() {
        client.close();
        api.close();
    }

    private static Evict plan(Victim... victims) {
        Waiter waiter = Cluster.pod("team-b", "w").waiting(Duration.ofMinutes(1));
        return new Evict(waiter, "n1", List.of(victims), List.of());
    }

    private static Victim victim(String name, Duration grace) {
        return new Victim(
                new PodRef("uid-" + name, "team-a", name),
                "n1",
                "team-a",
                name,
                "budget team-a is over",
                0,
                grace);
    }

    private static final Duration SHORT = Duration.ofSeconds(30);

    @Test
    void everyVictimIsTriedWithoutEffectBeforeAnyoneGoes() {
        Map<String, Answer> answers =
                evictions.carryOut(plan(victim("a", SHORT), victim("b", SHORT)), NOON);

        assertThat(answers.values()).extracting(Answer::result).containsOnly(Result.Evicted);
        assertThat(api.evictions).hasSize(4);
        assertThat(api.evictions.subList(0, 2)).allMatch(it -> it.contains("\"dryRun\":[\"All\"]"));
        assertThat(api.evictions.subList(2, 4)).noneMatch(it -> it.contains("dryRun"));
    }

    @Test
    void nobodyGoesWhenADisruptionBudgetHoldsOneOfThem() {
        api.refused.put("b", 429);

        Map<String, Answer> answers =
                evictions.carryOut(plan(victim("a", SHORT), victim("b", SHORT)), NOON);

        assertThat(answers.values()).extracting(Answer::result).containsOnly(Result.Refused);
        assertThat(api.evictions).hasSize(2).allMatch(it -> it.contains("dryRun"));
        assertThat(api.events).isEmpty();
    }

    @Test
    void aPodThatIsGoneAlreadyIsNoFailure() {
        api.refused.put("a", 404);

        assertThat(evictions.carryOut(plan(victim("a", SHORT)), NOON))
                .containsEntry("uid-a", new Answer(Result.Gone, "it was gone already"));
        assertThat(api.events).isEmpty();
    }

    @Test
    void onlyTheVeryPodThatWasChosenGoes() {
        evictions.carryOut(plan(victim("a", SHORT)), NOON);

        assertThat(api.evictions).allMatch(it -> it.contains("\"uid\":\"uid-a\""));
    }

    @Test
    void aLongGraceIsCappedAndAShortOneIsLeftAlone() {
        evictions.carryOut(plan(victim("a", Duration.ofHours(1)), victim("b", SHORT)), NOON);

        assertThat(api.evictions.getFirst()).contains("\"gracePeriodSeconds\":60");
        assertThat(api.evictions.getLast()).doesNotContain("gracePeriodSeconds");
    }

    @Test
    void victimAndWaiterAreTold() {
        evictions.carryOut(plan(victim("a", SHORT)), NOON);

        assertThat(api.events)
                .satisfiesExactly(
                        it ->
                                assertThat(it)
                                        .contains("\"reason\":\"Reclaimed\"")
                                        .contains("team-b/w")
                                        .contains("budget team-a is over"),
                        it -> assertThat(it).contains("\"reason\":\"RoomMade\""));
    }
}
