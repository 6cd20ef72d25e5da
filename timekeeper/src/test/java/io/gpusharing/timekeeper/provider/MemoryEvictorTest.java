package io.gpusharing.timekeeper.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.provider.ProviderProperties.Action;
import io.gpusharing.timekeeper.provider.ProviderProperties.MemoryOveruse;
import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Receipt;
import io.gpusharing.timekeeper.reclaim.ReceiptCursor;
import io.gpusharing.timekeeper.reclaim.ReceiptSource.Query;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.FakeApiServer.Asked;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.gpusharing.timekeeper.usage.UsageReport.MemoryExceeded;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.support.TransactionTemplate;

/** Pods that hold more GPU memory than they were given. */
class MemoryEvictorTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration AFTER = Duration.ofMinutes(10);
    private static final String METERED = "\"labels\": {\"gpusharing.io/metered\": \"true\"}";

    private final FakeApiServer api = new FakeApiServer();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final TestDatabase database = TestDatabase.create();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final Budgets budgets = TestBudgets.on(database, Duration.ofHours(1), clock);
    private final UUID uid = UUID.randomUUID();
    private final MemoryEvictions receipts = new MemoryEvictions(database.rows(), budgets);
    private MemoryExcesses excesses = excesses(Action.Evict);
    private MemoryEvictor evictor = evictor(Action.Evict);

    MemoryEvictorTest() throws IOException {
        exists(METERED, "node-1");
        namespace("{}");
    }

    private void namespace(String annotations) {
        api.answer(
                "/api/v1/namespaces/team-a",
                """
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a", "annotations": %s}}
                """
                        .formatted(annotations));
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private static ProviderProperties properties(Action action) {
        return new ProviderProperties(AFTER, new MemoryOveruse(action, AFTER));
    }

    private MemoryExcesses excesses(Action action) {
        return new MemoryExcesses(
                database.rows(),
                new TransactionTemplate(database.transactions()),
                properties(action));
    }

    private MemoryEvictor evictor(Action action) {
        return new MemoryEvictor(
                api.client(),
                excesses,
                receipts,
                properties(action),
                registry,
                Leadership.alone(),
                clock);
    }

    private void exists(String metadata, String node) {
        exists(metadata, node, 0);
    }

    private void exists(String metadata, String node, int priority) {
        api.answer(
                "/namespaces/team-a/pods/train",
                """
                {"apiVersion": "v1", "kind": "Pod",
                 "metadata": {"name": "train", "namespace": "team-a", "uid": "%s", %s},
                 "spec": {"nodeName": "%s", "priority": %d, "terminationGracePeriodSeconds": 3600},
                 "status": {"phase": "Running"}}
                """
                        .formatted(uid, metadata, node, priority));
    }

    private void reported(long usedMebibytes, Duration afterTen) {
        reported("node-1", usedMebibytes, afterTen);
    }

    private void reported(String node, long usedMebibytes, Duration afterTen) {
        excesses.reported(
                node,
                List.of(
                        new MemoryExceeded(
                                uid,
                                "team-a",
                                "train",
                                "GPU-1",
                                usedMebibytes << 20,
                                7_680L << 20)),
                TEN.plus(afterTen));
    }

    private void givenBack(Duration afterTen) {
        excesses.reported("node-1", List.of(), TEN.plus(afterTen));
    }

    /** Each half minute until then. */
    private void reportedUntil(Duration afterTen) {
        for (Duration at = Duration.ZERO; at.compareTo(afterTen) <= 0; at = at.plusSeconds(30)) {
            reported(9_100, at);
        }
    }

    private List<String> evictionsAfter(Duration afterTen) {
        clock.set(TEN.plus(afterTen));
        evictor.work(clock.instant());
        return api.to("/eviction").stream().map(Asked::body).toList();
    }

    private List<Receipt> receipts() {
        return receipts.receipts(new Query("team-a", null, ReceiptCursor.FIRST, 10, it -> true));
    }

    @Test
    void whoHoldsTooMuchForAsLongAsTheSiteGivesIsEvictedAndToldWhy() {
        reportedUntil(AFTER.minusSeconds(30));
        assertThat(evictionsAfter(AFTER.minusSeconds(1))).isEmpty();

        reportedUntil(AFTER);

        assertThat(evictionsAfter(AFTER))
                .singleElement()
                .satisfies(asked ->
                        assertThat(asked).contains(uid.toString(), "\"gracePeriodSeconds\":300"));
        assertThat(api.to("/events").stream().map(Asked::body))
                .singleElement()
                .asString()
                .contains(
                        "GpuMemoryExceeded",
                        "Evicted, because it held 9100 MiB of GPU-1 and was given 7680, at least since 2026-03-02T10:00:00Z.");
        assertThat(receipts())
                .singleElement()
                .satisfies(receipt -> {
                    assertThat(receipt.cause()).hasToString("MemoryExceeded");
                    assertThat(receipt.result()).isEqualTo("Evicted");
                    assertThat(receipt.because())
                            .isEqualTo(
                                    "team-a/train of budget /team-a was evicted from node-1: it held 9100 MiB of GPU-1 and was given 7680, at least since 2026-03-02T10:00:00Z");
                });
        assertThat(
                        registry.get("gpusharing.provider.memory.evictions")
                                .tag("result", "ended")
                                .counter()
                                .count())
                .isEqualTo(1);
    }

    /** Whoever may write a pod's status may leave it without one. */
    @Test
    void aPodWithoutAPhaseHasNotEnded() {
        api.answer(
                "/namespaces/team-a/pods/train",
                """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train", "namespace": "team-a", "uid": "%s", %s},
                 "spec": {"nodeName": "node-1"}, "status": {}}
                """
                        .formatted(uid, METERED));
        reportedUntil(AFTER);

        assertThat(evictionsAfter(AFTER)).hasSize(1);
    }

    @Test
    void whoHasGivenItBackMeanwhileBeginsAnew() {
        reportedUntil(AFTER.minusSeconds(30));
        givenBack(AFTER.minusSeconds(15));
        reported(9_100, AFTER);
        reported(9_100, AFTER.plusMinutes(1));

        assertThat(evictionsAfter(AFTER.plusMinutes(1))).isEmpty();
    }

    @Test
    void whoHasJustGivenItBackStays() {
        reportedUntil(AFTER);
        givenBack(AFTER.plusSeconds(5));

        assertThat(evictionsAfter(AFTER.plusSeconds(10))).isEmpty();
    }

    @Test
    void ofWhomAnotherNodesAgentSaysNothingItIsStillKnown() {
        reportedUntil(AFTER);
        excesses.reported("node-2", List.of(), TEN.plus(AFTER));

        assertThat(evictionsAfter(AFTER)).hasSize(1);
    }

    @Test
    void whatAnotherNodesAgentHasSaidOfItDoesNotCount() {
        for (Duration at = Duration.ZERO; at.compareTo(AFTER) < 0; at = at.plusSeconds(30)) {
            reported("node-2", 9_100, at);
        }
        reported(9_100, AFTER);

        assertThat(evictionsAfter(AFTER)).isEmpty();
    }

    @Test
    void whileTheAgentIsSilentNothingIsKnown() {
        reportedUntil(AFTER);
        assertThat(evictionsAfter(AFTER.plus(MemoryExcesses.GAP).plusSeconds(1))).isEmpty();

        reported(9_100, AFTER.plus(MemoryExcesses.GAP).plusSeconds(1));

        assertThat(evictionsAfter(AFTER.plus(MemoryExcesses.GAP).plusSeconds(2))).isEmpty();
    }

    @Test
    void aReplicaWhoseClockIsFarAheadEvictsNobody() {
        reported(9_100, Duration.ZERO);
        reported(9_100, Duration.ofHours(1));
        assertThat(evictionsAfter(Duration.ofMinutes(1))).isEmpty();

        reported(9_100, Duration.ofMinutes(1));
        reported(9_100, Duration.ofMinutes(2));

        assertThat(evictionsAfter(Duration.ofMinutes(2))).isEmpty();
    }

    @Test
    void whatAReplicaAheadHasSaidEndsWithWhatTheOthersSay() {
        reported(9_100, Duration.ofMinutes(60));
        reported(9_100, Duration.ofMinutes(80));
        givenBack(Duration.ofMinutes(2));

        assertThat(evictionsAfter(Duration.ofMinutes(80))).isEmpty();
    }

    @Test
    void whereTheApiServerAnswersSomethingElseNobodyWasEvicted() {
        api.refuse("/eviction", 500);
        reportedUntil(AFTER);

        evictionsAfter(AFTER);

        assertThat(receipts().getFirst().result()).isEqualTo("Refused");
    }

    @Test
    void whatBecameOfOneWithoutAnAnswerIsFoundOut() {
        reportedUntil(AFTER);
        MemoryExcess excess = excesses.lasting(AFTER, TEN.plus(AFTER)).getFirst();
        receipts.plan(excess, TEN.plus(AFTER));
        givenBack(AFTER.plusSeconds(1));
        assertThat(receipts().getFirst().result()).isEqualTo("Planned");

        evictionsAfter(AFTER.plusSeconds(2));

        assertThat(receipts().getFirst().result()).isEqualTo("Refused");
    }

    @Test
    void aReportThatComesLateChangesNothing() {
        reportedUntil(AFTER);
        givenBack(AFTER.minusSeconds(1));

        assertThat(evictionsAfter(AFTER)).hasSize(1);
    }

    @Test
    void whoWasEvictedIsNotAskedForAgain() {
        reportedUntil(AFTER);
        evictionsAfter(AFTER);

        exists(METERED + ", \"deletionTimestamp\": \"2026-03-02T10:15:00Z\"", "node-1");
        reported(9_100, AFTER.plusSeconds(90));

        assertThat(evictionsAfter(AFTER.plusMinutes(2))).hasSize(1);
    }

    @Test
    void whomADisruptionBudgetKeepsIsAskedForEachMinute() {
        api.refuse("/eviction", 429);
        reportedUntil(AFTER.plusMinutes(1));
        evictionsAfter(AFTER);
        assertThat(evictionsAfter(AFTER.plusSeconds(59))).hasSize(1);
        assertThat(receipts().getFirst().result()).isEqualTo("Refused");

        assertThat(evictionsAfter(AFTER.plusMinutes(1))).hasSize(2);
        assertThat(receipts()).hasSize(1);
    }

    @Test
    void softwareOfTheClusterItselfStays() {
        exists(METERED, "node-1", 2_000_001_000);
        reportedUntil(AFTER);

        assertThat(evictionsAfter(AFTER)).isEmpty();
    }

    @Test
    void anAgentIsBelievedAboutPodsOfItsOwnNodeOnly() {
        exists(METERED, "node-2");
        reportedUntil(AFTER);

        assertThat(evictionsAfter(AFTER)).isEmpty();
        assertThat(receipts()).isEmpty();
    }

    @Test
    void aPodThatAskedForNoGpuWasGivenNothing() {
        exists("\"labels\": {}", "node-1");
        reportedUntil(AFTER);

        assertThat(evictionsAfter(AFTER)).isEmpty();
    }

    @Test
    void whomAnAdministratorHasExemptedStays() {
        exists(
                METERED + ", \"annotations\": {\"gpusharing.io/do-not-reclaim\": \"true\"}",
                "node-1");
        reportedUntil(AFTER);

        assertThat(evictionsAfter(AFTER)).isEmpty();
    }

    @Test
    void wholeNamespacesAreExemptedToo() {
        namespace("{\"gpusharing.io/do-not-reclaim\": \"true\"}");
        reportedUntil(AFTER);

        assertThat(evictionsAfter(AFTER)).isEmpty();
    }

    @Test
    void byDefaultNobodyIsEvictedAndNothingIsToBeRemembered() {
        excesses = excesses(Action.Tell);
        evictor = evictor(Action.Tell);
        reportedUntil(AFTER);

        assertThat(evictionsAfter(AFTER)).isEmpty();
        assertThat(excesses.isWanted()).isFalse();
    }
}
