package io.gpusharing.web;

import static io.gpusharing.kubernetes.ApiServerAccess.watching;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.ReviewingApiServer;
import io.gpusharing.testing.SteppingClock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/** A service whose ServiceAccount was deleted and made anew. */
class ApiServerAccessTaskTest {

    private final SteppingClock clock = new SteppingClock(Instant.parse("2026-03-02T10:00:00Z"));
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final ReviewingApiServer api = new ReviewingApiServer();
    private final KubernetesClient client = api.client("void");

    ApiServerAccessTaskTest() throws IOException {}

    @AfterEach
    void stop() {
        client.close();
        api.close();
    }

    private ApiServerAccessTask keptInServiceFor(Duration time) {
        api.knows("next");
        return new ApiServerAccessTask(client, List.of(watching("", "pods")), time, metrics, clock);
    }

    private static void refusedFor(
            ApiServerAccessTask task, SteppingClock clock, Duration duration) {
        var _ = task.work(clock.instant());
        clock.pass(duration);
        var _ = task.work(clock.instant());
    }

    @Test
    void isUnreadyWithinAMinuteAndSaysTheWayOut() {
        ApiServerAccessTask task = keptInServiceFor(Duration.ZERO);

        refusedFor(task, clock, Duration.ofSeconds(45));

        Health health = task.health();
        assertThat(health.getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
        assertThat(String.valueOf(health.getDetails().get("refused")))
                .contains("401", "delete this pod");
        assertThat(metrics.get("gpusharing.apiserver.refused").gauge().value()).isEqualTo(45);
    }

    /** As the webhook: were all of its replicas unready, no pod would be admitted. */
    @Test
    void staysInServiceForAsLongAsWhatItKnowsIsGoodEnough() {
        ApiServerAccessTask task = keptInServiceFor(Duration.ofMinutes(15));

        refusedFor(task, clock, Duration.ofMinutes(14));
        assertThat(task.health().getStatus()).isEqualTo(Status.UP);
        assertThat(task.health().getDetails()).containsKey("refused");

        clock.pass(Duration.ofMinutes(1));
        assertThat(task.health().getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
    }

    @Test
    void isReadyAgainWithTheNextToken() {
        ApiServerAccessTask task = keptInServiceFor(Duration.ZERO);
        refusedFor(task, clock, Duration.ofMinutes(5));

        api.knows("");
        var _ = task.work(clock.instant());

        assertThat(task.health().getStatus()).isEqualTo(Status.UP);
        assertThat(metrics.get("gpusharing.apiserver.refused").gauge().value()).isZero();
    }
}
