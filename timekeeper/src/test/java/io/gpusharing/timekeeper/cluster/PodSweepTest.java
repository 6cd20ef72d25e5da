package io.gpusharing.timekeeper.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PodSweepTest {

    private final SteppingClock clock = new SteppingClock(Instant.parse("2026-03-02T10:00:00Z"));
    private final UnreadableObjects unreadable = new UnreadableObjects(object -> {});
    private final ClusterView view = new ClusterView();
    private final Found found = new Found();
    private FakeApiServer api;
    private PodSweep sweep;

    /** Remembers what a sweep found. */
    private final class Found implements PodEventHandler {

        Duration takes = Duration.ZERO;
        final List<List<PodFacts>> sweeps = new ArrayList<>();
        final List<Set<UUID>> unread = new ArrayList<>();

        @Override
        public Optional<String> position() {
            return Optional.empty();
        }

        @Override
        public void onEvent(PodEvent event) {
            assertThat(event).isInstanceOf(PodEvent.Resync.class);
            clock.pass(takes);
            sweeps.add(((PodEvent.Resync) event).pods());
            unread.add(((PodEvent.Resync) event).unread());
        }
    }

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        api.answer(
                "/pods",
                """
                {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": [
                  %s, %s, %s]}
                """
                        .formatted(
                                pod(
                                        "old",
                                        "\"nodeName\": \"n1\",",
                                        "\"tencent.com/vcuda-core\": \"100\""),
                                pod("waiting", "", "\"tencent.com/vcuda-core\": \"100\""),
                                pod("plain", "\"nodeName\": \"n1\",", "\"cpu\": \"1\"")));
        var grammars = new RequestGrammars(List.of(new VcudaGrammar()));
        sweep =
                new PodSweep(
                        api.client(),
                        grammars,
                        new PodReader(grammars::reads),
                        view,
                        found,
                        new SweepProperties(Duration.ofMinutes(15)),
                        unreadable,
                        Leadership.alone(),
                        clock);
    }

    private static String pod(String name, String node, String limits) {
        return """
        {"metadata": {"name": "%s", "namespace": "team-a", "uid": "%s",
                      "creationTimestamp": "2026-03-01T00:00:00Z"},
         "spec": {%s "containers": [{"name": "cuda", "resources": {"limits": {%s}}}]},
         "status": {}}
        """
                .formatted(name, uid(name), node, limits);
    }

    private static UUID uid(String name) {
        return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
    }

    @AfterEach
    void stop() {
        sweep.stop();
        api.close();
    }

    @Test
    void findsBoundPodsThatAskForGpusAndDoNotCarryOurLabel() {
        view.replacePods(List.of(), Set.of());

        sweep.work(clock.instant());

        assertThat(api.to("/pods"))
                .singleElement()
                .satisfies(it ->
                        assertThat(it.query())
                                .contains("labelSelector=gpusharing.io/metered!=true")
                                .contains("limit=250"));
        assertThat(found.sweeps.getFirst()).extracting(PodFacts::name).containsExactly("old");
    }

    @Test
    void sweepsPeriodicallyAndNotBeforeTheWatchedPodsAreListed() {
        Instant now = clock.instant();

        assertThat(sweep.work(now)).isEqualTo(now.plusSeconds(10));
        assertThat(found.sweeps).isEmpty();

        view.replacePods(List.of(), Set.of());
        assertThat(sweep.work(now)).isEqualTo(now.plus(Duration.ofMinutes(15)));
        assertThat(found.sweeps).hasSize(1);
    }

    /** A cluster may hold gigabytes of pods. */
    @Test
    void aLongSweepIsFollowedByALongerRest() {
        Instant now = clock.instant();
        view.replacePods(List.of(), Set.of());
        found.takes = Duration.ofMinutes(5);

        assertThat(sweep.work(now)).isEqualTo(now.plus(Duration.ofMinutes(25)));
    }

    @Test
    void aPodThatCannotBeReadEndsNoSweep() {
        view.replacePods(List.of(), Set.of());
        String bound = "\"nodeName\": \"n1\",";
        api.answer(
                "/pods",
                """
                {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": [
                  %s, %s, %s]}
                """
                        .formatted(
                                pod("odd", bound, "\"tencent.com/vcuda-core\": \"4x\""),
                                pod("huge", bound, "\"tencent.com/vcuda-core\": \"9e999\""),
                                pod("old", bound, "\"tencent.com/vcuda-core\": \"100\"")));
        Instant now = clock.instant();

        assertThat(sweep.work(now)).isEqualTo(now.plus(Duration.ofMinutes(15)));
        assertThat(found.sweeps.getFirst())
                .extracting(PodFacts::name)
                .containsExactly("huge", "old");
        assertThat(found.unread).containsExactly(Set.of(uid("odd")));
        assertThat(unreadable.present()).extracting(it -> it.name()).containsExactly("odd");

        api.answer(
                "/pods",
                """
                {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "8"}, "items": []}
                """);
        sweep.work(now);

        assertThat(unreadable.present()).as("it has gone").isEmpty();
    }

    @Test
    void anApiServerThatIsAwayIsAskedAgain() {
        view.replacePods(List.of(), Set.of());
        api.refuse("/pods", 503);
        assertThatThrownBy(() -> sweep.work(clock.instant()))
                .isInstanceOf(KubernetesClientException.class);
        assertThat(found.sweeps).isEmpty();

        api.allow("/pods");
        sweep.work(clock.instant());

        assertThat(found.sweeps).hasSize(1);
    }

    @Test
    void aSweepThatFailsIsCountedAndNotTriedAgainAtOnce() {
        view.replacePods(List.of(), Set.of());
        api.refuse("/pods", 503);

        sweep.start();

        await().atMost(Duration.ofSeconds(20)).until(() -> sweep.rounds().failures() > 0);
        assertThat(sweep.rounds().failed(new KubernetesClientException("away")))
                .isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void whoSweepsNoLongerHasNothingThatItCannotRead() {
        view.replacePods(List.of(), Set.of());
        api.answer(
                "/pods",
                """
                {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": [%s]}
                """
                        .formatted(
                                pod(
                                        "odd",
                                        "\"nodeName\": \"n1\",",
                                        "\"tencent.com/vcuda-core\": \"4x\"")));
        sweep.work(clock.instant());

        sweep.handOver();
        assertThat(unreadable.present()).isEmpty();

        sweep.work(clock.instant());
        assertThat(unreadable.present()).as("it sweeps again").hasSize(1);
    }
}
