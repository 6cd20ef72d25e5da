package io.gpusharing.timekeeper.usage.intake;

import static io.gpusharing.timekeeper.usage.intake.Reports.NOON;
import static io.gpusharing.timekeeper.usage.intake.Reports.agentOn;
import static io.gpusharing.timekeeper.usage.intake.Reports.sidecarOf;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.timekeeper.usage.intake.Outcome.Accepted;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refusal;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refused;
import io.gpusharing.timekeeper.usage.reporter.Reporter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Refused reports are announced once per change and not once per report. */
class RefusalNoticesTest {

    private static final Refused FELL = new Refused(Refusal.COUNTERS_FELL, "pod 1: it fell");

    private final Logger log = (Logger) LoggerFactory.getLogger(RefusalNotices.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final List<String> events = new CopyOnWriteArrayList<>();
    private HttpServer api;
    private KubernetesClient client;
    private RefusalNotices notices;

    @BeforeEach
    void start() throws IOException {
        lines.start();
        log.setLevel(Level.INFO);
        log.addAppender(lines);
        api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        api.createContext("/", this::take);
        api.start();
        client =
                new KubernetesClientBuilder()
                        .withConfig(
                                new ConfigBuilder(io.fabric8.kubernetes.client.Config.empty())
                                        .withMasterUrl(
                                                "http://127.0.0.1:" + api.getAddress().getPort())
                                        .withRequestRetryBackoffLimit(0)
                                        .build())
                        .build();
        notices = new RefusalNotices(new Events(client, Names.TIMEKEEPER), Runnable::run);
    }

    @AfterEach
    void stop() {
        log.detachAppender(lines);
        log.setLevel(null);
        client.close();
        api.stop(0);
    }

    private void note(Reporter reporter, Outcome outcome, Duration afterNoon) {
        notices.note(reporter, outcome, NOON.plus(afterNoon));
    }

    @Test
    void aRefusedAgentIsReportedOnItsPodAndInTheLogOnce() {
        for (int second = 0; second < 600; second += 10) {
            note(agentOn("n1"), FELL, Duration.ofSeconds(second));
        }
        note(agentOn("n1"), new Accepted(false), Duration.ofMinutes(11));
        note(agentOn("n1"), new Accepted(false), Duration.ofMinutes(12));

        assertThat(events)
                .singleElement()
                .satisfies(event ->
                        assertThat(event)
                                .contains(
                                        "\"reason\":\"UsageReportRefused\"",
                                        "\"name\":\"agent-n1\"",
                                        "\"namespace\":\"gpusharing-system\"",
                                        "it fell",
                                        "begins a new run"));
        assertThat(lines.list)
                .extracting(ILoggingEvent::getMessage)
                .containsExactly("usage reports are refused", "usage reports are taken again");
    }

    @Test
    void aTenantWithAlternatingRefusalsGetsAnEventOnceAnHour() {
        Reporter tenant = sidecarOf(UUID.randomUUID());
        for (int second = 0; second < 3_000; second++) {
            note(tenant, second % 2 == 0 ? FELL : new Accepted(false), Duration.ofSeconds(second));
        }
        assertThat(events).hasSize(1);
        assertThat(lines.list).hasSize(2);

        note(tenant, FELL, Duration.ofMinutes(61));

        assertThat(events).hasSize(2);
    }

    @Test
    void anotherReasonIsAnotherNotice() {
        note(agentOn("n1"), FELL, Duration.ZERO);
        note(agentOn("n1"), new Refused(Refusal.MALFORMED, "no JSON"), Duration.ofSeconds(10));

        assertThat(events).hasSize(2);
        assertThat(events.getLast()).contains("no JSON").doesNotContain("begins a new run");
    }

    @Test
    void theLastReportOfAnEndedPodMakesNoNotice() {
        note(
                sidecarOf(UUID.randomUUID()),
                new Refused(Refusal.POD_NOT_ALIVE, "it has ended"),
                Duration.ZERO);

        assertThat(events).isEmpty();
    }

    private void take(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        events.add(new String(body, StandardCharsets.UTF_8));
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(201, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }
}
