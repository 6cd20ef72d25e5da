package io.gpusharing.kubernetes;

import static io.gpusharing.kubernetes.ApiServerAccess.watching;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.testing.SteppingClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** A service that may watch pods and nodes, and looks every fifteen seconds. */
class ApiServerAccessTest {

    private final Logger log = (Logger) LoggerFactory.getLogger(ApiServerAccess.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final SteppingClock clock = new SteppingClock(Instant.parse("2026-03-02T10:00:00Z"));
    private final ReviewingApiServer api = new ReviewingApiServer();
    private final KubernetesClient client = api.client("ours");
    private final ApiServerAccess access = access(client);

    ApiServerAccessTest() throws IOException {}

    private ApiServerAccess access(KubernetesClient of) {
        return new ApiServerAccess(of, List.of(watching("", "pods"), watching("", "nodes")), clock);
    }

    @BeforeEach
    void listen() {
        lines.start();
        log.addAppender(lines);
    }

    @AfterEach
    void stop() {
        log.detachAppender(lines);
        client.close();
        api.close();
    }

    private void looks(int times) {
        for (int i = 0; i < times; i++) {
            access.look();
            clock.pass(Duration.ofSeconds(15));
        }
    }

    @Test
    void whoIsKnownAndMayWhatItNeedsIsNotRefused() {
        looks(5);

        assertThat(access.refusal()).isEmpty();
        assertThat(access.refusedFor()).isZero();
    }

    @Test
    void aTokenThatIsNotKnownIsSaidOnceWithinAMinuteAndSoIsItsEnd() {
        api.knows("of the account made anew");
        looks(3);
        assertThat(access.refusal()).hasValueSatisfying(it -> assertThat(it).contains("401"));
        looks(3);
        assertThat(access.refusedFor()).isEqualTo(Duration.ofSeconds(90));

        api.knows("ours");
        looks(1);

        assertThat(access.refusal()).isEmpty();
        assertThat(lines.list)
                .extracting(ILoggingEvent::getMessage)
                .containsExactly(
                        "the API server refuses this service",
                        "the API server lets this service work again");
        assertThat(lines.list.getFirst().getKeyValuePairs().toString()).contains("delete this pod");
    }

    @Test
    void aRightThatIsMissingIsNamed() {
        api.denies("nodes");

        looks(4);

        assertThat(access.refusal())
                .hasValueSatisfying(it ->
                        assertThat(it).contains("403", "watch nodes").doesNotContain("watch pods"));
    }

    @Test
    void anApiServerThatIsAwayRefusesNobody() {
        api.answersAll(503);

        looks(10);

        assertThat(access.refusal()).isEmpty();
    }

    /** One that ends or starts may not know accounts for a moment. */
    @Test
    void aShortRefusalDoesNotCountAnyMoreOnceTheApiServerWasAway() {
        api.answersAll(401);
        looks(1);
        api.answersAll(503);
        looks(20);
        api.answersAll(401);
        looks(1);

        assertThat(access.refusal()).isEmpty();
    }

    @Test
    void whoMayNotAskWhatItMayIsKnown() {
        api.answersAll(403);

        looks(10);

        assertThat(access.refusal()).isEmpty();
    }

    /** As the kubelet writes it: the client is configured as each of the services does. */
    @Test
    void theNextTokenIsReadFromTheFileAtOnce(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("token"), "void");
        api.knows("next");
        System.setProperty("kubernetes.master", api.url());
        System.setProperty("kubernetes.auth.tryKubeConfig", "false");
        System.setProperty("kubernetes.auth.serviceAccount.token", file.toString());
        try (KubernetesClient own =
                new KubernetesClientBuilder()
                        .withConfig(new ConfigBuilder().withRequestTimeout(5_000).build())
                        .withHttpClientFactory(new ApiServerConnections())
                        .build()) {
            ApiServerAccess ours = access(own);
            ours.look();
            clock.pass(Duration.ofSeconds(1));
            assertThat(ours.refusedFor()).isPositive();

            Files.writeString(file, "next");
            ours.look();

            assertThat(ours.refusedFor()).isZero();
        } finally {
            System.clearProperty("kubernetes.master");
            System.clearProperty("kubernetes.auth.tryKubeConfig");
            System.clearProperty("kubernetes.auth.serviceAccount.token");
        }
    }
}
