package io.gpusharing.timekeeper.usage.intake;

import static io.gpusharing.timekeeper.usage.intake.Reports.GPU;
import static io.gpusharing.timekeeper.usage.intake.Reports.NOON;
import static io.gpusharing.timekeeper.usage.intake.Reports.agentOn;
import static io.gpusharing.timekeeper.usage.intake.Reports.use;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.timekeeper.usage.MemoryExcessLog;
import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.UsageReport.MemoryExceeded;
import io.gpusharing.timekeeper.usage.UsageReport.Meter;
import io.gpusharing.timekeeper.usage.UsageReport.PodUse;
import io.gpusharing.timekeeper.usage.UsageReport.Unasked;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pods of which a node agent finds something get an Event. */
class AgentFindingsTest {

    private final UUID uid = UUID.randomUUID();
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final List<String> remembered = new CopyOnWriteArrayList<>();
    private volatile String pod = pod("n1", "{}", "");
    private HttpServer api;
    private KubernetesClient client;
    private AgentFindings agentFindings;

    @BeforeEach
    void start() throws IOException {
        api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        api.createContext("/", this::answer);
        api.start();
        String url = "http://127.0.0.1:" + api.getAddress().getPort();
        client =
                new KubernetesClientBuilder()
                        .withConfig(
                                new ConfigBuilder(io.fabric8.kubernetes.client.Config.empty())
                                        .withMasterUrl(url)
                                        .withRequestRetryBackoffLimit(0)
                                        .build())
                        .build();
        agentFindings =
                new AgentFindings(
                        client,
                        new MemoryExcessLog() {
                            @Override
                            public boolean isWanted() {
                                return true;
                            }

                            @Override
                            public void reported(
                                    String node, List<MemoryExceeded> pods, Instant at) {
                                pods.forEach(pod ->
                                        remembered.add(
                                                "%s %s %s".formatted(node, pod.device(), at)));
                            }
                        },
                        Runnable::run);
    }

    @AfterEach
    void stop() {
        client.close();
        api.stop(0);
    }

    @Test
    void theEventStandsOnThePodAndNamesTheGpu() {
        agentFindings.note(report(Duration.ZERO));

        assertThat(events)
                .singleElement()
                .satisfies(event ->
                        assertThat(event)
                                .contains(
                                        "\"reason\":\"GpuUsedWithoutRequest\"",
                                        "\"type\":\"Warning\"",
                                        "\"namespace\":\"team-a\"",
                                        uid.toString(),
                                        GPU));
    }

    @Test
    void itIsSaidOnceAnHour() {
        agentFindings.note(report(Duration.ZERO));
        agentFindings.note(report(Duration.ofMinutes(59)));
        assertThat(events).hasSize(1);

        agentFindings.note(report(Duration.ofMinutes(61)));

        assertThat(events).hasSize(2);
    }

    @Test
    void aPodWithAShareOrAResourceClaimDidAsk() {
        pod = pod("n1", "{\"gpusharing.io/metered\":\"true\"}", "");
        agentFindings.note(report(Duration.ZERO));
        pod = pod("n1", "{}", ",\"resourceClaims\":[{\"name\":\"gpu\"}]");
        agentFindings.note(report(Duration.ofHours(2)));

        assertThat(events).isEmpty();
    }

    @Test
    void aPodWithAShareDidNotAskForAGpuThatOurDevicePluginGaveToOthers() {
        pod = pod("n1", "{\"gpusharing.io/metered\":\"true\"}", "");

        agentFindings.note(report(Duration.ZERO, "GPU-of-others"));

        assertThat(events)
                .singleElement()
                .satisfies(event ->
                        assertThat(event)
                                .contains("It uses GPU-of-others, which it was not given")
                                .doesNotContain(GPU));
    }

    @Test
    void aResourceClaimMayBeForAnyGpu() {
        pod = pod("n1", "{}", ",\"resourceClaims\":[{\"name\":\"gpu\"}]");

        agentFindings.note(report(Duration.ZERO, "GPU-of-others"));

        assertThat(events).isEmpty();
    }

    @Test
    void whoHoldsMoreMemoryThanItWasGivenIsToldHowMuchOnceAnHour() {
        pod = pod("n1", "{\"gpusharing.io/metered\":\"true\"}", "");

        agentFindings.note(exceeding(Duration.ZERO, 9_100, 5_000));
        agentFindings.note(exceeding(Duration.ofMinutes(59), 9_200));

        assertThat(events)
                .singleElement()
                .satisfies(event ->
                        assertThat(event)
                                .contains(
                                        "\"reason\":\"GpuMemoryExceeded\"",
                                        "It holds 9100 MiB of GPU-0 and was given 4096, 5000 MiB of GPU-1 and was given 4096. Others"));
        // With each report, since it may be evicted for it by and by.
        assertThat(remembered)
                .containsExactly(
                        "n1 GPU-0 " + NOON, "n1 GPU-0 " + NOON.plus(Duration.ofMinutes(59)));
        // The other finding is another matter.
        agentFindings.note(report(Duration.ofMinutes(59), "GPU-of-others"));
        agentFindings.note(exceeding(Duration.ofMinutes(61), 9_200));
        assertThat(events).hasSize(3);
    }

    @Test
    void whatAnAgentSaysOfPodsThatAreNotOnItsNodeIsNotRemembered() {
        UsageReport report = exceeding(Duration.ZERO, 9_100).report();

        agentFindings.note(new Delivery(agentOn("n1"), report, report.digest(), Map.of(), NOON));

        assertThat(remembered).isEmpty();
    }

    @Test
    void ofAPodWithoutAShareNobodySaysThatItHoldsMoreThanItWasGiven() {
        agentFindings.note(exceeding(Duration.ZERO, 9_100));

        assertThat(events).isEmpty();
    }

    @Test
    void theSoftwareOfTheNodeNeedNotAsk() {
        pod = pod("n1", "{}", ",\"priorityClassName\":\"system-node-critical\"");

        agentFindings.note(report(Duration.ZERO));

        assertThat(events).isEmpty();
    }

    @Test
    void anAgentIsBelievedOnlyAboutPodsOfItsOwnNode() {
        pod = pod("n2", "{}", "");

        agentFindings.note(report(Duration.ZERO));

        assertThat(events).isEmpty();
    }

    @Test
    void anEventThatFailedIsWrittenWithTheNextReport() {
        String there = pod;
        pod = "";
        agentFindings.note(report(Duration.ZERO));
        assertThat(events).isEmpty();

        pod = there;
        agentFindings.note(report(Duration.ofSeconds(10)));

        assertThat(events).hasSize(1);
    }

    private Delivery report(Duration afterNoon, String... notGiven) {
        UsageReport report =
                new UsageReport(
                        UUID.randomUUID(),
                        1,
                        Meter.Agent,
                        List.of(new PodUse(uid, List.of(use(1, 2)))),
                        List.of(),
                        List.of(new Unasked(uid, "team-a", "miner", List.of(notGiven))),
                        List.of(),
                        null);
        return delivery(report, afterNoon);
    }

    private Delivery exceeding(Duration afterNoon, long... mebibytes) {
        var report =
                new UsageReport(
                        UUID.randomUUID(),
                        1,
                        Meter.Agent,
                        List.of(new PodUse(uid, List.of(use(1, 2)))),
                        List.of(),
                        List.of(),
                        IntStream.range(0, mebibytes.length)
                                .mapToObj(i ->
                                        new MemoryExceeded(
                                                uid,
                                                "team-a",
                                                "miner",
                                                "GPU-" + i,
                                                mebibytes[i] << 20,
                                                4_096L << 20))
                                .toList(),
                        null);
        return delivery(report, afterNoon);
    }

    /** The pod is on the agent's node. */
    private Delivery delivery(UsageReport report, Duration afterNoon) {
        return new Delivery(
                agentOn("n1"),
                report,
                report.digest(),
                Map.of(uid, Reports.pod(uid)),
                NOON.plus(afterNoon));
    }

    private String pod(String node, String labels, String more) {
        return """
        {"apiVersion":"v1","kind":"Pod",
         "metadata":{"name":"miner","namespace":"team-a","uid":"%s","labels":%s},
         "spec":{"nodeName":"%s","containers":[{"name":"cuda"}]%s}}
        """
                .formatted(uid, labels, node, more);
    }

    private void answer(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        boolean asked = exchange.getRequestMethod().equals("GET");
        if (!asked) {
            events.add(body);
        }
        byte[] answer = (asked ? pod : body).getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(answer.length == 0 ? 500 : 200, answer.length);
        exchange.getResponseBody().write(answer);
        exchange.close();
    }
}
