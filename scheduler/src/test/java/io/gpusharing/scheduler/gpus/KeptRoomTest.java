package io.gpusharing.scheduler.gpus;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.Reason;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.gpus.Filtered.Chosen;
import io.gpusharing.scheduler.gpus.Filtered.Nowhere;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.wire.GpuHold;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One GPU, of which a pod that is leaving has 60; those 60 are kept for one that waits. */
class KeptRoomTest {

    private static final Instant NOON = Instant.parse("2026-11-26T12:00:00Z");
    private static final Instant LATE = NOON.plusSeconds(90);
    private static final String NODE = "a";
    private static final String GPU = "GPU-a-0";

    private final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));
    private final GpuPod waiter = pod("waiter", 60, 100);

    @BeforeEach
    void makeRoom() {
        gpus.describe(new SharedNode(NODE, List.of(gpu(GPU)), List.of(), Map.of()));
        gpus.bind(on(pod("victim", 60, 0), NOON.plusSeconds(30)), NODE);
        gpus.keep(
                new KeptRoom(
                        waiter.uid(),
                        waiter.priority(),
                        NODE,
                        List.of(new GpuHold(GPU, 60, 1_024, false)),
                        Set.of("victim"),
                        LATE));
    }

    private static Gpu gpu(String uuid) {
        return new Gpu(uuid, 100, 16_384);
    }

    private static GpuPod pod(String uid, int cores, int priority) {
        var ask = new GpuAsk(1, cores, 1_024, false);
        return new GpuPod(
                uid,
                "team-a",
                uid,
                List.of(new ContainerAsk("c", Kind.App, ask, Set.of())),
                List.of("c"),
                Dialect.Vcuda,
                priority,
                null,
                Strategy.BestFit,
                null);
    }

    private static GpuPod on(GpuPod pod, @Nullable Instant end) {
        return new GpuPod(
                pod.uid(),
                pod.namespace(),
                pod.name(),
                pod.asks().stream()
                        .map(it ->
                                new ContainerAsk(it.container(), it.kind(), it.ask(), Set.of(GPU)))
                        .toList(),
                pod.containers(),
                pod.dialect(),
                pod.priority(),
                end,
                pod.strategy(),
                null);
    }

    /** Whether others could go for it is not looked at here. */
    private Filtered filter(GpuPod pod) {
        Filtered answer = gpus.filter(pod, List.of(NODE), NOON);
        return answer instanceof Nowhere(var failed, var hopeless) && failed.isEmpty()
                ? new Nowhere(hopeless, failed)
                : answer;
    }

    private static final Filtered CHOSEN = new Chosen(NODE);

    private static final Filtered KEPT = new Nowhere(Map.of(NODE, Reason.KEPT), Map.of());

    private static final Filtered NO_ROOM = new Nowhere(Map.of(NODE, Reason.NO_ROOM), Map.of());

    /** The pod has gone, and its device plugin has not noticed yet. */
    private void endTheVictimButNotItsGrant() {
        gpus.forget("victim");
        gpus.describe(
                new SharedNode(
                        NODE,
                        List.of(gpu(GPU)),
                        List.of(),
                        Map.of("victim", List.of(new GpuHold(GPU, 60, 1_024, false)))));
    }

    @Test
    void whatIsFreedGoesToWhomItWasFreedFor() {
        gpus.forget("victim");

        assertThat(filter(pod("same", 60, 100))).isEqualTo(KEPT);
        assertThat(filter(pod("lower", 60, 0))).isEqualTo(KEPT);
        assertThat(filter(waiter)).isEqualTo(CHOSEN);
    }

    @Test
    void aPodOfAHigherPriorityMayHaveIt() {
        gpus.forget("victim");

        assertThat(filter(pod("higher", 60, 101))).isEqualTo(CHOSEN);
    }

    @Test
    void whatWillBeFreeBesideItIsFreeNow() {
        assertThat(filter(pod("too large", 41, 100))).isEqualTo(NO_ROOM);
        assertThat(filter(pod("small", 40, 100))).isEqualTo(CHOSEN);
        assertThat(filter(pod("another", 1, 100))).isEqualTo(NO_ROOM);

        gpus.forget("victim");
        assertThat(filter(waiter)).isEqualTo(CHOSEN);
    }

    @Test
    void whoseDeletionIsNotSeenYetStays() {
        gpus.bind(on(pod("another victim", 10, 0), null), NODE);

        assertThat(filter(pod("small", 30, 100))).isEqualTo(CHOSEN);
        gpus.forget("victim");
        assertThat(filter(pod("one too many", 1, 100))).isEqualTo(KEPT);
    }

    @Test
    void whoMayTakeLongerToEndThanTheRoomIsKeptStays() {
        gpus.bind(on(pod("slow", 40, 0), LATE.plusSeconds(1)), NODE);
        gpus.forget("victim");

        assertThat(filter(pod("small", 10, 100))).isEqualTo(KEPT);
        assertThat(filter(waiter)).isEqualTo(CHOSEN);
    }

    @Test
    void whereSomebodyElseHasTheRoomTheRestIsFree() {
        gpus.forget("victim");
        gpus.bind(on(pod("was being bound when it was planned", 60, 100), null), NODE);

        assertThat(filter(pod("other", 40, 0))).isEqualTo(CHOSEN);
    }

    @Test
    void itIsKeptAlsoWhileAVictimOfAHigherPriorityEnds() {
        keepAllOfTheGpu();
        gpus.bind(on(pod("victim", 60, 1_000), NOON.plusSeconds(30)), NODE);

        assertThat(filter(pod("other", 40, 100))).isEqualTo(KEPT);
    }

    @Test
    void itIsKeptWhileItsVictimIsNotKnownToLeaveAndUntilItsGpuIsTakenBack() {
        keepAllOfTheGpu();
        gpus.bind(on(pod("victim", 60, 0), null), NODE);
        assertThat(filter(pod("other", 40, 100))).isEqualTo(KEPT);

        endTheVictimButNotItsGrant();
        assertThat(filter(pod("other", 40, 100))).isEqualTo(KEPT);
    }

    private void keepAllOfTheGpu() {
        gpus.keep(
                new KeptRoom(
                        waiter.uid(),
                        100,
                        NODE,
                        List.of(new GpuHold(GPU, 100, 0, true)),
                        Set.of("victim"),
                        LATE));
    }

    @Test
    void whereItIsFreeNowThePodWaitsForSomethingElse() {
        gpus.forget("victim");

        assertThat(gpus.awaitsRoom(waiter.uid(), NOON)).isFalse();
    }

    @Test
    void ofTwoForWhomTheSameRoomIsKeptOneGetsIt() {
        gpus.forget("victim");
        GpuPod second = pod("zweiter", 60, 100);
        gpus.keep(
                new KeptRoom(
                        second.uid(),
                        100,
                        NODE,
                        List.of(new GpuHold(GPU, 60, 1_024, false)),
                        Set.of("victim"),
                        LATE));

        assertThat(filter(second)).isEqualTo(KEPT);
        assertThat(filter(waiter)).isEqualTo(CHOSEN);
    }

    @Test
    void aPodAwaitsItsRoomWhileItsVictimsEndAndUntilTheirGpusAreTakenBack() {
        assertThat(gpus.awaitsRoom(waiter.uid(), NOON)).isTrue();
        endTheVictimButNotItsGrant();
        assertThat(filter(waiter)).isEqualTo(NO_ROOM);
        assertThat(gpus.awaitsRoom(waiter.uid(), NOON)).isTrue();

        assertThat(gpus.awaitsRoom(waiter.uid(), LATE)).as("it is late").isFalse();
        assertThat(gpus.awaitsRoom("other", NOON)).isFalse();
    }

    /** Finding: room was written down, the answer came too late, and nobody was asked to go. */
    @Test
    void aPodDoesNotAwaitRoomWhoseVictimNobodyEnds() {
        gpus.forget("victim");
        gpus.bind(on(pod("victim", 60, 0), null), NODE);

        assertThat(gpus.awaitsRoom(waiter.uid(), NOON)).isFalse();
    }

    @Test
    void aPodDoesNotAwaitRoomThatItWillNotGet() {
        gpus.bind(on(pod("higher", 60, 101), null), NODE);
        assertThat(gpus.awaitsRoom(waiter.uid(), NOON)).isFalse();

        gpus.forget("higher");
        gpus.describe(new SharedNode(NODE, List.of(), List.of(gpu(GPU)), Map.of()));
        assertThat(gpus.awaitsRoom(waiter.uid(), NOON)).as("its GPU has failed").isFalse();
    }

    @Test
    void nothingIsKeptForOneThatHasGpusNow() {
        gpus.describe(new SharedNode("b", List.of(gpu("GPU-b-0")), List.of(), Map.of()));
        gpus.forget("victim");
        assertThat(gpus.filter(waiter, List.of("b"), NOON)).isEqualTo(new Chosen("b"));

        assertThat(filter(pod("other", 90, 0))).isEqualTo(CHOSEN);
    }

    @Test
    void itIsKeptAgainForOneThatWasNotBound() {
        gpus.forget("victim");
        filter(waiter);
        gpus.cancel(waiter.uid());

        assertThat(filter(pod("other", 90, 0))).isEqualTo(KEPT);
    }

    @Test
    void nothingIsKeptForOneThatIsBoundOrGone() {
        gpus.forget("victim");
        gpus.bind(on(waiter, null), NODE);
        gpus.forget(waiter.uid());

        assertThat(filter(pod("other", 90, 0))).isEqualTo(CHOSEN);
    }

    @Test
    void whoeverWaitsIsWokenWhenItIsKeptNoLonger() {
        gpus.forget("victim");
        GpuPod refused = pod("other", 90, 0);
        filter(refused);
        assertThat(gpus.wakeable(10, LATE.minusSeconds(1))).isEmpty();

        assertThat(gpus.wakeable(10, LATE)).containsExactly(refused);
        assertThat(gpus.filter(refused, List.of(NODE), LATE)).isEqualTo(CHOSEN);
    }

    @Test
    void itIsKeptWhereAPodIsBoundWithoutHavingBeenPlaced() {
        gpus.forget("victim");

        assertThat(gpus.claim(pod("other", 90, 0), NODE, NOON)).isEmpty();
        assertThat(gpus.claim(waiter, NODE, NOON)).isPresent();
    }

    @Test
    void aWholeGpuIsKeptWhole() {
        gpus.forget("victim");
        keepAllOfTheGpu();

        assertThat(filter(pod("small", 1, 100))).isEqualTo(KEPT);
    }

    @Test
    void whoLooksForVictimsSeesWhatIsKeptFromIt() {
        assertThat(gpus.heldBeside("same", null, 100, List.of(NODE), NOON).get(NODE))
                .extracting(HeldGpus::held)
                .satisfies(held -> assertThat(held).containsOnlyKeys("victim", "waiter"));
        assertThat(gpus.heldBeside("higher", null, 101, List.of(NODE), NOON).get(NODE))
                .extracting(HeldGpus::held)
                .satisfies(held -> assertThat(held).containsOnlyKeys("victim"));
    }
}
