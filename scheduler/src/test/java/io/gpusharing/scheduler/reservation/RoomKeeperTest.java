package io.gpusharing.scheduler.reservation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Standing;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.evicting.EvictionWatch;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.gpus.Placement;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.pods.EndingRules;
import io.gpusharing.scheduler.preemption.Preemption;
import io.gpusharing.scheduler.preemption.Preemption.Cost;
import io.gpusharing.scheduler.preemption.RunningPod;
import io.gpusharing.scheduler.preemption.RunningPod.Stamps;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import io.gpusharing.testing.SteppingClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RoomKeeperTest {

    private static final Instant NOON = Instant.parse("2026-11-26T12:00:00Z");
    private static final GpuPod WAITER = new GpuPod(uid("w"), "team-b", "w", List.of());

    private static final BudgetAccount OVER =
            new BudgetAccount(
                    "team-a",
                    new Standing.OverBudget(GpuTime.ZERO),
                    OnExhausted.Reclaim,
                    Duration.ZERO,
                    false,
                    null);
    private static final BudgetAccount WITHIN =
            new BudgetAccount(
                    "team-b",
                    new Standing.InBudget(GpuTime.ofMinutes("1"), null),
                    OnExhausted.Reclaim,
                    Duration.ZERO,
                    false,
                    null);

    private final List<Request> requests = new CopyOnWriteArrayList<>();
    private final Set<String> refused = ConcurrentHashMap.newKeySet();
    private final FakeApiServer api = new FakeApiServer(this::answer);
    private final KubernetesClient client = api.client();
    private final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));
    private final SteppingClock clock = new SteppingClock(NOON);
    private final EvictionWatch watch =
            new EvictionWatch(
                    new ObjectInformer<>(
                            "gpuevictions",
                            client.resources(GpuEviction.class),
                            new UnreadableObjects(_ -> {}, clock)));
    private final RoomKeeper keeper = new RoomKeeper(client, gpus, watch, clock);

    @AfterEach
    void stop() {
        client.close();
        api.close();
    }

    private Answer answer(Request request) {
        requests.add(request);
        String body =
                request.body()
                        .replace("\"generateName\":\"preemption-\"", "\"name\":\"preemption-x\"");
        return refused.stream().anyMatch(request.path()::contains)
                ? Answer.status(503, "away")
                : Answer.ok(body);
    }

    private static Preemption of(RunningPod... victims) {
        return new Preemption(
                WITHIN,
                "gpu-1",
                List.of(victims),
                new Cost(0, 0, 0, victims.length, NOON),
                new Placement("gpu-1", List.of()),
                NOON,
                new EndingRules(Duration.ofMinutes(1), Duration.ofMinutes(5)));
    }

    private static String uid(String name) {
        return UUID.nameUUIDFromBytes(name.getBytes(UTF_8)).toString();
    }

    private static RunningPod victim(String name, String gang) {
        return new RunningPod(
                uid(name),
                "team-a",
                name,
                Map.of(),
                -5,
                NOON.minusSeconds(60),
                null,
                Duration.ofSeconds(30),
                gang,
                new Stamps(true, true, false),
                OVER);
    }

    private List<String> bodies(String kind) {
        return requests.stream()
                .filter(it -> it.path().contains("/" + kind))
                .map(Request::body)
                .toList();
    }

    @Test
    void theRoomAndThePlanAreWrittenBeforeAnybodyGoes() {
        keeper.keep(WAITER, of(victim("a", uid("a")), victim("b", "job-1")));

        assertThat(bodies("gpureservations"))
                .singleElement()
                .asString()
                .contains("\"until\":\"2026-11-26T12:01:30Z\"");
        assertThat(bodies("gpuevictions"))
                .singleElement()
                .asString()
                .contains(
                        "\"cause\":\"Preemption\"",
                        "\"settlesAt\":\"2026-11-26T12:01:30Z\"",
                        "\"name\":\"w\"",
                        "\"uid\":\"%s\"".formatted(uid("a")),
                        "\"gang\":\"job-1\"",
                        "\"budget\":\"team-a\"",
                        "\"standing\":\"OverBudget\"",
                        "\"budget\":\"team-b\"",
                        "its priority counts for -5, the waiter's for 0; its budget is OverBudget, the waiter's InBudget")
                .doesNotContain("\"gang\":\"%s\"".formatted(uid("a")), "status");
    }

    /** The watch shows what was written. */
    private void show(String plan) {
        GpuEviction object = client.getKubernetesSerialization().unmarshal(plan, GpuEviction.class);
        object.getMetadata().setName("preemption-x");
        object.getMetadata().setUid(new UUID(0, requests.size()).toString());
        object.getMetadata().setCreationTimestamp(clock.instant().toString());
        watch.onUpdate(object);
    }

    @Test
    void whereKubeSchedulerAsksAgainThePlanIsWrittenOnceAndTheRoomAnew() {
        keeper.keep(WAITER, of(victim("a", uid("a")), victim("b", "job-1")));
        show(bodies("gpuevictions").getFirst());
        clock.pass(Duration.ofSeconds(2));

        keeper.keep(WAITER, of(victim("b", "job-1"), victim("a", uid("a"))));
        keeper.keep(WAITER, of(victim("b", "job-1")));

        assertThat(bodies("gpuevictions")).hasSize(1);
        assertThat(bodies("gpureservations")).hasSize(3);
    }

    @Test
    void aPlanOfOthersOrForAnotherOrThatIsAlmostOverIsNone() {
        keeper.keep(WAITER, of(victim("a", uid("a"))));
        show(bodies("gpuevictions").getFirst());

        keeper.keep(WAITER, of(victim("a", uid("a")), victim("c", uid("c"))));
        keeper.keep(new GpuPod(uid("x"), "team-b", "x", List.of()), of(victim("a", uid("a"))));
        clock.pass(Duration.ofSeconds(80));
        keeper.keep(WAITER, of(victim("a", uid("a"))));

        assertThat(bodies("gpuevictions")).hasSize(4);
    }

    @Test
    void whereTheRoomIsRefusedAPlanThatWasThereBeforeStands() {
        keeper.keep(WAITER, of(victim("a", uid("a"))));
        show(bodies("gpuevictions").getFirst());
        refused.add("/gpureservations");

        assertThatThrownBy(() -> keeper.keep(WAITER, of(victim("a", uid("a")))))
                .isInstanceOf(KubernetesClientException.class);

        assertThat(bodies("gpuevictions")).hasSize(1);
    }

    @Test
    void whereNobodyGoesNoPlanIsWritten() {
        keeper.keep(WAITER, of());

        assertThat(bodies("gpureservations")).hasSize(1);
        assertThat(bodies("gpuevictions")).isEmpty();
    }

    @Test
    void withoutAPlanNobodyGoesAndNoRoomIsKept() {
        refused.add("/gpuevictions");

        assertThatThrownBy(() -> keeper.keep(WAITER, of(victim("a", uid("a")))))
                .isInstanceOf(KubernetesClientException.class);

        await().untilAsserted(() ->
                assertThat(bodies("gpureservations"))
                        .last()
                        .asString()
                        .contains("\"until\":\"2026-11-26T12:00:00Z\""));
    }

    @Test
    void withoutRoomNobodyGoesAndThePlanSaysSo() {
        refused.add("/gpureservations");

        assertThatThrownBy(() -> keeper.keep(WAITER, of(victim("a", uid("a")))))
                .isInstanceOf(KubernetesClientException.class);

        await().untilAsserted(() ->
                assertThat(bodies("gpuevictions/preemption-x/status"))
                        .singleElement()
                        .asString()
                        .contains("\"phase\":\"NotDone\"", "room could not be kept"));

        show(bodies("gpuevictions").getFirst());
        refused.clear();
        keeper.keep(WAITER, of(victim("a", uid("a"))));
        assertThat(bodies("gpuevictions"))
                .as("the watch shows the first as it was")
                .last()
                .asString()
                .contains("generateName");
    }
}
