package io.gpusharing.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.web.Parts;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;

/** The whole service, as the chart starts it beside a kube-scheduler of ours, or beside none. */
class SchedulerApplicationTest {

    private static final List<String> PROPERTIES =
            List.of(
                    "kubernetes.master",
                    "kubernetes.auth.tryKubeConfig",
                    "kubernetes.auth.tryServiceAccount");

    private static final Set<String> asked = ConcurrentHashMap.newKeySet();
    private static FakeApiServer api;
    private static ConfigurableApplicationContext context;

    @BeforeAll
    static void start() {
        api =
                new FakeApiServer(request -> {
                    asked.add(request.path());
                    return Answer.list("");
                });
        System.setProperty(PROPERTIES.get(0), api.url());
        System.setProperty(PROPERTIES.get(1), "false");
        System.setProperty(PROPERTIES.get(2), "false");
        context =
                new SpringApplicationBuilder(SchedulerApplication.class)
                        .run(
                                "--server.port=0",
                                "--gpusharing.scheduler.explanations.port=0",
                                "--management.server.port=0",
                                "--management.server.address=127.0.0.1");
    }

    @AfterAll
    static void end() {
        context.close();
        api.close();
        PROPERTIES.forEach(System::clearProperty);
    }

    @ParameterizedTest
    @CsvSource({"server, /error", "server, /nothing", "management, /error", "management, /nothing"})
    void whereNothingIsThatIsSaid(String port, String path)
            throws IOException, InterruptedException {
        String local = context.getEnvironment().getProperty("local.%s.port".formatted(port));
        URI uri = URI.create("http://127.0.0.1:%s%s".formatted(local, path));

        try (HttpClient http = HttpClient.newHttpClient()) {
            assertThat(
                            http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
                                    .statusCode())
                    .isEqualTo(404);
        }
    }

    @Test
    void itEvictsByALeaseOfItsOwnWhoeverPlacesPods() {
        assertThat(asked)
                .contains(
                        "/apis/coordination.k8s.io/v1/namespaces/gpusharing-system/leases/gpusharing-evicting");
        assertThat(
                        context.getBean(MeterRegistry.class)
                                .get("gpusharing.evicting.leading")
                                .gauge()
                                .value())
                .isEqualTo(1);
        assertThat(context.getBean(Parts.class).health().getStatus()).isEqualTo(Status.UP);
    }
}
