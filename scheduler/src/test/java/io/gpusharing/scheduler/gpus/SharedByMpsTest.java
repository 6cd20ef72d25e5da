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
import io.gpusharing.sharing.GpuGroup;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.wire.GpuHold;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Pods of two teams, and such that take turns, on nodes that serve MPS or do not. */
class SharedByMpsTest {

    private static final Instant NOON = Instant.parse("2026-11-25T12:00:00Z");
    private static final Sharing TEAM_A = Sharing.cooperative("budget/team-a");
    private static final Sharing TEAM_B = Sharing.cooperative("budget/team-b");
    private static final Sharing TURNS = Sharing.TIME_SLICES;

    private final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));

    private void node(String name, int count, boolean servesMps) {
        node(name, count, servesMps, Map.of());
    }

    private void node(
            String name, int count, boolean servesMps, Map<String, List<GpuHold>> granted) {
        gpus.describe(
                new SharedNode(
                        name,
                        IntStream.range(0, count)
                                .mapToObj(i -> new Gpu(name + i, 100, 16_384))
                                .toList(),
                        List.of(),
                        granted,
                        Map.of(),
                        "",
                        servesMps,
                        Set.of()));
    }

    private static GpuPod pod(String uid, int cores, Sharing sharing) {
        return pod(uid, cores, sharing, null);
    }

    private static GpuPod pod(String uid, int cores, Sharing sharing, @Nullable GpuGroup group) {
        var ask = new GpuAsk(1, cores, 1_024, false);
        return new GpuPod(
                uid,
                "namespace",
                uid,
                ContainerAsk.shared(
                        List.of(new ContainerAsk("c", Kind.App, ask, Set.of())), sharing),
                List.of("c"),
                Dialect.Vcuda,
                0,
                null,
                Strategy.BestFit,
                group);
    }

    private String bind(GpuPod pod, String node) {
        assertThat(filter(pod, node)).isEqualTo(new Chosen(node));
        GpuHold held = gpus.claim(pod.uid(), node, NOON).orElseThrow().held().getFirst();
        gpus.bind(pod.only(held.gpu()), node);
        return held.gpu();
    }

    private Filtered filter(GpuPod pod, String... nodes) {
        return gpus.filter(pod, List.of(nodes), NOON);
    }

    private static Nowhere nowhere(String node, Reason reason) {
        return new Nowhere(Map.of(), Map.of(node, reason));
    }

    @Test
    void podsOfTwoTeamsNeverShareAGpuAndPodsThatTakeTurnsNone() {
        node("a", 3, true);

        assertThat(bind(pod("a-1", 30, TEAM_A), "a"))
                .isEqualTo(bind(pod("a-2", 30, TEAM_A), "a"))
                .isNotEqualTo(bind(pod("b-1", 30, TEAM_B), "a"));
        assertThat(bind(pod("turns-1", 30, TURNS), "a"))
                .isEqualTo(bind(pod("turns-2", 30, TURNS), "a"))
                .isNotIn("a0", "a1");
        assertThat(filter(pod("other", 10, Sharing.cooperative("cluster")), "a"))
                .isEqualTo(nowhere("a", Reason.SHARED_OTHERWISE));
    }

    @Test
    void whoWaitsForNothingButTheSharingIsToldSo() {
        node("a", 1, true);
        bind(pod("a-1", 30, TEAM_A), "a");

        filter(pod("b-1", 30, TEAM_B), "a");

        assertThat(gpus.news(1, NOON.plusSeconds(60)))
                .singleElement()
                .extracting(PodNews::text)
                .isEqualTo(
                        "each GPU that has room for it is shared by pods that it may not share one with");
    }

    @Test
    void whereNoMpsIsServedAllTakeTurns() {
        node("a", 1, false);

        assertThat(bind(pod("a-1", 30, TEAM_A), "a"))
                .isEqualTo(bind(pod("b-1", 30, TEAM_B), "a"))
                .isEqualTo(bind(pod("turns", 30, TURNS), "a"));
    }

    @Test
    void aPodGoesToItsOwnWhereverOthersLeaveLess() {
        node("a", 1, true);
        node("b", 1, true);
        bind(pod("a-1", 10, TEAM_A), "a");
        bind(pod("b-1", 60, TEAM_B), "b");

        assertThat(filter(pod("a-2", 30, TEAM_A), "a", "b")).isEqualTo(new Chosen("a"));
    }

    @Test
    void thatOneTeamsPodDoesNotFitSaysNothingOfAnothers() {
        node("a", 1, true);
        bind(pod("a-1", 30, TEAM_A), "a");

        assertThat(filter(pod("b-1", 30, TEAM_B), "a")).isInstanceOf(Nowhere.class);
        assertThat(filter(pod("a-2", 30, TEAM_A), "a")).isEqualTo(new Chosen("a"));
    }

    @Test
    void aReservationIsInTheDomainOfItsPod() {
        node("a", 1, true);
        filter(pod("a-1", 30, TEAM_A), "a");

        assertThat(gpus.claim(pod("b-1", 30, TEAM_B), "a", NOON)).isEmpty();
        assertThat(gpus.claim(pod("a-2", 30, TEAM_A), "a", NOON)).isPresent();
    }

    @Test
    void aReservationIsNotBoundBesideAnotherTeamThatCameInBetween() {
        node("a", 1, true);
        filter(pod("a-1", 30, TEAM_A), "a");
        gpus.bind(pod("b-1", 30, TEAM_B).only("a0"), "a");

        assertThat(gpus.claim("a-1", "a", NOON)).isEmpty();
    }

    @Test
    void whatWasGrantedBeforeASettingChangedCountsAsItWasGranted() {
        node("a", 1, true, Map.of("old", List.of(new GpuHold("a0", 30, 1_024, false, TEAM_B))));
        gpus.bind(pod("old", 30, TEAM_A).only("a0"), "a");

        assertThat(filter(pod("a-1", 30, TEAM_A), "a")).isInstanceOf(Nowhere.class);
        assertThat(filter(pod("b-1", 30, TEAM_B), "a")).isEqualTo(new Chosen("a"));
    }

    @Test
    void whoWaitedForAnotherTeamIsWokenWhenItsLastPodHasGone() {
        node("a", 1, true);
        bind(pod("a-1", 30, TEAM_A), "a");
        bind(pod("a-2", 30, TEAM_A), "a");
        GpuPod waiting = pod("b-1", 30, TEAM_B);
        filter(waiting, "a");

        gpus.forget("a-1");
        assertThat(gpus.wakeable(10, NOON)).isEmpty();
        gpus.forget("a-2");
        assertThat(gpus.wakeable(10, NOON)).containsExactly(waiting);
    }

    @Test
    void ofTwoTeamsThatWaitForTheSameTheRightOneIsWoken() {
        node("a", 1, true);
        bind(pod("a-1", 60, TEAM_A), "a");
        bind(pod("a-2", 30, TEAM_A), "a");
        GpuPod own = pod("a-3", 30, TEAM_A);
        filter(pod("b-1", 30, TEAM_B), "a");
        filter(own, "a");

        gpus.forget("a-2");

        assertThat(gpus.wakeable(10, NOON)).containsExactly(own);
    }

    @Test
    void roomThatIsKeptForOneTeamIsNoneForAnother() {
        node("a", 1, true);
        gpus.keep(
                new KeptRoom(
                        "a-1",
                        1_000,
                        "a",
                        List.of(new GpuHold("a0", 30, 1_024, false, TEAM_A)),
                        Set.of(),
                        NOON.plusSeconds(60)));

        assertThat(filter(pod("b-1", 30, TEAM_B), "a")).isEqualTo(nowhere("a", Reason.KEPT));
        assertThat(filter(pod("a-2", 30, TEAM_A), "a")).isEqualTo(new Chosen("a"));
    }

    @Test
    void whoIsToShareAGpuWithAPodThatSharesItInAnotherWayIsToldSo() {
        node("a", 2, true);
        var group = new GpuGroup("namespace", "train");
        bind(pod("a-1", 30, TEAM_A, group), "a");

        GpuPod other = pod("turns", 30, TURNS, group);

        assertThat(filter(other, "a")).isEqualTo(nowhere("a", Reason.SHARED_OTHERWISE));
        assertThat(gpus.news(1, NOON.plusSeconds(60)))
                .singleElement()
                .extracting(PodNews::text)
                .asString()
                .contains("is shared in another way than it may share one");
    }

    @Test
    void preemptionMayHelpWhereSomebodyOfAnotherTeamIsLessImportant() {
        node("a", 1, true);
        bind(pod("a-1", 30, TEAM_A), "a");
        GpuPod important =
                new GpuPod(
                        "b-1",
                        "namespace",
                        "b-1",
                        pod("b-1", 30, TEAM_B).asks(),
                        List.of("c"),
                        Dialect.Vcuda,
                        1,
                        null,
                        Strategy.BestFit,
                        null);

        assertThat(filter(important, "a"))
                .isEqualTo(new Nowhere(Map.of("a", Reason.SHARED_OTHERWISE), Map.of()));
    }
}
