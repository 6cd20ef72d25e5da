package io.gpusharing.scheduler.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.scheduler.cluster.LeanObjects;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.picture.reading.KnownCluster;
import io.gpusharing.scheduler.picture.reading.ReadingSettings;
import io.gpusharing.scheduler.picture.reading.SchedulerReach;
import io.gpusharing.scheduler.pods.DisruptionBudgets;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.web.Parts;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HalfPlacedGangsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final List<String> events = new CopyOnWriteArrayList<>();
    private final FakeApiServer api = new FakeApiServer(this::answer);
    private final KubernetesClient client = api.client();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final KnownCluster known =
            new KnownCluster(
                    new RequestGrammars(List.of(new VcudaGrammar())),
                    new ProviderAsk(Map.of()),
                    new ReadingSettings(
                            "gpusharing-system",
                            Duration.ofMinutes(1),
                            Duration.ofMinutes(5),
                            new Gangs(List.of("training.kubeflow.org/job-name"), Set.of("Job")),
                            new SchedulerReach(true, new SchedulerName("gpusharing-scheduler")),
                            PodSharing.NONE,
                            -100),
                    new DisruptionBudgets());
    private final HalfPlacedGangs gangs =
            new HalfPlacedGangs(
                    client,
                    () -> true,
                    known,
                    metrics,
                    new Parts(metrics, rounds -> {}, clock),
                    clock);

    @AfterEach
    void stop() {
        client.close();
        api.close();
    }

    private Answer answer(Request request) {
        if (request.path().contains("/events")) {
            events.add(request.body());
        }
        return Answer.ok(request.body());
    }

    private static Pod pod(String gang, String name, String spec, String scheduled) {
        return LeanObjects.serialization()
                .unmarshal(
                        """
                        {"metadata": {"name": "%s", "namespace": "team-a", "uid": "%s", "creationTimestamp": "2026-03-02T09:00:00Z",
                           "labels": {"gpusharing.io/metered": "true", %s},
                           "ownerReferences": [{"kind": "Job", "name": "j", "uid": "j-1", "controller": true}]},
                         "spec": {%s "containers": [{"name": "c", "resources": {"limits": {"tencent.com/vcuda-core": "30"}}}]},
                         "status": {"phase": "Pending", "conditions": [
                           {"type": "PodScheduled", "status": "%s", "reason": "Unschedulable", "lastTransitionTime": "2026-03-02T10:00:00Z"}]}}
                        """
                                .formatted(
                                        name,
                                        UUID.nameUUIDFromBytes(
                                                name.getBytes(StandardCharsets.UTF_8)),
                                        gang,
                                        spec,
                                        scheduled),
                        Pod.class);
    }

    private void places(String gang, String... names) {
        for (String name : names) {
            known.pods().onUpdate(pod(gang, name, "\"nodeName\": \"n1\",", "True"));
        }
    }

    private void waits(String gang, String... names) {
        for (String name : names) {
            known.pods().onUpdate(pod(gang, name, "", "False"));
        }
    }

    private static String group(String value) {
        return "\"training.kubeflow.org/job-name\": \"%s\"".formatted(value);
    }

    private double counted() {
        return metrics.get("gpusharing.scheduler.gangs.half.placed").gauge().value();
    }

    @Test
    void twoGangsOfWhichHalfIsPlacedAreToldAndCounted() {
        places(group("one"), "one-0", "one-1");
        waits(group("one"), "one-2", "one-3");
        places(group("two"), "two-0", "two-1");
        waits(group("two"), "two-2", "two-3");

        clock.pass(HalfPlacedGangs.PATIENCE.minusSeconds(1));
        gangs.look();
        assertThat(counted()).isZero();
        assertThat(events).isEmpty();

        clock.pass(Duration.ofSeconds(1));
        gangs.look();
        gangs.look();
        assertThat(counted()).isEqualTo(2);
        assertThat(events)
                .hasSize(2)
                .allSatisfy(event ->
                        assertThat(event)
                                .contains("GangHalfPlaced", "2 of the 4 pods of its gang hold"));
    }

    @Test
    void whatIsPlacedAsAWholeOrNotAtAllIsNoHalf() {
        places(group("whole"), "whole-0", "whole-1");
        waits(group("none"), "none-0", "none-1");
        places("\"a\": \"b\"", "job-0");
        waits("\"a\": \"b\"", "job-1");

        clock.pass(Duration.ofHours(1));
        gangs.look();

        assertThat(counted()).isZero();
        assertThat(events).isEmpty();
    }

    @Test
    void onceTheRestRunsNothingIsCountedAnyMore() {
        places(group("one"), "one-0");
        waits(group("one"), "one-1");
        clock.pass(Duration.ofHours(1));
        gangs.look();
        assertThat(counted()).isEqualTo(1);

        places(group("one"), "one-1");
        gangs.look();

        assertThat(counted()).isZero();
    }
}
