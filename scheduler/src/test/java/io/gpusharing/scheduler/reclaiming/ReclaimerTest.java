package io.gpusharing.scheduler.reclaiming;

import static io.gpusharing.scheduler.reclaiming.TwoTeams.TEN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.scheduler.reclaiming.TwoTeams.Replica;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** For whom evictions are ordered, and what keeps a round from it. */
class ReclaimerTest {

    /** Resources that no API server would store; only whether they can be read matters. */
    private static final String UNREADABLE =
            """
            {"requests": {"cpu": "--"}}\
            """;

    private final TwoTeams teams = new TwoTeams();

    @AfterEach
    void stop() {
        teams.close();
    }

    /** A round beside another pod that somebody has made. */
    private void roundBeside(String pod) {
        teams.others = pod + ",";
        round();
    }

    private void round() {
        teams.replica().work(0);
    }

    private void oldIsToGo() {
        assertThat(teams.orders())
                .singleElement()
                .satisfies(it ->
                        assertThat(it.getSpec().victims())
                                .extracting(victim -> victim.name(), victim -> victim.uid())
                                .containsExactly(tuple("old", teams.victim())));
    }

    private void nobodyIsToGo() {
        assertThat(teams.attempts()).isZero();
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

    @Test
    void anOverBudgetPodThatHoldsTheOnlyGpuIsEvicted() {
        round();

        oldIsToGo();
    }

    private static double budgetsAhead(Replica replica) {
        return replica.registry.get("gpusharing.reclaim.ahead").gauge().value();
    }

    @Test
    void nobodyIsEvictedOfABudgetThatWasComputedByAClockThatWasAhead() {
        Replica replica = teams.replica();

        replica.work(-200);

        assertThat(teams.api.requests).isEmpty();
        assertThat(budgetsAhead(replica)).isEqualTo(1);
        replica.work(-5);
        oldIsToGo();
        assertThat(budgetsAhead(replica)).isZero();
    }

    @Test
    void whileTheLedgerHasNotCaughtUpNobodyIsEvictedAndTheClusterIsNotRead() {
        Replica replica = teams.replica();
        teams.silence = Duration.ofSeconds(91);

        replica.work(0);

        nobodyIsToGo();
        assertThat(teams.api.to("/pods")).isEmpty();
        teams.silence = Duration.ofSeconds(89);
        replica.work(1);
        oldIsToGo();
    }

    @Test
    void aPodWithoutGpusAndWithHugeLimitsStopsNoRound() {
        roundBeside(
                withCpu(
                        """
                        {"requests": {"cpu": "1m"}, "limits": {"cpu": "9e999"}}\
                        """));

        oldIsToGo();
        assertThat(teams.unread).isEmpty();
    }

    @Test
    void aPodThatCannotBeReadFillsItsNodeAndStopsNoRound() {
        roundBeside(withCpu(UNREADABLE));

        nobodyIsToGo();
        assertThat(teams.unread).extracting(Unreadable::name).containsExactly("odd");
    }

    @Test
    void aPodThatCannotBeReadFillsNothingOnceItHasEnded() {
        roundBeside(withCpu(UNREADABLE).replace("Running", "Succeeded"));

        oldIsToGo();
    }

    @Test
    void aWaiterThatCannotBeReadStopsNoOther() {
        roundBeside(
                withCpu(UNREADABLE)
                        .replace("\"nodeName\": \"gpu-1\",", "")
                        .replace(
                                "\"phase\": \"Running\"",
                                """
                                "phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                                  "reason": "Unschedulable", "lastTransitionTime": "2026-03-02T09:50:00Z"}]\
                                """));

        oldIsToGo();
        assertThat(teams.unread).extracting(Unreadable::name).containsExactly("odd");
    }

    @Test
    void aNodeThatCannotBeReadOffersNothingAndStopsNoRound() {
        Replica replica = teams.replica();
        teams.api.answer(
                "/nodes",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "gpu-1"},
                  "status": {"allocatable": {"tencent.com/vcuda-core": "100", "cpu": "--"}}}]}
                """);

        replica.work(0);

        nobodyIsToGo();
        assertThat(teams.unread).extracting(Unreadable::kind).containsExactly("Node");
    }

    @Test
    void nobodyIsEvictedFromANodeWhoseGpusCannotBeRead() {
        teams.api.answer(
                "/gpunodes",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "gpu-1"},
                  "status": {"gpus": [{"uuid": "GPU-0", "memoryMiB": 15360, "mode": "Idle"}]}}]}
                """);

        round();

        nobodyIsToGo();
        assertThat(teams.unread).extracting(Unreadable::kind).containsExactly("GpuNode");
    }

    @Test
    void aReservationThatCannotBeReadKeepsNothing() {
        teams.theOnlyGpuIs("Healthy");
        teams.api.answer(
                "/gpureservations",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "odd"}}]}
                """);

        round();

        oldIsToGo();
        assertThat(teams.unread).extracting(Unreadable::kind).containsExactly("GpuReservation");
    }

    @Test
    void theGpuIsKeptForTheWaiterBeforeAnybodyIsEvicted() {
        teams.theOnlyGpuIs("Healthy");

        round();

        Request kept =
                teams.api.to("/gpureservations").stream()
                        .filter(it -> it.method().equals("POST"))
                        .findFirst()
                        .orElseThrow();
        assertThat(kept.body())
                .contains("\"madeBy\":\"Reclaim\"")
                .contains("\"uuid\":\"GPU-0\"", "\"core\":100", "\"whole\":true")
                .contains("\"until\":\"%s\"".formatted(TEN.plusSeconds(90)));
        assertThat(teams.api.to("/gpuevictions"))
                .singleElement()
                .satisfies(it ->
                        assertThat(teams.api.requests.indexOf(it))
                                .isGreaterThan(teams.api.requests.indexOf(kept)));
        assertThat(teams.orders().getFirst().getSpec().settlesAt())
                .isEqualTo(TEN.plusSeconds(90).toString());
        assertThat(teams.reservations()).hasSize(1);
    }

    @Test
    void nobodyIsEvictedWhereTheGpuCannotBeKept() {
        teams.theOnlyGpuIs("Healthy");
        teams.api.refuse(teams.reservation(), 403);

        Replica replica = teams.replica();
        replica.work(0);
        replica.work(1);

        nobodyIsToGo();
        assertThat(replica.left("not_kept")).isEqualTo(1);
    }

    @Test
    void whatIsKeptForAPodThatWaitsNoMoreIsNotInTheWay() {
        teams.theOnlyGpuIs("Healthy");
        teams.api.answer(
                "/gpureservations",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "bound-by-now"}, "spec": {
                  "pod": {"namespace": "team-c", "name": "x", "uid": "bound-by-now"}, "priority": 5, "madeBy": "Later",
                  "node": "gpu-1", "gpus": [{"uuid": "GPU-0", "core": 100, "memoryMiB": 0, "whole": true}], "until": "2100-01-01T00:00:00Z"}}]}
                """);

        round();

        oldIsToGo();
    }

    @Test
    void nobodyIsEvictedFromAGpuThatItsDevicePluginCallsUnhealthy() {
        teams.theOnlyGpuIs("Unhealthy");

        round();

        nobodyIsToGo();
    }

    @ParameterizedTest
    @ValueSource(ints = {403, 404})
    void whereNoGpuNodeCanBeReadOthersAnnotationsSayWhoHoldsTheGpu(int code) {
        teams.theOnlyGpuIs("Unhealthy");
        teams.api.refuse("/gpunodes", code);

        round();

        oldIsToGo();
    }

    @Test
    void whileTheApiServerDoesNotSayWhetherThereAreGpuNodesNobodyIsEvicted() {
        teams.api.refuse("/gpunodes", 500);

        round();

        nobodyIsToGo();
    }

    private void namespaces(String teamA, String own) {
        teams.api.answer(
                "/namespaces",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "team-a", "annotations": {%s}}},
                  {"metadata": {"name": "team-b"}}, {"metadata": {"name": "gpusharing-system", "annotations": {%s}}}]}
                """
                        .formatted(teamA, own));
    }

    @Test
    void aNamespaceIsLeftAloneForAsLongAsAnAdministratorSaysSo() {
        Replica replica = teams.replica();
        namespaces("\"gpusharing.io/do-not-reclaim\": \"true\"", "");
        replica.work(0);
        nobodyIsToGo();

        namespaces("", "");
        replica.work(1);

        oldIsToGo();
    }

    @Test
    void nobodyIsEvictedWhileReclaimIsPaused() {
        Replica replica = teams.replica();
        namespaces("", "\"gpusharing.io/reclaim-paused\": \"true\"");
        replica.work(0);
        nobodyIsToGo();

        namespaces("", "");
        replica.work(1);

        oldIsToGo();
    }

    @Test
    void aBudgetCountsAlsoBeforeItsNamespaceIsSeen() {
        Replica replica = teams.replica();
        teams.api.answer("/namespaces", "{\"metadata\": {}, \"items\": []}");

        replica.work(0);

        oldIsToGo();
    }

    @Test
    void aPodThatADisruptionBudgetKeepsStaysForAsLongAsThatIsThere() {
        Replica replica = teams.replica();
        teams.api.answer(
                "/poddisruptionbudgets",
                """
                {"metadata": {}, "items": [{"metadata": {"name": "all", "namespace": "team-a"}, "spec": {"selector": {}},
                  "status": {"disruptionsAllowed": 0}}]}
                """);
        replica.work(0);
        nobodyIsToGo();

        teams.api.answer("/poddisruptionbudgets", "{\"metadata\": {}, \"items\": []}");
        replica.work(1);

        oldIsToGo();
    }

    @Test
    void aPodThatIsGoneHoldsNothing() {
        Replica replica = teams.replica();
        replica.shown.show();
        teams.api.answer("/pods", "{\"metadata\": {}, \"items\": []}");

        replica.work(0);

        nobodyIsToGo();
        assertThat(replica.known.anyWaitsSince(TEN)).isFalse();
    }

    @Test
    void aRoundListsNothingButThePodsOfTheNodeThatItDecidesOn() {
        Replica replica = teams.replica();

        replica.work(0);

        oldIsToGo();
        assertThat(teams.api.requests)
                .filteredOn(it -> it.method().equals("GET"))
                .extracting(it -> it.uri().getPath() + " " + it.uri().getQuery())
                .filteredOn(it -> !it.contains("/leases/") && !it.contains("/gpubudgets/"))
                .satisfiesExactly(
                        it ->
                                assertThat(it)
                                        .contains(
                                                "fieldSelector=spec.nodeName=,status.nominatedNodeName=gpu-1&"),
                        it ->
                                assertThat(it)
                                        .contains(
                                                "fieldSelector=spec.nodeName=gpu-1,status.phase!="));
        assertThat(replica.registry.get("gpusharing.reclaim.round").timer().count()).isEqualTo(1);
        assertThat(teams.api.to("/leases/gpusharing-ledger")).hasSize(1);
    }

    @Test
    void aPodDeletedWithAYearsGraceIsEvictedLikeAnyOther() {
        teams.metadata =
                "\"deletionTimestamp\": \"2027-03-02T09:40:00Z\", \"deletionGracePeriodSeconds\": 31536000,";
        round();

        oldIsToGo();
        assertThat(teams.orders().getFirst().getSpec().settlesAt())
                .isEqualTo(TEN.plusSeconds(360).toString());
    }

    @Test
    void aPodThatEndsWithinTheLongestGraceIsWaitedFor() {
        teams.metadata =
                "\"deletionTimestamp\": \"2026-03-02T10:05:00Z\", \"deletionGracePeriodSeconds\": 30,";
        round();

        nobodyIsToGo();
    }

    @Test
    void aPodThatItsKubeletDoesNotEndIsNotEvictedForEver() {
        teams.metadata =
                "\"deletionTimestamp\": \"2026-03-02T09:50:00Z\", \"deletionGracePeriodSeconds\": 300,";
        round();

        nobodyIsToGo();
    }
}
