package io.gpusharing.timekeeper.injection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the breaker decides is published, and what an administrator writes holds. */
class InjectionReconcilerTest {

    private static final Instant NOON = Instant.parse("2026-03-10T12:00:00Z");
    private static final String IMAGE = "gpusharing/sidecar:1";
    private static final String SWITCH = "/configmaps/gpusharing-injection";
    private static final String OFF =
            """
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "gpusharing-injection", "resourceVersion": "7"},
             "data": {"injection": "Off", "image": "gpusharing/sidecar:1", "since": "2026-03-10T11:00:00Z", "pods": "3"}}
            """;

    private final SteppingClock clock = new SteppingClock(NOON);
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private FakeApiServer api;
    private InjectionReconciler reconciler;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        api.store(SWITCH, "");
        reconciler = reconciler();
    }

    private InjectionReconciler reconciler() {
        return new InjectionReconciler(
                api.client(),
                "gpusharing-system",
                new InjectionProperties(3),
                new ClusterView(),
                registry,
                Leadership.alone(),
                clock);
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void whileAllIsWellTheSwitchIsReadOnceAndNeverWritten() {
        for (int i = 0; i < 10; i++) {
            reconciler.onPod(waiting(1));
            reconciler.onPod(started(2));
            reconciler.work(clock.instant());
        }

        assertThat(api.requests).extracting(FakeApiServer.Asked::method).containsExactly("GET");
        assertThat(stopped()).isZero();
    }

    @Test
    void threePodsThatWaitForTheImageStopTheInjectionWithOneEvent() {
        threePodsWait();
        reconciler.work(clock.instant());
        reconciler.work(clock.instant());

        assertThat(published())
                .containsEntry("injection", "Off")
                .containsEntry("image", IMAGE)
                .containsEntry("pods", "3")
                .containsEntry("namespaces", "team-a")
                .containsEntry("since", NOON.toString());
        assertThat(api.to("/events").getFirst().body())
                .contains("in 3 pods; new pods of team-a get no metering container");
        assertThat(events()).containsExactly("InjectionStopped");
        assertThat(stopped()).isOne();
    }

    @Test
    void theFirstPodThatPullsItAfterAllSwitchesItOnAgain() {
        threePodsWait();
        reconciler.work(clock.instant());
        clock.pass(Duration.ofMinutes(5));

        reconciler.onPod(started(1));
        reconciler.work(clock.instant());

        assertThat(published()).containsEntry("injection", "On").doesNotContainKey("image");
        assertThat(events()).containsExactly("InjectionStopped", "InjectionResumed");
        assertThat(stopped()).isZero();
    }

    @Test
    void aRestartForgetsNothingAndRepeatsNoEvent() {
        api.store(SWITCH, OFF);

        reconciler.work(clock.instant());
        reconciler.work(clock.instant());

        assertThat(stopped()).isOne();
        assertThat(published()).containsEntry("injection", "Off");
        assertThat(events()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"gpusharing-injection\"},\"data\":{\"injection\":\"On\"}}",
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"gpusharing-injection\"}}"
            })
    void anAdministratorSwitchesItOnOrTakesTheSwitchAway(String written) {
        threePodsWait();
        reconciler.work(clock.instant());
        clock.pass(Duration.ofMinutes(5));

        api.store(SWITCH, written);
        reconciler.work(clock.instant());
        reconciler.work(clock.instant());

        assertThat(published())
                .containsEntry("injection", "On")
                .containsEntry("since", clock.instant().toString());
        assertThat(stopped()).isZero();
    }

    @Test
    void podsOfBeforeDoNotSwitchOffWhatAnAdministratorSwitchedOn() {
        threePodsWait();
        reconciler.work(clock.instant());
        clock.pass(Duration.ofMinutes(5));
        api.store(SWITCH, "");
        reconciler.work(clock.instant());
        reconciler.work(clock.instant());

        threePodsWait();
        reconciler.work(clock.instant());
        assertThat(stopped()).isZero();

        for (int pod = 4; pod <= 6; pod++) {
            reconciler.onPod(pod(pod, clock.instant(), "{waiting: {reason: ErrImagePull}}"));
        }
        reconciler.work(clock.instant());
        assertThat(stopped()).isOne();
    }

    @Test
    void aFailedPublicationIsRepeatedLater() {
        api.refuse("/configmaps", 500);
        threePodsWait();
        fails();
        assertThat(published()).isEmpty();

        api.allow("/configmaps");
        reconciler.work(clock.instant());

        assertThat(published()).containsEntry("injection", "Off");
        assertThat(events()).containsExactly("InjectionStopped");
    }

    @Test
    void nothingIsDecidedBeforeTheSwitchWasReadOnce() {
        api.store(SWITCH, OFF);
        api.refuse(SWITCH, 500);
        fails();
        assertThat(stopped()).isZero();

        api.allow(SWITCH);
        reconciler.work(clock.instant());

        assertThat(stopped()).isOne();
    }

    @Test
    void anEventThatCannotBeWrittenHoldsNothingUpAndIsNotTriedForEver() {
        api.refuse("/events", 403);
        threePodsWait();
        reconciler.work(clock.instant());
        reconciler.work(clock.instant());

        assertThat(published()).containsEntry("injection", "Off");
        assertThat(api.to("/events")).hasSize(1);
    }

    @Test
    void anEventThatAKillInterruptedIsWrittenOnceByTheNextLeader() {
        api.refuse("/events", 500);
        threePodsWait();
        fails();
        assertThat(published()).containsEntry("injection", "Off");
        assertThat(api.created("/events")).isZero();

        api.allow("/events");
        for (int restart = 0; restart < 3; restart++) {
            clock.pass(Duration.ofHours(2));
            reconciler = reconciler();
            reconciler.work(clock.instant());
            reconciler.work(clock.instant());
        }

        assertThat(api.created("/events")).isOne();
        assertThat(events()).containsExactly("InjectionStopped", "InjectionStopped");
        assertThat(published()).containsEntry("injection", "Off").containsEntry("pods", "3");
    }

    @Test
    void anAdministratorsChangeDuringTheEventIsKept() {
        threePodsWait();
        api.refuse("/events", 500);
        fails();
        api.store(
                SWITCH,
                "{\"metadata\":{\"name\":\"gpusharing-injection\"},\"data\":{\"injection\":\"On\"}}");
        api.allow("/events");

        reconciler.work(clock.instant());
        reconciler.work(clock.instant());

        assertThat(published()).containsEntry("injection", "On");
        reconciler.work(clock.instant());
        assertThat(stopped()).isZero();
    }

    private void fails() {
        assertThatThrownBy(() -> reconciler.work(clock.instant()))
                .isInstanceOf(KubernetesClientException.class);
    }

    private void threePodsWait() {
        for (int pod = 1; pod <= 3; pod++) {
            reconciler.onPod(waiting(pod));
        }
    }

    private Map<String, String> published() {
        String json = api.kept(SWITCH);
        return json.isEmpty() ? Map.of() : Serialization.unmarshal(json, ConfigMap.class).getData();
    }

    private List<String> events() {
        return api.to("/events").stream()
                .map(it -> it.body().replaceFirst(".*\"reason\":\"(\\w+)\".*", "$1"))
                .toList();
    }

    private int stopped() {
        return (int) registry.get("gpusharing.injection.stopped").gauge().value();
    }

    private static Pod waiting(int pod) {
        return pod(pod, NOON.minusSeconds(30), "{waiting: {reason: ImagePullBackOff}}");
    }

    private Pod started(int pod) {
        return pod(
                pod,
                NOON.minusSeconds(30),
                "{running: {startedAt: '%s'}}".formatted(clock.instant()));
    }

    private static Pod pod(int pod, Instant created, String state) {
        return Serialization.unmarshal(
                """
                metadata:
                  name: p%1$d
                  namespace: team-a
                  uid: %2$s
                  creationTimestamp: '%3$s'
                  annotations: {gpusharing.io/sidecar: gpusharing-sidecar}
                spec:
                  initContainers: [{name: gpusharing-sidecar, image: '%4$s'}]
                status:
                  initContainerStatuses: [{name: gpusharing-sidecar, state: %5$s}]
                """
                        .formatted(pod, new UUID(0, pod), created, IMAGE, state),
                Pod.class);
    }
}
