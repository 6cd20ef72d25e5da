package io.gpusharing.timekeeper.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Status;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.cluster.ClusterViews;
import io.gpusharing.timekeeper.provider.ProviderProperties.Action;
import io.gpusharing.timekeeper.provider.ProviderProperties.MemoryOveruse;
import io.gpusharing.timekeeper.receipt.EvictionWatch;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.FakeApiServer.Asked;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.gpusharing.timekeeper.usage.UsageReport.MemoryExceeded;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.transaction.support.TransactionTemplate;

/** Pods that hold more GPU memory than they were given. */
class MemoryEvictionRequesterTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration AFTER = Duration.ofMinutes(10);

    private final FakeApiServer api = new FakeApiServer();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final TestDatabase database = TestDatabase.create();
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN.minusSeconds(60));
    private final UUID uid = pod.uid();
    private final String asked = "memory-%s-%d".formatted(uid, TEN.getEpochSecond());
    private final ClusterView view = ClusterViews.showing(pod.facts());
    private final EvictionWatch watch =
            new EvictionWatch(api.client(), new UnreadableObjects(_ -> {}));
    private MemoryExcesses excesses = excesses(Action.Evict);
    private MemoryEvictionRequester requester = requester(Action.Evict);

    MemoryEvictionRequesterTest() throws IOException {
        watch.onListed();
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private static ProviderProperties properties(Action action) {
        return new ProviderProperties(new MemoryOveruse(action, AFTER));
    }

    private MemoryExcesses excesses(Action action) {
        return new MemoryExcesses(
                database.rows(),
                new TransactionTemplate(database.transactions()),
                properties(action));
    }

    private MemoryEvictionRequester requester(Action action) {
        return requester(watch, view, action);
    }

    private MemoryEvictionRequester requester(
            EvictionWatch evictions, ClusterView pods, Action action) {
        return new MemoryEvictionRequester(
                api.client(),
                evictions,
                excesses,
                pods,
                TestBudgets.on(database, Duration.ofHours(1), clock),
                properties(action),
                Leadership.alone(),
                clock);
    }

    private void reported(long usedMebibytes, Duration afterTen) {
        reported(Pods.NODE, usedMebibytes, afterTen);
    }

    private void reported(String node, long usedMebibytes, Duration afterTen) {
        excesses.reported(node, List.of(exceeded(pod.facts(), usedMebibytes)), TEN.plus(afterTen));
    }

    private static MemoryExceeded exceeded(PodFacts pod, long usedMebibytes) {
        return new MemoryExceeded(
                pod.uid(), pod.namespace(), pod.name(), "GPU-1", usedMebibytes << 20, 7_680L << 20);
    }

    private void givenBack(Duration afterTen) {
        excesses.reported(Pods.NODE, List.of(), TEN.plus(afterTen));
    }

    /** Each half minute until then. */
    private void reportedUntil(Duration afterTen) {
        for (Duration at = Duration.ZERO; at.compareTo(afterTen) <= 0; at = at.plusSeconds(30)) {
            reported(9_100, at);
        }
    }

    /** What was to be created by then. */
    private List<GpuEviction> askedBy(Duration afterTen) {
        clock.set(TEN.plus(afterTen));
        requester.work(clock.instant());
        return api.to("/gpuevictions").stream()
                .filter(it -> it.method().equals("POST"))
                .map(it -> Serialization.unmarshal(it.body(), GpuEviction.class))
                .toList();
    }

    /** The pod is asked for, and the watch shows how far that has come. */
    private void isAskedFor(Phase phase) {
        reportedUntil(AFTER);
        GpuEviction object = askedBy(AFTER).getFirst();
        object.getMetadata().setUid(UUID.randomUUID().toString());
        object.getMetadata().setResourceVersion("77");
        object.getMetadata().setCreationTimestamp(TEN.plus(AFTER).toString());
        if (phase != Phase.Asked) {
            object.setStatus(new Status(phase.name(), null, null, null, null, null));
        }
        watch.onUpdate(object);
    }

    private List<Asked> takenBack() {
        return api.to("/gpuevictions/" + asked).stream()
                .filter(it -> it.method().equals("DELETE"))
                .toList();
    }

    @Test
    void whoHoldsTooMuchForAsLongAsTheSiteGivesIsAskedFor() {
        reportedUntil(AFTER.minusSeconds(30));
        assertThat(askedBy(AFTER.minusSeconds(1))).isEmpty();

        reportedUntil(AFTER);

        assertThat(askedBy(AFTER))
                .singleElement()
                .satisfies(it -> {
                    assertThat(it.getMetadata().getName()).isEqualTo(asked);
                    assertThat(it.getStatus()).isNull();
                    assertThat(it.getSpec().cause()).isEqualTo("MemoryOveruse");
                    assertThat(it.getSpec().waiter()).isNull();
                    assertThat(it.getSpec().victims())
                            .containsExactly(
                                    new Victim(
                                            "team-a",
                                            pod.facts().name(),
                                            uid.toString(),
                                            Pods.NODE,
                                            null,
                                            null,
                                            null,
                                            "held 9100 MiB of GPU-1 and was given 7680, at least since 2026-03-02T10:00:00Z",
                                            null,
                                            null,
                                            null));
                });
    }

    @ParameterizedTest
    @EnumSource(Phase.class)
    void whoIsAskedForIsNotAskedForAgain(Phase phase) {
        isAskedFor(phase);
        reported(9_100, AFTER.plusSeconds(90));

        assertThat(askedBy(AFTER.plusMinutes(2))).hasSize(1);
        assertThat(takenBack()).isEmpty();
    }

    @Test
    void whatTheWatchDoesNotShowYetIsNoFailure() {
        reportedUntil(AFTER);
        askedBy(AFTER);

        assertThat(askedBy(AFTER.plusSeconds(30))).hasSize(2);
        assertThat(api.created("/gpuevictions")).isEqualTo(1);
    }

    @Test
    void beforeEvictionsAndPodsAreKnownNobodyIsAskedForAndBothAreSoonLookedAtAgain() {
        var unlisted = new EvictionWatch(api.client(), new UnreadableObjects(_ -> {}));
        reportedUntil(AFTER);

        for (MemoryEvictionRequester early :
                List.of(
                        requester(unlisted, view, Action.Evict),
                        requester(watch, new ClusterView(), Action.Evict))) {
            requester = early;

            assertThat(askedBy(AFTER)).isEmpty();
            assertThat(requester.work(clock.instant())).isEqualTo(TEN.plus(AFTER).plusSeconds(1));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"Asked", "Refused"})
    void whatWasAskedForIsTakenBackOnceThePodHasGivenItBack(Phase phase) {
        isAskedFor(phase);
        givenBack(AFTER.plusSeconds(5));

        askedBy(AFTER.plusSeconds(10));

        assertThat(takenBack())
                .singleElement()
                .satisfies(it ->
                        assertThat(it.body())
                                .as("if the evictor has not begun meanwhile")
                                .contains("\"resourceVersion\":\"77\""));
    }

    @ParameterizedTest
    @EnumSource(names = {"Planned", "Done", "NotDone"})
    void whatIsBeingCarriedOutOrHasEndedIsNotTakenBack(Phase phase) {
        isAskedFor(phase);
        givenBack(AFTER.plusSeconds(5));

        askedBy(AFTER.plusSeconds(10));

        assertThat(takenBack()).isEmpty();
    }

    @Test
    void whatTheEvictorHasBegunMeanwhileIsNoFailure() {
        isAskedFor(Phase.Asked);
        givenBack(AFTER.plusSeconds(5));
        api.refuse("/gpuevictions/" + asked, 409);

        askedBy(AFTER.plusSeconds(10));

        assertThat(takenBack()).hasSize(1);
    }

    @Test
    void whatWasAskedForIsTakenBackWhereTheSiteEvictsNobodyAnyMore() {
        isAskedFor(Phase.Asked);
        requester = requester(Action.Tell);

        askedBy(AFTER.plusSeconds(10));

        assertThat(takenBack()).hasSize(1);
    }

    @Test
    void evictionsOfOtherCausesAreNotOursToTakeBack() {
        reportedUntil(AFTER);
        GpuEviction other = askedBy(AFTER).getFirst();
        GpuEviction.Spec spec = other.getSpec();
        other.getMetadata().setUid(UUID.randomUUID().toString());
        other.getMetadata().setCreationTimestamp(TEN.toString());
        other.getMetadata().setName("refused-start-" + uid);
        other.setSpec(
                new GpuEviction.Spec(
                        "RefusedStart", spec.node(), spec.victims(), null, null, null));
        watch.onUpdate(other);
        givenBack(AFTER.plusSeconds(5));

        askedBy(AFTER.plusSeconds(10));

        assertThat(api.requests).noneMatch(it -> it.method().equals("DELETE"));
    }

    @Test
    void whoHasGivenItBackMeanwhileBeginsAnew() {
        reportedUntil(AFTER.minusSeconds(30));
        givenBack(AFTER.minusSeconds(15));
        reported(9_100, AFTER);
        reported(9_100, AFTER.plusMinutes(1));

        assertThat(askedBy(AFTER.plusMinutes(1))).isEmpty();
    }

    @Test
    void whoHasJustGivenItBackStays() {
        reportedUntil(AFTER);
        givenBack(AFTER.plusSeconds(5));

        assertThat(askedBy(AFTER.plusSeconds(10))).isEmpty();
    }

    @Test
    void ofWhomAnotherNodesAgentSaysNothingItIsStillKnown() {
        reportedUntil(AFTER);
        excesses.reported("node-2", List.of(), TEN.plus(AFTER));

        assertThat(askedBy(AFTER)).hasSize(1);
    }

    @Test
    void whatAnotherNodesAgentHasSaidOfItDoesNotCount() {
        for (Duration at = Duration.ZERO; at.compareTo(AFTER) < 0; at = at.plusSeconds(30)) {
            reported("node-2", 9_100, at);
        }
        reported(9_100, AFTER);

        assertThat(askedBy(AFTER)).isEmpty();
    }

    @Test
    void anAgentIsBelievedAboutPodsOfItsOwnNodeOnly() {
        for (Duration at = Duration.ZERO; at.compareTo(AFTER) <= 0; at = at.plusSeconds(30)) {
            reported("node-2", 9_100, at);
        }

        assertThat(askedBy(AFTER)).isEmpty();
    }

    @Test
    void ofAPodThatNobodyKnowsAnAgentSaysNothing() {
        ClusterViews.show(view, List.of());
        reportedUntil(AFTER);

        assertThat(askedBy(AFTER)).isEmpty();
    }

    @Test
    void whoHasEndedIsNotAskedFor() {
        ClusterViews.show(view, List.of(pod.finishedAt(TEN.plusSeconds(30)).facts()));
        reportedUntil(AFTER);

        assertThat(askedBy(AFTER)).isEmpty();
    }

    @Test
    void whileTheAgentIsSilentNothingIsKnown() {
        reportedUntil(AFTER);
        assertThat(askedBy(AFTER.plus(MemoryExcesses.GAP).plusSeconds(1))).isEmpty();

        reported(9_100, AFTER.plus(MemoryExcesses.GAP).plusSeconds(1));

        assertThat(askedBy(AFTER.plus(MemoryExcesses.GAP).plusSeconds(2))).isEmpty();
    }

    @Test
    void aReplicaWhoseClockIsFarAheadAsksForNobody() {
        reported(9_100, Duration.ZERO);
        reported(9_100, Duration.ofHours(1));
        assertThat(askedBy(Duration.ofMinutes(1))).isEmpty();

        reported(9_100, Duration.ofMinutes(1));
        reported(9_100, Duration.ofMinutes(2));

        assertThat(askedBy(Duration.ofMinutes(2))).isEmpty();
    }

    @Test
    void whatAReplicaAheadHasSaidEndsWithWhatTheOthersSay() {
        reported(9_100, Duration.ofMinutes(60));
        reported(9_100, Duration.ofMinutes(80));
        givenBack(Duration.ofMinutes(2));

        assertThat(askedBy(Duration.ofMinutes(80))).isEmpty();
    }

    @Test
    void aReportThatComesLateChangesNothing() {
        reportedUntil(AFTER);
        givenBack(AFTER.minusSeconds(1));

        assertThat(askedBy(AFTER)).hasSize(1);
    }

    @Test
    void whatTheApiServerDoesNotTakeIsTriedAgainAndStopsNoOther() {
        Pods second = Pods.waiting("team-a", 50, 15).boundAt(TEN.minusSeconds(60));
        ClusterViews.show(view, List.of(pod.facts(), second.facts()));
        for (Duration at = Duration.ZERO; at.compareTo(AFTER) <= 0; at = at.plusSeconds(30)) {
            excesses.reported(
                    Pods.NODE,
                    List.of(exceeded(pod.facts(), 9_100), exceeded(second.facts(), 9_100)),
                    TEN.plus(at));
        }
        api.refuse("/gpuevictions", 403);

        assertThatExceptionOfType(KubernetesClientException.class).isThrownBy(() -> askedBy(AFTER));

        assertThat(api.to("/gpuevictions")).hasSize(2);
    }

    @Test
    void byDefaultNobodyIsAskedForAndNothingIsToBeRemembered() {
        excesses = excesses(Action.Tell);
        requester = requester(Action.Tell);
        reportedUntil(AFTER);

        assertThat(askedBy(AFTER)).isEmpty();
        assertThat(excesses.isWanted()).isFalse();
    }
}
