package io.gpusharing.scheduler.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.GpuNode;
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
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pods that wait since before our scheduler was named. */
class MisdirectedPodsTest {

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
                            Gangs.OF_JOBS,
                            new SchedulerReach(true, new SchedulerName("gpusharing-scheduler")),
                            PodSharing.NONE,
                            -100),
                    new DisruptionBudgets());
    private final MisdirectedPods pods =
            new MisdirectedPods(
                    client, () -> true, known, new Parts(metrics, rounds -> {}, clock), clock);

    @BeforeEach
    void aNodeOfOurs() {
        offers("ours");
        known.gpuNodes()
                .onUpdate(
                        read(
                                """
                                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuNode", "metadata": {"name": "ours"},
                                 "status": {"tier": "TimeSlice", "gpus": [{"index": 0, "uuid": "GPU-0", "memoryMiB": 16384,
                                   "mig": false, "health": "Healthy", "mode": "Idle", "grants": []}]}}
                                """,
                                GpuNode.class));
    }

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

    private static <T> T read(String object, Class<T> type) {
        return LeanObjects.serialization().unmarshal(object, type);
    }

    private void offers(String node) {
        offers(node, "");
    }

    /** A GPU, and what else. */
    private void offers(String node, String more) {
        known.nodes()
                .onUpdate(
                        read(
                                """
                                {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "%s"},
                                 "status": {"capacity": {"tencent.com/vcuda-core": "100", "cpu": "8"},
                                   "allocatable": {"tencent.com/vcuda-core": "100", "cpu": "8"%s}}}
                                """
                                        .formatted(node, more),
                                Node.class));
    }

    private void waits(String name, String scheduler) {
        waits(name, scheduler, "");
    }

    private void waits(String name, String scheduler, String more) {
        known.pods()
                .onUpdate(
                        read(
                                """
                                {"apiVersion": "v1", "kind": "Pod",
                                 "metadata": {"name": "%s", "namespace": "team-a", "uid": "%s",
                                   "labels": {"gpusharing.io/metered": "true"}, "creationTimestamp": "2026-03-02T09:00:00Z"},
                                 "spec": {"schedulerName": "%s",
                                   "containers": [{"name": "c", "resources": {"limits": {"tencent.com/vcuda-core": "30", "tencent.com/vcuda-memory": "4"%s}}}]},
                                 "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                                   "reason": "Unschedulable", "lastTransitionTime": "2026-03-02T10:00:00Z"}]}}
                                """
                                        .formatted(
                                                name,
                                                UUID.nameUUIDFromBytes(
                                                        name.getBytes(StandardCharsets.UTF_8)),
                                                scheduler,
                                                more),
                                Pod.class));
    }

    @Test
    void areToldOnceWhatHappensAndWhatToDo() {
        waits("old", "default-scheduler");
        waits("new", "gpusharing-scheduler");
        waits("theirs", "volcano");
        clock.pass(MisdirectedPods.PATIENCE.minusSeconds(1));
        pods.look();
        assertThat(events).isEmpty();

        clock.pass(Duration.ofSeconds(1));
        pods.look();
        pods.look();

        assertThat(events)
                .singleElement()
                .satisfies(event ->
                        assertThat(event)
                                .contains(
                                        "WaitsForAnotherScheduler",
                                        "\"name\":\"old\"",
                                        "delete it, and its controller makes one anew"));
    }

    @Test
    void whereNodesOfOthersOfferTheSameTheyWaitForTheRightOne() {
        offers("theirs");
        waits("old", "default-scheduler");
        clock.pass(Duration.ofHours(1));

        pods.look();

        assertThat(events).isEmpty();
    }

    /** A network card, for instance, that our node alone has. */
    @Test
    void whatIsNoGpuDoesNotMakeAPodWaitForOurs() {
        offers("ours", ", \"rdma/hca\": \"1\"");
        offers("theirs");
        waits("old", "default-scheduler", ", \"rdma/hca\": \"1\"");
        clock.pass(Duration.ofHours(1));

        pods.look();

        assertThat(events).isEmpty();
    }

    @Test
    void withoutNodesOfOursNobodyIsTold() {
        known.gpuNodes().onDelete(read("{\"metadata\": {\"name\": \"ours\"}}", GpuNode.class));
        waits("old", "default-scheduler");
        clock.pass(Duration.ofHours(1));

        pods.look();

        assertThat(events).isEmpty();
    }
}
