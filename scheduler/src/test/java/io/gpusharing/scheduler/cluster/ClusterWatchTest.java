package io.gpusharing.scheduler.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.Filtered;
import io.gpusharing.scheduler.gpus.Filtered.Chosen;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.picture.reading.KnownCluster;
import io.gpusharing.scheduler.picture.reading.ReadingSettings;
import io.gpusharing.scheduler.picture.reading.SchedulerReach;
import io.gpusharing.scheduler.pods.DisruptionBudgets;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.preemption.RunningPods;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.web.Parts;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Status;

/** A cluster in which there is one of each kind that cannot be read, before another that can. */
class ClusterWatchTest {

    private static final Instant NOON = Instant.parse("2026-11-26T12:00:00Z");

    private static final String NODES =
            """
            {"metadata": {"name": "odd"}, "status": {"gpus": [{"uuid": "GPU-odd", "mode": "Idle"}]}},
            {"metadata": {"name": "a"}, "status": {"gpus": [
              {"uuid": "GPU-a", "memoryMiB": 16384, "health": "Healthy", "mode": "Idle"}]}},
            {"metadata": {"name": "b"}, "status": {"gpus": [
              {"uuid": "GPU-b", "memoryMiB": 16384, "health": "Healthy", "mode": "Idle"}]}}
            """;

    private static final String PODS =
            """
            {"metadata": {"name": "odd", "namespace": "lab", "uid": "u-odd", "deletionTimestamp": "soon"},
             "spec": {"nodeName": "a", "containers": [{"name": "c",
               "resources": {"limits": {"tencent.com/vcuda-core": "1", "tencent.com/vcuda-memory": "1"}}}]},
             "status": {"phase": "Running"}},
            {"metadata": {"name": "endless", "namespace": "lab", "uid": "u-endless",
               "annotations": {"gpusharing.io/placement": "u-endless;c=GPU-b"}},
             "spec": {"nodeName": "b", "containers": [{"name": "c", "resources": {
               "requests": {"cpu": "9e999"},
               "limits": {"cpu": "9e999", "tencent.com/vcuda-core": "40", "tencent.com/vcuda-memory": "1"}}}]},
             "status": {"startTime": "10000-01-01T00:59:59Z"}}
            """;

    private static final String RESERVATIONS =
            """
            {"metadata": {"name": "odd"},
             "spec": {"priority": 0, "node": "b", "until": "2027-01-01T00:00:00Z"}},
            {"metadata": {"name": "u-waiter"},
             "spec": {"pod": {"namespace": "lab", "name": "w", "uid": "u-waiter"}, "priority": 7, "node": "b",
               "gpus": [{"uuid": "GPU-b", "core": 40, "memoryMiB": 256, "whole": false}],
               "until": "10000-01-01T00:59:59Z"}}
            """;

    private static final String BUDGETS =
            """
            {"metadata": {"name": "odd", "namespace": "lab"},
             "spec": {"selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": [%s]}]}}},
            {"metadata": {"name": "none", "namespace": "dev"}},
            {"metadata": {"name": "usual", "namespace": "team-a"},
             "spec": {"selector": {"matchLabels": {"guarded": "yes"}}}, "status": {"disruptionsAllowed": 1}}
            """
                    .formatted("\"web\",".repeat(100) + "\"db\"");

    private final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));
    private final RunningPods running = new RunningPods();
    private final RequestGrammars grammars = new RequestGrammars(List.of(new VcudaGrammar()));
    private final DisruptionBudgets disruptions = new DisruptionBudgets();
    private final KnownCluster known =
            new KnownCluster(
                    grammars,
                    new ProviderAsk(Map.of()),
                    new ReadingSettings(
                            "gpusharing-system",
                            Duration.ofMinutes(1),
                            Duration.ofMinutes(5),
                            Gangs.OF_JOBS,
                            new SchedulerReach(true, new SchedulerName("gpusharing-scheduler")),
                            PodSharing.NONE,
                            -100),
                    disruptions);
    private final UnreadableObjects unreadable = new UnreadableObjects(_ -> {});
    private final SteppingClock clock = new SteppingClock(NOON);
    private final PreemptedPods preempted = new PreemptedPods(clock);
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final Parts parts = new Parts(metrics, rounds -> {}, clock);
    private final FakeApiServer api = new FakeApiServer(ClusterWatchTest::answer);
    private final KubernetesClient client = api.client();
    private final ClusterWatch watch =
            new ClusterWatch(
                    client,
                    new GpuPodReader(new ProviderAsk(Map.of()), Strategy.BestFit, PodSharing.NONE),
                    new RunningPodReader(Gangs.OF_JOBS),
                    gpus,
                    new RefusedStarts(),
                    running,
                    preempted,
                    known,
                    disruptions,
                    new SchedulerName(""),
                    unreadable,
                    clock);
    private final WatchSilence silence = new WatchSilence(watch, List.of(), parts, metrics, clock);

    @BeforeEach
    void start() {
        watch.start();
        await().until(() ->
                watch.informers().stream().allMatch(ObjectInformer::hasSynced)
                        && api.watches().size() == watch.informers().size());
    }

    @AfterEach
    void stop() {
        watch.stop();
        client.close();
        api.close();
    }

    private static Answer answer(Request request) {
        String path = request.path();
        return Answer.list(
                switch (path.substring(path.lastIndexOf('/') + 1)) {
                    case "gpunodes" -> NODES;
                    case "pods" -> PODS;
                    case "gpureservations" -> RESERVATIONS;
                    case "poddisruptionbudgets" -> BUDGETS;
                    default -> "";
                });
    }

    private Filtered filter(int cores, String node) {
        var ask = new GpuAsk(1, cores, 256, false);
        return gpus.filter(
                new GpuPod(
                        node + cores,
                        "team-a",
                        "p",
                        List.of(new ContainerAsk("c", Kind.App, ask, Set.of()))),
                List.of(node),
                NOON);
    }

    @Test
    void whatCannotBeReadIsCountedAndEndsNothing() {
        assertThat(unreadable.present())
                .extracting(Unreadable::kind)
                .containsExactlyInAnyOrder("GpuNode", "Pod", "GpuReservation");
        assertThat(unreadable.present()).extracting(Unreadable::name).containsOnly("odd");
    }

    @Test
    void aNodeThatCannotBeReadOffersNothing() {
        assertThat(filter(1, "odd")).isNotInstanceOf(Chosen.class);
    }

    @Test
    void onANodeWithAPodThatCannotBeReadNobodyIsPlacedAndNobodyGoes() {
        assertThat(filter(1, "a")).isNotInstanceOf(Chosen.class);
        assertThat(gpus.heldBeside("u", null, 1_000, List.of("a"), NOON))
                .hasEntrySatisfying(
                        "a", gpusOfIt -> assertThat(gpusOfIt.held()).containsOnlyKeys("u-odd"));
    }

    @Test
    void allOthersAreKnownHoweverOdd() {
        assertThat(filter(20, "b")).as("beside 40 held and 40 kept").isInstanceOf(Chosen.class);
        assertThat(filter(21, "b")).isNotInstanceOf(Chosen.class);
    }

    /** Of any provider: none of these GPUs are ours. */
    private static String preempted(String name, String more) {
        return """
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%1$s", "namespace": "lab", "uid": "u-%1$s",\
         "resourceVersion": "7"%2$s, "labels": {"gpusharing.io/metered": "true"}},\
         "spec": {"nodeName": "theirs", "priority": -10, "containers": [{"name": "c",\
         "resources": {"limits": {"nvidia.com/gpu": "1"}}}]},\
         "status": {"phase": "Running", "conditions": [{"type": "DisruptionTarget", "status": "True",\
         "reason": "PreemptionByScheduler", "lastTransitionTime": "%3$s"}]}}\
        """
                .formatted(name, more, NOON);
    }

    private void tell(String event, String pod) {
        api.tell("pods", "{\"type\": \"%s\", \"object\": %s}".formatted(event, pod));
    }

    @Test
    void whoWasPreemptedIsRememberedForAnHour() {
        tell("ADDED", preempted("running", ""));
        tell("DELETED", preempted("running", ""));
        tell("ADDED", preempted("ending", ", \"deletionTimestamp\": \"%s\"".formatted(NOON)));
        await().until(() -> preempted.unwritten().size() == 2);

        assertThat(preempted.unwritten())
                .allSatisfy(it -> assertThat(it.node()).isEqualTo("theirs"))
                .allSatisfy(it -> assertThat(it.priority()).isEqualTo(-10))
                .extracting(it -> it.pod().name())
                .containsExactlyInAnyOrder("running", "ending");
        clock.pass(Duration.ofHours(1).plusSeconds(1));
        assertThat(preempted.unwritten()).isEmpty();
    }

    private boolean isGuarded(String namespace, Map<String, String> labels) {
        return !disruptions.guarding(namespace, labels).isEmpty();
    }

    @Test
    void aDisruptionBudgetOfEndlessValuesGuardsItsNamespaceAndOneOfNothingNoPod() {
        assertThat(isGuarded("lab", Map.of("app", "any"))).isTrue();
        assertThat(isGuarded("dev", Map.of("app", "any"))).isFalse();
        assertThat(isGuarded("team-a", Map.of("app", "any"))).isFalse();
        assertThat(isGuarded("team-a", Map.of("guarded", "yes"))).isTrue();
    }

    private double silent(String kind) {
        silence.look();
        return metrics.get("gpusharing.watch.silent").tag("kind", kind).gauge().value();
    }

    @Test
    void anApiServerThatSaysThatNothingHasHappenedIsNotSilent() {
        assertThat(api.watches())
                .allSatisfy(it -> assertThat(it.getQuery()).contains("allowWatchBookmarks=true"));
        assertThat(silent("gpunodes")).isZero();
        clock.pass(Duration.ofMinutes(4));
        // The version is that of the list and of each bookmark before.
        for (int i = 0; i < 2; i++) {
            assertThat(silent("gpunodes")).isEqualTo(240);

            api.tell(
                    "gpunodes",
                    """
                    {"type": "BOOKMARK", "object": {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuNode",\
                     "metadata": {"resourceVersion": "1"}}}\
                    """);

            await().until(() -> silent("gpunodes") == 0);
            clock.pass(Duration.ofMinutes(4));
        }
        assertThat(silent("pods")).isEqualTo(720);
    }

    @Test
    void aWatchThatHasStalledIsAPartThatFails() {
        silence.look();
        clock.pass(Duration.ofMinutes(5));
        silence.look();
        assertThat(parts.health().getStatus()).isEqualTo(Status.UP);

        for (int i = 0; i < 2; i++) {
            clock.pass(Duration.ofSeconds(10));
            silence.look();
        }

        assertThat(parts.health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(parts.health().getDetails()).containsOnlyKeys("watching");
        assertThat(watch.health().getStatus()).as("what was known is kept").isEqualTo(Status.UP);
    }
}
