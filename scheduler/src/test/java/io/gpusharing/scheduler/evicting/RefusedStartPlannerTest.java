package io.gpusharing.scheduler.evicting;

import static io.gpusharing.scheduler.evicting.FakeCluster.NODE;
import static io.gpusharing.scheduler.evicting.FakeCluster.away;
import static io.gpusharing.scheduler.evicting.FakeCluster.eviction;
import static io.gpusharing.scheduler.evicting.FakeCluster.inEarnest;
import static io.gpusharing.scheduler.evicting.FakeCluster.refusal;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.Terms;
import io.gpusharing.scheduler.cluster.RefusedStarts;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import io.gpusharing.wire.GpuNodeStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

/** Pods that a device plugin does not let start. */
class RefusedStartPlannerTest extends EvictingTest {

    private static final String UID = "11111111-7a55-4b0e-9a5e-1f0a2d7a9c11";
    private static final String ANEW = "22222222-7a55-4b0e-9a5e-1f0a2d7a9c11";
    private static final String PLAN = "refused-start-" + UID;

    private ObjectNode pod;

    @BeforeEach
    void aPodThatWaitsOnItsNode() {
        refused.onListed();
        pod = exists(UID, "2026-03-02T09:59:59Z");
    }

    private ObjectNode exists(String uid, String created) {
        ObjectNode exists = cluster.pod("team-a", "train");
        exists.withObject("metadata").put("uid", uid).put("creationTimestamp", created);
        exists.withObject("spec").put("terminationGracePeriodSeconds", 3600);
        exists.withObject("status").put("phase", "Pending");
        return exists;
    }

    private static void owned(ObjectNode pod) {
        pod.withObject("metadata")
                .withArray("ownerReferences")
                .addObject()
                .put("kind", "Job")
                .put("name", "train")
                .put("uid", "job")
                .put("controller", true);
    }

    private void refused(String uid, Instant since, @Nullable Instant until, boolean isFinal) {
        says(
                new GpuNodeStatus.Refused(
                        uid,
                        "team-a",
                        "train",
                        since.toString(),
                        until == null ? null : until.toString(),
                        isFinal,
                        false,
                        "No GPU has room"));
    }

    private void says(GpuNodeStatus.Refused... starts) {
        refused.describe(node(starts));
    }

    private static GpuNode node(GpuNodeStatus.Refused... starts) {
        var node = new GpuNode();
        node.setMetadata(new ObjectMetaBuilder().withName(NODE).build());
        node.setStatus(new GpuNodeStatus(null, null, List.of(starts)));
        return node;
    }

    private void refusedAtTen() {
        refused(UID, TEN, null, false);
    }

    /** It is asked for in one round, and evicted in the next. */
    private void workAfter(Duration time) {
        roundAfter(time);
        round();
    }

    private List<String> evictions() {
        return cluster.to(inEarnest("train")).stream().map(Request::body).toList();
    }

    @Test
    void whatCanNeverStartIsEvictedAtOnceAndToldWhy() {
        refused(UID, TEN, null, true);

        workAfter(Duration.ofSeconds(1));

        assertThat(evictions())
                .singleElement()
                .asString()
                // An hour's grace would be an hour of waiting.
                .contains(UID, "\"gracePeriodSeconds\":60");
        assertThat(events())
                .singleElement()
                .asString()
                .contains(
                        "\"reason\":\"NotStarted\"",
                        "Evicted, because it on gpu-1 can never start: No GPU has room. A pod of a controller is made anew",
                        "is given back");
        assertBecame(PLAN, "Done", "Evicted");
        assertThat(evictions("refused_start", "evicted")).isEqualTo(1);
        assertThat(cluster.stored(PLAN).getSpec().victims())
                .singleElement()
                .satisfies(it -> {
                    assertThat(it.why()).isEqualTo("it on gpu-1 can never start: No GPU has room");
                    assertThat(it.node()).isEqualTo(NODE);
                    assertThat(it.budget()).as("the ledger knows it").isNull();
                });
    }

    @Test
    void ofAPodThatHasRunItIsSaidThatAContainerCannotStart() {
        pod.withObject("status").put("phase", "Running");
        says(
                new GpuNodeStatus.Refused(
                        UID,
                        "team-a",
                        "train",
                        "-8000-01-01T00:00:00Z",
                        null,
                        true,
                        true,
                        "Its GPU is gone"));

        workAfter(Duration.ofSeconds(1));

        assertThat(events())
                .singleElement()
                .asString()
                .contains("because a container on gpu-1 can never start: Its GPU is gone")
                .doesNotContain("given back");
    }

    @Test
    void whoWasNotEvictedAndWentByItselfIsGone() {
        refusedAtTen();
        cluster.on(eviction("train"), refusal(429));
        workAfter(DEADLINE);
        assertBecame(PLAN, "Refused", "Refused");

        cluster.remove("team-a/train");
        workAfter(DEADLINE.plusMinutes(1));

        assertBecame(PLAN, "NotDone", "Gone");
    }

    @Test
    void whatIsMadeAnewAndCanNeverStartEitherDoesNotGoRoundInCircles() {
        owned(pod);
        refused(UID, TEN, null, true);
        workAfter(Duration.ofSeconds(1));
        assertThat(evictions()).hasSize(1);

        owned(exists(ANEW, "2026-03-02T10:00:02Z"));
        Instant since = TEN.plusSeconds(3);
        refused(ANEW, since, null, true);
        workAfter(Duration.ofSeconds(4));
        workAfter(DEADLINE.plusSeconds(2));
        assertThat(evictions()).hasSize(1);

        workAfter(DEADLINE.plusSeconds(3));
        assertThat(evictions()).hasSize(2);
    }

    @Test
    void allPodsOfAControllerThatWereThereBeforeAreEvictedAtOnce() {
        owned(pod);
        refused(UID, TEN, null, true);
        workAfter(Duration.ofSeconds(1));

        owned(exists(ANEW, "2026-03-02T09:59:59Z"));
        refused(ANEW, TEN, null, true);
        workAfter(Duration.ofSeconds(2));

        assertThat(evictions()).hasSize(2);
    }

    @Test
    void whatMayStillStartIsEvictedAfterTheDeadline() {
        refusedAtTen();

        workAfter(Duration.ofSeconds(30));
        workAfter(DEADLINE.minusMillis(1));
        assertThat(cluster.evictions()).isEmpty();

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
        replica = replica(Leadership.alone(), registry);
        workAfter(DEADLINE.multipliedBy(3));
        workAfter(DEADLINE.multipliedBy(5));
        assertThat(evictions()).hasSize(1);
        assertThat(cluster.evictions()).hasSize(1);
    }

    @Test
    void whoStartsInTimeIsLeftAlone() {
        refusedAtTen();
        workAfter(Duration.ofSeconds(30));
        refused(UID, TEN, TEN.plusSeconds(60), false);

        workAfter(DEADLINE.multipliedBy(2));

        assertThat(cluster.requests).isEmpty();
    }

    @Test
    void whoIsLetStartBeforeItIsEvictedIsLeftAloneAndIsAskedForAnewWhenItIsRefusedAgain() {
        refusedAtTen();
        roundAfter(DEADLINE);
        assertThat(cluster.evictions()).hasSize(1);
        refused(UID, TEN, TEN.plus(DEADLINE), false);
        pod.withObject("status").put("phase", "Running");

        workAfter(DEADLINE.plusSeconds(30));
        assertThat(cluster.to(eviction("train"))).isEmpty();
        assertBecame(PLAN, "NotDone", "Spared");
        assertThat(status(PLAN).reason()).isEqualTo("it was let start after all");

        pod.withObject("status").put("phase", "Pending");
        Instant again = TEN.plus(DEADLINE).plusSeconds(60);
        refused(UID, again, null, true);
        workAfter(DEADLINE.plusSeconds(90));
        assertBecame(PLAN, "NotDone", "Spared");
        assertBecame(PLAN + "-" + again.getEpochSecond(), "Done", "Evicted");
        assertThat(cluster.evictions()).hasSize(2);
    }

    @Test
    void whoHasJustBegunDoesNotTakeWhatItHasNotReadForALetStart() {
        pod.withObject("status").put("phase", "Running");
        GpuNode node =
                node(
                        new GpuNodeStatus.Refused(
                                UID,
                                "team-a",
                                "train",
                                TEN.toString(),
                                null,
                                true,
                                true,
                                "No GPU"));
        refused.describe(node);
        round();
        var begun = new RefusedStarts();
        replica = replica(Leadership.alone(), registry, begun);
        round();
        assertThat(cluster.stored(PLAN).getStatus()).isNull();

        begun.describe(node);
        begun.onListed();
        roundAfter(Duration.ofSeconds(5));

        assertBecame(PLAN, "Done", "Evicted");
        assertThat(cluster.evictions()).hasSize(1);
    }

    @Test
    void whatWasPlannedByOneWhoWasKilledIsNotDoneOnceThePodRuns() {
        refusedAtTen();
        roundAfter(DEADLINE);
        cluster.once(FakeCluster.writing("Planned"), cluster.answerLost());
        assertThatThrownBy(this::round).isInstanceOf(KubernetesClientException.class);
        replica = replica(Leadership.alone(), registry);
        refused(UID, TEN, TEN.plus(DEADLINE), false);
        roundAfter(DEADLINE.plusSeconds(10));
        assertThat(status(PLAN).phase()).as("it may be refused again").isEqualTo("Planned");
        pod.withObject("status").put("phase", "Running");

        roundAfter(DEADLINE.plusSeconds(20));

        assertBecame(PLAN, "NotDone", "Spared");
        cluster.disrupt("team-a/train", "EvictionByEvictionAPI");
        cluster.remove("team-a/train");
        roundAfter(DEADLINE.plusSeconds(30));
        assertBecame(PLAN, "NotDone", "Spared");
    }

    @Test
    void aPodWithAContainerThatStillWaitsIsNotLetStart() {
        refusedAtTen();
        roundAfter(DEADLINE);
        refused(UID, TEN, TEN.plus(DEADLINE), false);
        pod.withObject("status")
                .put("phase", "Running")
                .withArray("containerStatuses")
                .addObject()
                .put("name", "main")
                .withObject("state")
                .withObject("waiting")
                .put("reason", "CreateContainerError");

        workAfter(DEADLINE.plusSeconds(30));

        assertThat(cluster.stored(PLAN).getStatus()).isNull();
    }

    @Test
    void aPodThatRunsAlthoughItsPluginDidNotSayThatItDoesIsLeftAlone() {
        pod.withObject("status").put("phase", "Running");
        refusedAtTen();

        workAfter(DEADLINE);

        assertThat(cluster.evictions()).isEmpty();
    }

    @Test
    void aPodOfAnotherNodeOrAnotherPodOfItsNameIsLeftAlone() {
        refusedAtTen();
        cluster.bind("team-a/train", "another");
        workAfter(DEADLINE);

        replica = replica(Leadership.alone(), registry);
        exists(ANEW, "2026-03-02T09:59:59Z");
        workAfter(DEADLINE);

        assertThat(cluster.evictions()).isEmpty();
    }

    @Test
    void aPodThatIsGoneIsNoFailure() {
        refusedAtTen();
        cluster.remove("team-a/train");

        workAfter(DEADLINE);

        assertThat(cluster.evictions()).isEmpty();
        assertThat(events()).isEmpty();
    }

    @Test
    void aPodThatMayNotGoIsAskedForAgainAfterAMinute() {
        refusedAtTen();
        cluster.on(eviction("train"), refusal(429));

        workAfter(DEADLINE);
        workAfter(DEADLINE.plusSeconds(59));
        assertThat(cluster.to(eviction("train"))).hasSize(1);
        assertThat(events()).isEmpty();
        assertBecame(PLAN, "Refused", "Refused");

        cluster.asUsual();
        workAfter(DEADLINE.plusSeconds(60));
        assertThat(events()).hasSize(1);
        assertBecame(PLAN, "Done", "Evicted");
        assertThat(cluster.evictions()).as("one receipt, however often it is asked for").hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"500, no", "200, no pod"})
    void oneOfWhichThePodCannotBeReadStopsNoOther(int code, String body) {
        cluster.on(
                it -> it.path().endsWith("/pods/odd"),
                request -> new FakeApiServer.Answer(code, body));
        says(
                new GpuNodeStatus.Refused(
                        ANEW, "team-a", "odd", TEN.toString(), null, true, false, "no"),
                new GpuNodeStatus.Refused(
                        UID, "team-a", "train", TEN.toString(), null, true, false, "no"));

        workAfter(Duration.ofSeconds(1));

        assertBecame(PLAN, "Done", "Evicted");
    }

    @Test
    void whileTheApiServerIsAwayItIsTriedAgain() {
        refused(UID, TEN, null, true);
        cluster.on(it -> it.path().endsWith("/pods/train"), away());
        assertThatThrownBy(() -> roundAfter(Duration.ofSeconds(1)))
                .isInstanceOf(RuntimeException.class);
        cluster.asUsual();

        workAfter(Duration.ofSeconds(6));

        assertBecame(PLAN, "Done", "Evicted");
    }

    @Test
    void aReplicaThatDoesNotLeadAsksForNobody() {
        replica = replica(new Terms().leadership(), registry);
        refusedAtTen();

        workAfter(DEADLINE);

        assertThat(cluster.requests).isEmpty();
    }

    @Test
    void aNodesClockThatIsBehindEndsNothingBeforeItsTime() {
        pod.withObject("status")
                .withArray("conditions")
                .addObject()
                .put("type", "PodScheduled")
                .put("status", "True")
                .put("lastTransitionTime", TEN.toString());
        refused(UID, TEN.minus(Duration.ofHours(1)), null, false);

        workAfter(Duration.ofSeconds(1));
        workAfter(DEADLINE.minusSeconds(1));
        assertThat(cluster.evictions()).isEmpty();

        workAfter(DEADLINE);
        assertThat(evictions()).hasSize(1);
    }

    @Test
    void aNodesClockThatIsAheadPutsNothingOff() {
        refused(UID, TEN.plus(Duration.ofHours(1)), null, false);
        workAfter(Duration.ofSeconds(1));

        workAfter(DEADLINE.plusSeconds(1));

        assertThat(evictions()).hasSize(1);
    }

    @Test
    void aNodeThatIsDeletedHasRefusedNobody() {
        refusedAtTen();
        refused.remove(NODE);

        workAfter(DEADLINE);

        assertThat(cluster.requests).isEmpty();
    }

    @Test
    void anEntryThatCannotBeReadHidesNoOtherAndIsTheNodesProblem() {
        assertThatThrownBy(() ->
                        says(
                                new GpuNodeStatus.Refused(
                                        "no UUID",
                                        "team-a",
                                        "other",
                                        TEN.toString(),
                                        null,
                                        false,
                                        false,
                                        ""),
                                new GpuNodeStatus.Refused(
                                        UID,
                                        "team-a",
                                        "train",
                                        TEN.toString(),
                                        null,
                                        false,
                                        false,
                                        "")))
                .isInstanceOf(IllegalArgumentException.class);

        assertThat(refused.waiting()).extracting(it -> it.pod().toString()).containsExactly(UID);
    }

    @Test
    void aReasonOfAnyLengthFitsIntoThePlan() {
        says(
                new GpuNodeStatus.Refused(
                        UID,
                        "team-a",
                        "train",
                        TEN.toString(),
                        null,
                        true,
                        false,
                        "😀".repeat(2_000)));

        roundAfter(Duration.ofSeconds(1));

        String why = cluster.stored(PLAN).getSpec().victims().getFirst().why();
        assertThat(why.codePointCount(0, why.length())).isEqualTo(1024);
    }
}
