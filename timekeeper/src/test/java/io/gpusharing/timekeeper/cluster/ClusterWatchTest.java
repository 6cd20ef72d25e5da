package io.gpusharing.timekeeper.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

class ClusterWatchTest {

    private final FakeApiServer api = new FakeApiServer();
    private final SteppingClock clock = new SteppingClock(Instant.parse("2026-03-02T10:00:00Z"));
    private final UnreadableObjects unreadable = new UnreadableObjects(object -> {});
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final ClusterView view = new ClusterView();
    private final ClusterWatch watch = watch(Duration.ofMillis(1));
    private final HealthIndicator podsKnown = new ClusterConfiguration().podsKnown(view, watch);

    /** Takes events, and does nothing. */
    private static final class Deaf implements PodEventHandler {

        @Override
        public Optional<String> position() {
            return Optional.empty();
        }

        @Override
        public void onEvent(PodEvent event) {}
    }

    ClusterWatchTest() throws IOException {
        api.answer(
                "/nodes",
                """
                {"apiVersion": "v1", "kind": "NodeList", "metadata": {"resourceVersion": "1"}, "items": []}
                """);
        api.answer(
                "/pods",
                """
                {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": [
                  {"metadata": {"name": "p", "namespace": "team-a", "creationTimestamp": "2026-03-02T10:00:00Z",
                                "uid": "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10"},
                   "spec": {"containers": [{"name": "c"}]}}]}
                """);
    }

    private ClusterWatch watch(Duration retry) {
        return new ClusterWatch(
                api.client(),
                RequestGrammars.of(List.of("vcuda"), List.of()),
                new PodReader(resource -> false),
                new ClusterProperties("gpusharing-system", retry),
                view,
                new PlacedOn(api.client(), view, unreadable, clock),
                new Deaf(),
                List.of(pod -> {
                    throw new IllegalStateException("an observer fails");
                }),
                unreadable,
                metrics,
                Leadership.alone(),
                clock);
    }

    @AfterEach
    void stop() {
        watch.stop();
        api.close();
    }

    private void start() {
        start(watch);
    }

    private void start(ClusterWatch one) {
        one.start();
        await().atMost(Duration.ofSeconds(20)).until(view::listed);
    }

    private Health health() {
        return Objects.requireNonNull(podsKnown.health());
    }

    @Test
    void anApiServerThatSaysNothingForMinutesIsAnAlarm() {
        assertThat(health().getStatus()).as("not listed").isEqualTo(Status.DOWN);
        start();
        clock.pass(Duration.ofMinutes(4));
        assertThat(health().getStatus()).isEqualTo(Status.UP);

        clock.pass(Duration.ofMinutes(2));

        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(health().getDetails().get("reason"))
                .isEqualTo("the API server's watch has said nothing for 360 s");
        assertThat(metrics.get("gpusharing.watch.silent").gauge().value()).isEqualTo(360);
    }

    @Test
    void podsAreReportedAsLongAsTheApiServerSpeaksEachMinute() {
        ClusterWatch once = watch(Duration.ofHours(1));
        assertThat(once.isLive()).as("not begun").isFalse();
        start(once);
        try {
            clock.pass(Duration.ofSeconds(75));
            assertThat(once.isLive()).isTrue();

            clock.pass(Duration.ofSeconds(1));

            assertThat(once.isLive()).isFalse();
        } finally {
            once.stop();
        }
    }

    @Test
    void podsWhoseWatchEndsAgainAndAgainAreNotReported() {
        start();

        await().atMost(Duration.ofSeconds(20)).until(() -> !watch.isLive());
    }

    @Test
    void aPodThatAnObserverFailsOnIsKnownAllTheSame() {
        start();

        assertThat(view.pods()).extracting(PodFacts::name).containsExactly("p");
    }
}
