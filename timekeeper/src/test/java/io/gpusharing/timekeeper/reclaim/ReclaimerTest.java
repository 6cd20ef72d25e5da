package io.gpusharing.timekeeper.reclaim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.allocation.PodFacts;
import io.gpusharing.timekeeper.allocation.PodFacts.Placement;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.cluster.ClusterViews;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Victim;
import io.gpusharing.timekeeper.reclaim.snapshot.PodRef;
import io.gpusharing.timekeeper.reclaim.snapshot.Refusal;
import io.gpusharing.timekeeper.reclaim.snapshot.SchedulingConstraints;
import io.gpusharing.timekeeper.reclaim.snapshot.Waiter;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.support.TransactionTemplate;

class ReclaimerTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    /** Resources that no API server would store; only whether they can be read matters. */
    private static final String UNREADABLE =
            """
            {"requests": {"cpu": "--"}}\
            """;

    private static final ReclaimProperties PROPERTIES = Readers.properties(true);

    private final FakeApiServer api = new FakeApiServer();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final TestDatabase database = TestDatabase.create();
    private final EvictionPlanRepository rows = database.repository(EvictionPlanRepository.class);
    private final EvictionPlans plans =
            new EvictionPlans(rows, new TransactionTemplate(database.entityTransactions()));
    private final List<Unreadable> unread = new ArrayList<>();
    private final UnreadableObjects unreadable = new UnreadableObjects(unread::add);
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final Pods waiter = Pods.waiting("team-b", 100, 0);

    ReclaimerTest() throws IOException {}

    @AfterEach
    void stop() {
        api.close();
    }

    private Reclaimer reclaimer(ClusterView view) {
        return reclaimer(view, TestBudgets.on(database, Duration.ofHours(1), clock), plans);
    }

    private Reclaimer reclaimer(ClusterView view, Budgets budgets, EvictionPlans plans) {
        return new Reclaimer(
                view,
                budgets,
                new ClusterSnapshotReader(
                        api.client(),
                        budgets,
                        view,
                        new RequestGrammars(List.of(new VcudaGrammar())),
                        new ProviderAsk(Map.of()),
                        new Reservations(api.client(), unreadable, PROPERTIES),
                        unreadable,
                        "gpusharing-system",
                        PROPERTIES,
                        clock),
                plans,
                new Evictions(api.client(), Duration.ofMinutes(5)),
                new Reservations(api.client(), unreadable, PROPERTIES),
                PROPERTIES,
                new ReclaimMetrics(registry),
                Leadership.alone(),
                clock);
    }

    private Evict plan() {
        return new Evict(
                new Waiter(
                        new PodRef(waiter.uid().toString(), "team-b", "w"),
                        TEN,
                        null,
                        false,
                        0,
                        true,
                        new PodAsk(Amounts.NONE, List.of(), List.of()),
                        "deployment-uid",
                        SchedulingConstraints.NONE,
                        null),
                Pods.NODE,
                List.of(
                        new Victim(
                                new PodRef("7b1f0d0c-4f83-4a0e-9d3b-1f0a4f6b1c2d", "team-a", "old"),
                                Pods.NODE,
                                "team-a",
                                "old",
                                "over by 5.000 GPU-minutes",
                                1_200_000_000L,
                                Duration.ofSeconds(30),
                                null)),
                List.of());
    }

    @Test
    void aStartEvictsNothingForAWaiterBeforeThePodsAreListed() {
        plans.plan(plans.written(), plan(), "team-b", TEN, TEN.plusSeconds(90));
        clock.pass(Duration.ofMinutes(5));

        reclaimer(ClusterViews.withNode()).work(clock.instant());
        reclaimer(ClusterViews.showing(waiter.boundAt(TEN.plusSeconds(20)).facts()))
                .work(clock.instant());

        assertThat(
                        database.jdbc()
                                .sql("select helped || ': ' || outcome from eviction_plan")
                                .query(String.class)
                                .single())
                .isEqualTo("true: the waiter was bound to " + Pods.NODE);
    }

    /** One GPU, which a pod of a budget that is used up holds, and a waiter in budget. */
    private Reclaimer amongTwoTeams(EvictionPlans plans) {
        return amongTwoTeams(plans, "");
    }

    private Reclaimer amongTwoTeams(EvictionPlans plans, String metadata) {
        return amongTwoTeams(plans, metadata, "");
    }

    /** The same beside another pod that somebody has made. */
    private Reclaimer beside(String pod) {
        return amongTwoTeams(plans, "", pod + ",");
    }

    /** A pod without GPUs on the only node. */
    private static String withCpu(String resources) {
        return """
        {"metadata": {"name": "odd", "namespace": "team-c", "uid": "2c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10",
           "creationTimestamp": "2026-03-02T09:40:00Z"},
         "spec": {"nodeName": "gpu-1", "containers": [{"name": "c", "resources": %s}]}, "status": {"phase": "Running"}}
        """
                .formatted(resources);
    }

    /**
     * @param metadata more metadata of the pod that holds the GPU
     * @param others pods beside these two, each with a comma behind it
     */
    private Reclaimer amongTwoTeams(EvictionPlans plans, String metadata, String others) {
        GpuBudgetSpec plain = GpuBudgetSpec.monthly(List.of("team-a"), "1");
        var spent =
                new Written(
                        "team-a",
                        TEN.minusSeconds(1_200),
                        1,
                        new GpuBudgetSpec(
                                plain.namespaces(),
                                plain.gpuMinutes(),
                                plain.period(),
                                plain.rollover(),
                                plain.debt(),
                                OnExhausted.Reclaim,
                                plain.chargeBy(),
                                plain.share(),
                                plain.warnAtPercent(),
                                plain.minimumRunTime()),
                        false);
        var ledger =
                new TestLedger(
                        TEN.minusSeconds(1_200),
                        spent,
                        TestBudgets.monthly("team-b", TEN.minusSeconds(1_200), "100", "team-b"));
        Pods gpuPod = Pods.waiting("team-a", 100, 0).boundAt(TEN.minusSeconds(1_200));
        ledger.onUpdate(gpuPod);
        ledger.pass(Duration.ofMinutes(20));
        // Budgets are as of when they were computed.
        ledger.restart();
        PodFacts waits = waiter.facts();
        var unschedulable =
                new PodFacts(
                        waits.uid(),
                        waits.namespace(),
                        waits.name(),
                        waits.owner(),
                        waits.request(),
                        waits.claimed(),
                        waits.annotations(),
                        new Placement(null, null, 0, false, TEN.minusSeconds(300)),
                        waits.lifecycle());
        api.answer(
                "/nodes",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "gpu-1"}, "status": {"allocatable":
                  {"tencent.com/vcuda-core": "100", "tencent.com/vcuda-memory": "60", "cpu": "16", "pods": "110"}}}]}
                """);
        api.answer(
                "/namespaces",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "team-a"}}, {"metadata": {"name": "team-b"}}]}
                """);
        api.answer(
                "/pods",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [ %s
                  {"metadata": {"name": "old", "namespace": "team-a", "uid": "%s", "creationTimestamp": "2026-03-02T09:40:00Z", %s
                    "labels": {"gpusharing.io/metered": "true"},
                    "annotations": {"tencent.com/predicate-gpu-idx-0": "0"}},
                   "spec": {"nodeName": "gpu-1", "priority": 0, "containers": [{"name": "cuda", "resources":
                     {"limits": {"tencent.com/vcuda-core": "100"}, "requests": {"tencent.com/vcuda-core": "100"}}}]},
                   "status": {"phase": "Running", "startTime": "2026-03-02T09:40:00Z", "conditions":
                     [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-03-02T09:40:00Z"}]}},
                  {"metadata": {"name": "w", "namespace": "team-b", "uid": "%s", "creationTimestamp": "2026-03-02T09:55:00Z"},
                   "spec": {"priority": 0, "containers": [{"name": "cuda", "resources":
                     {"limits": {"tencent.com/vcuda-core": "100"}, "requests": {"tencent.com/vcuda-core": "100"}}}]},
                   "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                     "reason": "Unschedulable", "lastTransitionTime": "2026-03-02T09:55:00Z"}]}}]}
                """
                        .formatted(others, gpuPod.uid(), metadata, waiter.uid()));
        return reclaimer(ClusterViews.showing(unschedulable), ledger.budgets(), plans);
    }

    @Test
    void anOverBudgetPodThatHoldsTheOnlyGpuIsEvicted() {
        amongTwoTeams(plans).work(TEN);

        assertThat(api.to("/pods/old/eviction")).hasSize(2);
    }

    private double budgetsAhead() {
        return registry.get("gpusharing.reclaim.ahead").gauge().value();
    }

    @Test
    void nobodyIsEvictedOfABudgetThatWasComputedByAClockThatWasAhead() {
        Reclaimer reclaimer = amongTwoTeams(plans);

        reclaimer.work(TEN.minusSeconds(200));

        assertThat(api.requests).isEmpty();
        assertThat(budgetsAhead()).isEqualTo(1);
        reclaimer.work(TEN.minusSeconds(5));
        assertThat(api.to("/pods/old/eviction")).hasSize(2);
        assertThat(budgetsAhead()).isZero();
    }

    @Test
    void aPodWithoutGpusAndWithHugeLimitsStopsNoRound() {
        beside(
                        withCpu(
                                """
                                {"requests": {"cpu": "1m"}, "limits": {"cpu": "9e999"}}\
                                """))
                .work(TEN);

        assertThat(api.to("/pods/old/eviction")).hasSize(2);
        assertThat(unread).isEmpty();
    }

    @Test
    void aPodThatCannotBeReadFillsItsNodeAndStopsNoRound() {
        beside(withCpu(UNREADABLE)).work(TEN);

        assertThat(api.requests).noneMatch(it -> it.path().endsWith("/eviction"));
        assertThat(unread).extracting(Unreadable::name).containsExactly("odd");
    }

    @Test
    void aPodThatCannotBeReadFillsNothingOnceItHasEnded() {
        beside(withCpu(UNREADABLE).replace("Running", "Succeeded")).work(TEN);

        assertThat(api.to("/pods/old/eviction")).hasSize(2);
    }

    @Test
    void aWaiterThatCannotBeReadStopsNoOther() {
        beside(
                        withCpu(UNREADABLE)
                                .replace("\"nodeName\": \"gpu-1\",", "")
                                .replace(
                                        "\"phase\": \"Running\"",
                                        """
                                        "phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                                          "reason": "Unschedulable", "lastTransitionTime": "2026-03-02T09:50:00Z"}]\
                                        """))
                .work(TEN);

        assertThat(api.to("/pods/old/eviction")).hasSize(2);
        assertThat(unread).extracting(Unreadable::name).containsExactly("odd");
    }

    @Test
    void aNodeThatCannotBeReadOffersNothingAndStopsNoRound() {
        Reclaimer reclaimer = amongTwoTeams(plans);
        api.answer(
                "/nodes",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "gpu-1"},
                  "status": {"allocatable": {"tencent.com/vcuda-core": "100", "cpu": "--"}}}]}
                """);

        reclaimer.work(TEN);

        assertThat(api.requests).noneMatch(it -> it.path().endsWith("/eviction"));
        assertThat(unread).extracting(Unreadable::kind).containsExactly("Node");
    }

    @Test
    void nobodyIsEvictedFromANodeWhoseGpusCannotBeRead() {
        api.answer(
                "/gpunodes",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "gpu-1"},
                  "status": {"gpus": [{"uuid": "GPU-0", "memoryMiB": 15360, "mode": "Idle"}]}}]}
                """);

        amongTwoTeams(plans).work(TEN);

        assertThat(api.requests).noneMatch(it -> it.path().endsWith("/eviction"));
        assertThat(unread).extracting(Unreadable::kind).containsExactly("GpuNode");
    }

    @Test
    void aReservationThatCannotBeReadKeepsNothing() {
        theOnlyGpuIs("Healthy");
        api.answer(
                "/gpureservations",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "odd"}}]}
                """);

        amongTwoTeams(plans).work(TEN);

        assertThat(api.to("/pods/old/eviction")).hasSize(2);
        assertThat(unread).extracting(Unreadable::kind).containsExactly("GpuReservation");
    }

    private void theOnlyGpuHasFailed() {
        theOnlyGpuIs("Unhealthy");
    }

    private void theOnlyGpuIs(String health) {
        api.answer(
                "/gpunodes",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "gpu-1"}, "status": {"gpus":
                  [{"uuid": "GPU-0", "memoryMiB": 15360, "health": "%s", "mode": "Idle"}]}}]}
                """
                        .formatted(health));
    }

    private String reservation() {
        return "/gpureservations/" + waiter.uid();
    }

    @Test
    void theGpuIsKeptForTheWaiterBeforeAnybodyIsEvicted() {
        theOnlyGpuIs("Healthy");

        amongTwoTeams(plans).work(TEN);

        FakeApiServer.Asked kept = api.to(reservation()).getFirst();
        assertThat(kept.body())
                .contains("\"madeBy\":\"Reclaim\"")
                .contains("\"uuid\":\"GPU-0\"", "\"core\":100", "\"whole\":true")
                .contains("\"until\":\"%s\"".formatted(TEN.plusSeconds(90)));
        assertThat(api.to("/pods/old/eviction"))
                .hasSize(2)
                .allSatisfy(it ->
                        assertThat(api.requests.indexOf(it))
                                .isGreaterThan(api.requests.indexOf(kept)));
        assertThat(api.to(reservation())).hasSize(1);
    }

    @Test
    void nobodyIsEvictedWhereTheGpuCannotBeKept() {
        theOnlyGpuIs("Healthy");
        api.refuse(reservation(), 403);

        Reclaimer reclaimer = amongTwoTeams(plans);
        reclaimer.work(TEN);
        reclaimer.work(TEN.plusSeconds(1));

        assertThat(api.to("/pods/old/eviction")).isEmpty();
        assertThat(plans.written()).isZero();
    }

    @Test
    void whereNobodyWentInTheEndNothingIsKept() {
        theOnlyGpuIs("Healthy");
        api.refuse("/eviction", 429);

        amongTwoTeams(plans).work(TEN);

        assertThat(api.to(reservation()))
                .hasSize(2)
                .last()
                .satisfies(it -> assertThat(it.body()).contains("\"until\":\"%s\"".formatted(TEN)));
    }

    @Test
    void whatIsKeptForAPodThatWaitsNoMoreIsNotInTheWay() {
        theOnlyGpuIs("Healthy");
        api.answer(
                "/gpureservations",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "bound-by-now"}, "spec": {
                  "pod": {"namespace": "team-c", "name": "x", "uid": "bound-by-now"}, "priority": 5, "madeBy": "Later",
                  "node": "gpu-1", "gpus": [{"uuid": "GPU-0", "core": 100, "memoryMiB": 0, "whole": true}], "until": "2100-01-01T00:00:00Z"}}]}
                """);

        amongTwoTeams(plans).work(TEN);

        assertThat(api.to("/pods/old/eviction")).hasSize(2);
    }

    @Test
    void nobodyIsEvictedFromAGpuThatItsDevicePluginCallsUnhealthy() {
        theOnlyGpuHasFailed();

        amongTwoTeams(plans).work(TEN);

        assertThat(api.to("/pods/old/eviction")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {403, 404})
    void whereNoGpuNodeCanBeReadOthersAnnotationsSayWhoHoldsTheGpu(int code) {
        theOnlyGpuHasFailed();
        api.refuse("/gpunodes", code);

        amongTwoTeams(plans).work(TEN);

        assertThat(api.to("/pods/old/eviction")).hasSize(2);
    }

    @Test
    void whileTheApiServerDoesNotSayWhetherThereAreGpuNodesNobodyIsEvicted() {
        api.refuse("/gpunodes", 500);

        assertThatExceptionOfType(KubernetesClientException.class)
                .isThrownBy(() -> amongTwoTeams(plans).work(TEN));
        assertThat(api.to("/pods/old/eviction")).isEmpty();
    }

    @Test
    void aPodDeletedWithAYearsGraceIsEvictedLikeAnyOther() {
        amongTwoTeams(
                        plans,
                        "\"deletionTimestamp\": \"2027-03-02T09:40:00Z\", \"deletionGracePeriodSeconds\": 31536000,")
                .work(TEN);

        assertThat(api.to("/pods/old/eviction"))
                .hasSize(2)
                .allMatch(it -> it.body().contains("\"gracePeriodSeconds\":300"));
    }

    @Test
    void aPodThatEndsWithinTheLongestGraceIsWaitedFor() {
        amongTwoTeams(
                        plans,
                        "\"deletionTimestamp\": \"2026-03-02T10:05:00Z\", \"deletionGracePeriodSeconds\": 30,")
                .work(TEN);

        assertThat(api.to("/pods/old/eviction")).isEmpty();
    }

    @Test
    void aPodThatItsKubeletDoesNotEndIsNotEvictedForEver() {
        amongTwoTeams(
                        plans,
                        "\"deletionTimestamp\": \"2026-03-02T09:50:00Z\", \"deletionGracePeriodSeconds\": 300,")
                .work(TEN);

        assertThat(api.to("/pods/old/eviction")).isEmpty();
    }

    @Test
    void aLeaderThatSleptWhileAnotherEvictedEvictsNoOtherPod() {
        Evict another = plan();
        var slept =
                new EvictionPlans(rows, new TransactionTemplate(database.entityTransactions())) {
                    @Override
                    List<Refusal> refusalsSince(Instant instant) {
                        plans.plan(plans.written(), another, "team-b", TEN, TEN.plusSeconds(90));
                        return super.refusalsSince(instant);
                    }
                };

        amongTwoTeams(slept).work(TEN);

        assertThat(api.requests).noneMatch(it -> it.path().endsWith("/eviction"));
    }
}
