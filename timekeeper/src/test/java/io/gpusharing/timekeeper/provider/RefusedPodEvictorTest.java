package io.gpusharing.timekeeper.provider;

import static io.gpusharing.timekeeper.provider.RefusedStartTest.TEN;
import static io.gpusharing.timekeeper.provider.RefusedStartTest.node;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.Terms;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.cluster.ClusterViews;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriters;
import io.gpusharing.timekeeper.provider.ProviderProperties.Action;
import io.gpusharing.timekeeper.reclaim.EvictionReceipts;
import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Receipt;
import io.gpusharing.timekeeper.reclaim.ReceiptCursor;
import io.gpusharing.timekeeper.reclaim.ReceiptSource.Query;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.FakeApiServer.Asked;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.gpusharing.wire.GpuNodeStatus;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RefusedPodEvictorTest {

    private static final Duration DEADLINE = Duration.ofMinutes(2);
    private static final String POD = "/namespaces/team-a/pods/train";

    private static final String OLDER = ", \"creationTimestamp\": \"2026-03-02T09:59:59Z\"";
    private static final String OWNED =
            ", \"ownerReferences\": [{\"kind\": \"Job\", \"name\": \"train\", \"uid\": \"job\", \"controller\": true}]";

    private final FakeApiServer api = new FakeApiServer();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final TestDatabase database = TestDatabase.create();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final Budgets budgets = TestBudgets.on(database, Duration.ofHours(1), clock);
    private final RefusedStartWatch watch =
            new RefusedStartWatch(
                    api.client(),
                    new UnreadableObjects(object -> {}),
                    LedgerWriters.on(database, budgets, registry, Leadership.alone(), clock));
    private final NotStartedEvictions receipts =
            new NotStartedEvictions(
                    database.repository(NotStartedEvictionRepository.class),
                    database.entityTransactions(),
                    budgets);
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);
    private RefusedPodEvictor evictor = evictor(ClusterViews.withNode(), Leadership.alone());

    RefusedPodEvictorTest() throws IOException {
        exists(OLDER);
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private RefusedPodEvictor evictor(ClusterView view, Leadership leadership) {
        return new RefusedPodEvictor(
                api.client(),
                watch,
                receipts,
                view,
                new ProviderProperties(
                        DEADLINE, new ProviderProperties.MemoryOveruse(Action.Tell, DEADLINE)),
                registry,
                leadership,
                clock);
    }

    /** The pod, as the API server has it. */
    private void exists(String more) {
        exists(pod.uid().toString(), Pods.NODE, more);
    }

    private void exists(String uid, String node, String more) {
        api.answer(
                POD,
                """
                {"apiVersion": "v1", "kind": "Pod",
                 "metadata": {"name": "train", "namespace": "team-a", "uid": "%s"%s},
                 "spec": {"nodeName": "%s", "terminationGracePeriodSeconds": 3600},
                 "status": {"phase": "Pending"}}
                """
                        .formatted(uid, more, node));
    }

    private GpuNodeStatus.Refused refused(Instant since, @Nullable Instant until, boolean isFinal) {
        return refused(pod.uid(), since, until, isFinal);
    }

    private static GpuNodeStatus.Refused refused(
            UUID uid, Instant since, @Nullable Instant until, boolean isFinal) {
        return new GpuNodeStatus.Refused(
                uid.toString(),
                "team-a",
                "train",
                since.toString(),
                until == null ? null : until.toString(),
                isFinal,
                false,
                "No GPU has room");
    }

    @Test
    void anEntryThatCannotBeReadHidesNoOtherAndIsTheNodesProblem() {
        var odd =
                new GpuNodeStatus.Refused(
                        "no UUID", "team-a", "other", TEN.toString(), null, false, false, "");

        assertThatThrownBy(() -> watch.onUpdate(node(Pods.NODE, odd, refused(TEN, null, false))))
                .isInstanceOf(IllegalArgumentException.class);

        assertThat(watch.refused()).extracting(RefusedStart::pod).containsExactly(pod.uid());
    }

    private void refusedAtTen() {
        watch.onUpdate(node(Pods.NODE, refused(TEN, null, false)));
    }

    private List<String> evictions() {
        return api.to("/eviction").stream().map(Asked::body).toList();
    }

    private List<Receipt> receipts() {
        return receipts.receipts(new Query("team-a", null, ReceiptCursor.FIRST, 10, it -> true));
    }

    private List<String> events() {
        return api.to("/events").stream().map(Asked::body).toList();
    }

    private @Nullable Instant workAfter(Duration time) {
        clock.set(TEN.plus(time));
        return evictor.work(clock.instant());
    }

    @Test
    void whatCanNeverStartIsEvictedAtOnceAndToldWhy() {
        watch.onUpdate(node(Pods.NODE, refused(TEN, null, true)));

        workAfter(Duration.ofSeconds(1));

        assertThat(evictions())
                .singleElement()
                .asString()
                .contains(
                        "\"uid\":\"%s\"".formatted(pod.uid()),
                        // An hour's grace would be an hour of waiting.
                        "\"gracePeriodSeconds\":300");
        assertThat(events())
                .singleElement()
                .asString()
                .contains(
                        "\"reason\":\"NotStarted\"",
                        "Evicted, because it on gpu-1 can never start: No GPU has room",
                        "is given back");
        assertThat(registry.counter("gpusharing.provider.evictions", "result", "ended").count())
                .isEqualTo(1);
        assertThat(receipts())
                .singleElement()
                .satisfies(receipt -> {
                    assertThat(receipt.cause()).isEqualTo(EvictionReceipts.Cause.NotStarted);
                    assertThat(receipt.result()).isEqualTo("Evicted");
                    assertThat(receipt.because())
                            .isEqualTo(
                                    "team-a/train of budget /team-a was evicted from gpu-1, whose device plugin can never let it start: No GPU has room");
                });
    }

    @Test
    void theReceiptIsWrittenBeforeTheApiServerIsAskedAndClosedAlsoIfItsAnswerIsLost() {
        refusedAtTen();
        api.refuse(POD + "/eviction", 500);

        assertThatThrownBy(() -> workAfter(DEADLINE)).isInstanceOf(RuntimeException.class);
        assertThat(receipts()).extracting(Receipt::result).containsExactly("Planned");

        exists(OLDER + ", \"deletionTimestamp\": \"2026-03-02T10:07:00Z\"");
        workAfter(DEADLINE.plusMinutes(1));
        assertThat(receipts()).extracting(Receipt::result).containsExactly("Evicted");
    }

    @Test
    void whoWasNotEvictedAndWentByItselfIsGone() {
        refusedAtTen();
        api.refuse(POD + "/eviction", 429);
        workAfter(DEADLINE);

        api.refuse(POD, 404);
        workAfter(DEADLINE.plusMinutes(1));

        assertThat(receipts()).extracting(Receipt::result).containsExactly("Gone");
    }

    @Test
    void ofAPodThatHasRunTheReceiptSaysThatAContainerCannotStart() {
        watch.onUpdate(
                node(
                        Pods.NODE,
                        new GpuNodeStatus.Refused(
                                pod.uid().toString(),
                                "team-a",
                                "train",
                                "-8000-01-01T00:00:00Z",
                                null,
                                true,
                                true,
                                "Its GPU is gone")));

        workAfter(Duration.ofSeconds(1));

        assertThat(receipts())
                .extracting(Receipt::because)
                .containsExactly(
                        "team-a/train of budget /team-a was evicted from gpu-1, whose device plugin can never let a container of it start: Its GPU is gone");
    }

    @Test
    void whatIsMadeAnewAndCanNeverStartEitherDoesNotGoRoundInCircles() {
        exists(OLDER + OWNED);
        watch.onUpdate(node(Pods.NODE, refused(TEN, null, true)));
        workAfter(Duration.ofSeconds(1));
        assertThat(evictions()).hasSize(1);

        UUID anew = UUID.randomUUID();
        exists(
                anew.toString(),
                Pods.NODE,
                OWNED + ", \"creationTimestamp\": \"2026-03-02T10:00:02Z\"");
        Instant since = TEN.plusSeconds(3);
        watch.onUpdate(node(Pods.NODE, refused(anew, since, null, true)));
        assertThat(workAfter(Duration.ofSeconds(4))).isEqualTo(since.plus(DEADLINE));
        assertThat(evictions()).hasSize(1);

        workAfter(DEADLINE.plusSeconds(3));
        assertThat(evictions()).hasSize(2);
    }

    @Test
    void allPodsOfAControllerThatWereThereBeforeAreEvictedAtOnce() {
        exists(OLDER + OWNED);
        watch.onUpdate(node(Pods.NODE, refused(TEN, null, true)));
        workAfter(Duration.ofSeconds(1));

        UUID other = UUID.randomUUID();
        exists(other.toString(), Pods.NODE, OLDER + OWNED);
        watch.onUpdate(node(Pods.NODE, refused(other, TEN, null, true)));
        workAfter(Duration.ofSeconds(2));

        assertThat(evictions()).hasSize(2);
    }

    @Test
    void whatMayStillStartIsEvictedAfterTheDeadline() {
        refusedAtTen();

        assertThat(workAfter(Duration.ofSeconds(30))).isEqualTo(TEN.plus(DEADLINE));
        workAfter(DEADLINE.minusMillis(1));
        assertThat(evictions()).isEmpty();

        workAfter(DEADLINE);
        assertThat(evictions()).hasSize(1);
        assertThat(events())
                .singleElement()
                .asString()
                .contains("could not start since 2026-03-02T10:00:00Z");
    }

    @Test
    void nobodyIsEvictedTwice() {
        refusedAtTen();
        workAfter(DEADLINE);
        workAfter(DEADLINE.multipliedBy(2));
        assertThat(evictions()).hasSize(1);

        // Another leader remembers nothing, but the pod ends.
        exists(OLDER + ", \"deletionTimestamp\": \"2026-03-02T10:07:00Z\"");
        evictor = evictor(ClusterViews.withNode(), Leadership.alone());
        workAfter(DEADLINE.multipliedBy(3));
        assertThat(evictions()).hasSize(1);
    }

    @Test
    void whoStartsInTimeIsLeftAlone() {
        refusedAtTen();
        workAfter(Duration.ofSeconds(30));
        watch.onUpdate(node(Pods.NODE, refused(TEN, TEN.plusSeconds(60), false)));

        assertThat(workAfter(DEADLINE.multipliedBy(2))).isNull();
        assertThat(evictions()).isEmpty();
    }

    @Test
    void aPodOfAnotherNodeOrAnotherPodOfItsNameIsLeftAlone() {
        refusedAtTen();
        exists(pod.uid().toString(), "another", OLDER);
        workAfter(DEADLINE);

        evictor = evictor(ClusterViews.withNode(), Leadership.alone());
        exists("6f0d1c9e-7a55-4b0e-9a5e-1f0a2d7a9c11", Pods.NODE, OLDER);
        workAfter(DEADLINE);

        assertThat(evictions()).isEmpty();
    }

    @Test
    void aPodThatIsGoneIsNoFailure() {
        refusedAtTen();
        api.refuse(POD, 404);

        workAfter(DEADLINE);

        assertThat(evictions()).isEmpty();
        assertThat(events()).isEmpty();
    }

    @Test
    void aPodThatMayNotGoIsAskedForAgainAfterAMinute() {
        refusedAtTen();
        api.refuse(POD + "/eviction", 429);

        workAfter(DEADLINE);
        workAfter(DEADLINE.plusSeconds(59));
        assertThat(evictions()).hasSize(1);
        assertThat(events()).isEmpty();
        assertThat(receipts()).extracting(Receipt::result).containsExactly("Refused");

        api.allow(POD + "/eviction");
        workAfter(DEADLINE.plusSeconds(60));
        assertThat(evictions()).hasSize(2);
        assertThat(events()).hasSize(1);
        assertThat(receipts())
                .as("one receipt, however often it is asked for")
                .extracting(Receipt::result, Receipt::at)
                .containsExactly(tuple("Evicted", TEN.plus(DEADLINE)));
    }

    @Test
    void aReplicaThatDoesNotLeadEvictsNobody() {
        evictor = evictor(ClusterViews.withNode(), new Terms().leadership());
        refusedAtTen();

        workAfter(DEADLINE);

        assertThat(evictions()).isEmpty();
    }

    @Test
    void aNodesClockThatIsBehindEndsNothingBeforeItsTime() {
        evictor = evictor(ClusterViews.withPod(pod.facts()), Leadership.alone());
        watch.onUpdate(node(Pods.NODE, refused(TEN.minus(Duration.ofHours(1)), null, false)));

        assertThat(workAfter(Duration.ofSeconds(1))).isEqualTo(TEN.plus(DEADLINE));
        assertThat(evictions()).isEmpty();
    }

    @Test
    void aNodesClockThatIsAheadPutsNothingOff() {
        watch.onUpdate(node(Pods.NODE, refused(TEN.plus(Duration.ofHours(1)), null, false)));
        workAfter(Duration.ofSeconds(1));

        workAfter(DEADLINE.plusSeconds(1));

        assertThat(evictions()).hasSize(1);
    }

    @Test
    void aNodeThatIsDeletedHasRefusedNobody() {
        refusedAtTen();
        watch.onDelete(node(Pods.NODE));

        assertThat(workAfter(DEADLINE)).isNull();
        assertThat(evictions()).isEmpty();
    }
}
