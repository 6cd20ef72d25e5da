package io.gpusharing.scheduler.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.budgets.FreshBudgets;
import io.gpusharing.scheduler.budgets.KnownGrants;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.Past;
import io.gpusharing.scheduler.picture.reading.ClusterSnapshotReader;
import io.gpusharing.scheduler.picture.reading.ClusterSnapshotReader.Reading;
import io.gpusharing.scheduler.picture.reading.KnownCluster;
import io.gpusharing.scheduler.picture.reading.ReadingSettings;
import io.gpusharing.scheduler.picture.reading.SchedulerReach;
import io.gpusharing.scheduler.pods.DisruptionBudgets;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.preemption.RunningPods;
import io.gpusharing.scheduler.reclaiming.Cluster;
import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Planner;
import io.gpusharing.scheduler.testing.BudgetObjects;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.testing.SteppingClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A cluster of a thousand nodes with a GPU each, all of which a budget has that is over, and five
 * pods in budget that wait: as the watches show it.
 */
class WatchedPictureTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final int NODES = 1_000;
    private static final int WAITERS = 5;
    private static final RequestGrammars VCUDA = new RequestGrammars(List.of(new VcudaGrammar()));
    private static final ReadingSettings SETTINGS =
            new ReadingSettings(
                    "gpusharing-system",
                    Duration.ofMinutes(1),
                    Duration.ofMinutes(5),
                    Gangs.OF_JOBS,
                    new SchedulerReach(true, new SchedulerName("gpusharing-scheduler")),
                    PodSharing.NONE,
                    -100);

    /** Status of the answer to a list of a kind, by its plural. */
    private final Map<String, Integer> refusals = new ConcurrentHashMap<>();

    private final List<Request> requests = new CopyOnWriteArrayList<>();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final UnreadableObjects unreadable = new UnreadableObjects(_ -> {});
    private final FakeApiServer api = new FakeApiServer(this::answer);
    private final KubernetesClient client = api.client();
    private final DisruptionBudgets disruptions = new DisruptionBudgets();
    private final KnownCluster known =
            new KnownCluster(VCUDA, new ProviderAsk(Map.of()), SETTINGS, disruptions);
    private final ClusterWatch watch =
            new ClusterWatch(
                    client,
                    new GpuPodReader(new ProviderAsk(Map.of()), Strategy.BestFit, PodSharing.NONE),
                    new RunningPodReader(Gangs.OF_JOBS),
                    new ClusterGpus(Duration.ofSeconds(30)),
                    new RefusedStarts(),
                    new RunningPods(),
                    new PreemptedPods(clock),
                    known,
                    disruptions,
                    new SchedulerName("gpusharing-scheduler"),
                    unreadable,
                    clock);
    private final Budgets budgets = new Budgets(clock);
    private final ClusterSnapshotReader snapshots =
            new ClusterSnapshotReader(
                    client,
                    watch,
                    known,
                    budgets,
                    new FreshBudgets(
                            client,
                            "gpusharing-system",
                            new KnownGrants(),
                            Optional::empty,
                            unreadable),
                    unreadable,
                    SETTINGS,
                    clock);

    @AfterEach
    void stop() {
        watch.stop();
        client.close();
        api.close();
    }

    private Answer answer(Request request) {
        requests.add(request);
        String query = String.valueOf(request.uri().getQuery());
        String plural = request.path().substring(request.path().lastIndexOf('/') + 1);
        if (refusals.containsKey(plural)) {
            return Answer.status(refusals.get(plural), "no");
        }
        return switch (request.path()) {
            case "/api/v1/nodes" -> list(NODES, WatchedPictureTest::node);
            case "/api/v1/namespaces" ->
                    Answer.list(
                            """
                            {"metadata": {"name": "team-a"}}, {"metadata": {"name": "team-b"}}\
                            """);
            case "/api/v1/pods" -> pods(query);
            case "/apis/coordination.k8s.io/v1/namespaces/gpusharing-system/leases/gpusharing-ledger" ->
                    Answer.ok(BudgetObjects.word(TEN).toString());
            default -> Answer.list("");
        };
    }

    private static Answer pods(String query) {
        if (query.contains("labelSelector=gpusharing.io/metered notin")) {
            return Answer.list("");
        }
        if (query.contains("status.nominatedNodeName=")) {
            return Answer.list("");
        }
        int on = query.indexOf("spec.nodeName=n");
        if (on >= 0) {
            String number =
                    query.substring(on + "spec.nodeName=n".length()).replaceAll("\\D.*", "");
            return list(1, _ -> pod(Integer.parseInt(number)));
        }
        return list(NODES + WAITERS, WatchedPictureTest::pod);
    }

    private static Answer list(int count, IntFunction<String> each) {
        return Answer.list(
                IntStream.range(0, count).mapToObj(each).collect(Collectors.joining(",")));
    }

    private static String node(int number) {
        return """
        {"metadata": {"name": "n%d"}, "status": {"allocatable":
          {"tencent.com/vcuda-core": "100", "tencent.com/vcuda-memory": "60", "cpu": "16", "pods": "110"}}}\
        """
                .formatted(number);
    }

    /** One that runs on the node of its number; those that have none wait. */
    private static String pod(int number) {
        boolean waits = number >= NODES;
        return """
        {"metadata": {"name": "p%d", "namespace": "%s", "uid": "%s", "creationTimestamp": "2026-03-02T09:00:00Z",
           "labels": {"gpusharing.io/metered": "true"}, "annotations": {"tencent.com/predicate-gpu-idx-0": "0"}},
         "spec": {%s "priority": 0, "containers": [{"name": "cuda", "resources":
            {"limits": {"tencent.com/vcuda-core": "100"}, "requests": {"tencent.com/vcuda-core": "100"}}}]},
         "status": {"phase": "%s", "conditions": [{"type": "PodScheduled", "status": "%s",
            "reason": "%s", "lastTransitionTime": "2026-03-02T09:00:00Z"}]}}\
        """
                .formatted(
                        number,
                        waits ? "team-b" : "team-a",
                        new UUID(0, number),
                        waits ? "" : "\"nodeName\": \"n%d\",".formatted(number),
                        waits ? "Pending" : "Running",
                        waits ? "False" : "True",
                        waits ? "Unschedulable" : "");
    }

    private void seen() {
        watch.start();
        await().until(() -> snapshots.whyNot().isEmpty());
    }

    @ParameterizedTest
    @ValueSource(ints = {403, 404})
    void whereNoGpuNodeAndNoDisruptionBudgetCanBeSeenThereIsNone(int code) {
        refusals.put("gpunodes", code);
        refusals.put("poddisruptionbudgets", 403);

        seen();

        assertThat(watch.isKnown()).as("enough to place a pod").isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "nodes, 403",
        "namespaces, 404",
        "poddisruptionbudgets, 404",
        "gpunodes, 500",
        "gpureservations, 403"
    })
    void whileAKindCannotBeListedThereIsNoPicture(String plural, int code) {
        refusals.put(plural, code);

        watch.start();

        await().until(() ->
                snapshots.whyNot().equals(Optional.of(plural + " have not been listed yet")));
    }

    @Test
    void ofAClusterThatHasNotBeenHeardOfForMinutesThereIsNoPicture() {
        seen();

        clock.pass(Duration.ofMinutes(4));

        assertThat(snapshots.whyNot().orElseThrow()).contains("has said nothing of");
    }

    @Test
    void aRoundAsksForThePodsOfTheNodesThatItDecidesOnAndForNoOtherList() {
        budgets.onUpdate(BudgetObjects.read(BudgetObjects.budget("team-a", -19 * 60, TEN)));
        budgets.onUpdate(BudgetObjects.read(BudgetObjects.budget("team-b", 100 * 60, TEN)));
        budgets.onListed();
        assertThat(snapshots.whyNot()).isPresent();
        seen();
        assertThat(snapshots.anyWaitsSince(TEN.minusSeconds(10))).isTrue();
        requests.clear();

        Reading reading = snapshots.read(new Past(List.of(), List.of(), Map.of()));
        List<Decision> decisions =
                new Planner(Cluster.RULES).plan(reading.snapshot(), reading.nodePods());

        assertThat(reading.snapshot().nodes()).hasSize(NODES);
        assertThat(reading.snapshot().gpuPods()).hasSize(NODES);
        assertThat(reading.snapshot().waiters())
                .extracting(Waiter::since)
                .hasSize(WAITERS)
                .containsOnly(Instant.parse("2026-03-02T09:00:00Z"));
        assertThat(decisions).hasSize(WAITERS).allMatch(it -> it instanceof Evict);
        assertThat(requests.stream().filter(it -> !it.path().contains("/leases/")))
                .extracting(it -> it.uri().getQuery().replaceAll("&.*", ""))
                .containsExactlyElementsOf(
                        decisions.stream()
                                .map(it -> ((Evict) it).node())
                                .flatMap(it ->
                                        Stream.of(NodeFields.nominated(it), NodeFields.bound(it)))
                                .map("fieldSelector="::concat)
                                .toList());
    }
}
