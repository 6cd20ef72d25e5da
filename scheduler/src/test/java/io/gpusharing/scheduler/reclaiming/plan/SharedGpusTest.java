package io.gpusharing.scheduler.reclaiming.plan;

import static io.gpusharing.scheduler.reclaiming.Cluster.RULES;
import static io.gpusharing.scheduler.reclaiming.Cluster.amounts;
import static io.gpusharing.scheduler.reclaiming.Cluster.pod;
import static io.gpusharing.scheduler.reclaiming.Cluster.shared;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.NodeView;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.picture.Reach;
import io.gpusharing.scheduler.reclaiming.Cluster;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Reason;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.wire.GpuHold;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Nodes of which our device plugin hands out the GPUs. */
class SharedGpusTest {

    private static final SharedNode NOTHING_GRANTED = shared("n1", 2, 0, Map.of());

    private static Cluster cluster(SharedNode node) {
        return new Cluster().within("team-b").within("team-d").over("team-a", 5).shares(node);
    }

    private static Cluster.Pod young(String name, int minutes) {
        return pod("team-a", name).age(Duration.ofMinutes(minutes));
    }

    private static Waiter waiter(Cluster.Pod pod) {
        return pod.waiting(Duration.ofMinutes(2));
    }

    private static ContainerAsk ask(String container, Kind kind, long cores) {
        return ask(container, kind, cores, 10);
    }

    private static ContainerAsk ask(String container, Kind kind, long cores, long memory) {
        return new ContainerAsk(container, kind, new GpuAsk(1, cores, memory, false), Set.of());
    }

    private static List<String> victims(Decision decision) {
        assertThat(decision).isInstanceOf(Evict.class);
        return ((Evict) decision)
                .victims().stream().map(Decision.Victim::pod).map(PodRef::name).toList();
    }

    private static Reason reason(Decision decision) {
        assertThat(decision).isInstanceOf(Leave.class);
        return ((Leave) decision).reason();
    }

    @Test
    void roomIsMadeOnOneGpuAndNotHalfOnEach() {
        Cluster cluster =
                cluster(NOTHING_GRANTED)
                        .runs(young("a0", 11).share(30, 10).on("n1", 0))
                        .runs(young("b0", 12).share(30, 10).on("n1", 1))
                        .runs(young("a1", 13).share(30, 10).on("n1", 0))
                        .runs(young("b1", 14).share(30, 10).on("n1", 1))
                        .waits(waiter(pod("team-b", "w").share(80, 10)));

        assertThat(victims(cluster.decide())).containsExactly("a0", "a1");
    }

    /** Half of the memory of the one on which it is, whatever another pod's would be. */
    @Test
    void whatARunHasUsedIsReckonedByTheGpuThatItIsOn() {
        Holder holder = young("a0", 20).share(10, 30).on("n1", 0);
        Cluster cluster =
                cluster(NOTHING_GRANTED)
                        .runs(holder)
                        .runs(young("a1", 12).share(90, 10).on("n1", 1))
                        .waits(waiter(pod("team-b", "w").gpus(2)));

        assertThat(((Evict) cluster.decide()).victims())
                .filteredOn(victim -> victim.pod().equals(holder.pod()))
                .singleElement()
                .satisfies(victim -> assertThat(victim.cost()).isEqualTo(20 * 60 * 500_000L));
    }

    /** One node is ours and held by a pod in budget, on the other one another provider's. */
    private static Cluster mixed() {
        return cluster(NOTHING_GRANTED)
                .runs(pod("team-d", "d0").gpus(1).on("n1", 0))
                .runs(pod("team-d", "d1").gpus(1).on("n1", 1))
                .node("other")
                .runs(young("a0", 11).gpus(1).on("other", 0))
                .runs(young("a1", 12).gpus(1).on("other", 1));
    }

    /** It was: the waiter could not be bound there, and waited on. */
    @Test
    void nobodyIsEvictedOnANodeThatTheWaitersSchedulerCannotUse() {
        Cluster.Pod waiter = pod("team-b", "w").gpus(1);

        assertThat(reason(mixed().waits(waiter(waiter.reach(Reach.Shared))).decide()))
                .isEqualTo(Reason.NOBODY);
        assertThat(victims(mixed().waits(waiter(waiter.reach(Reach.NotShared))).decide()))
                .containsExactly("a0");
    }

    @Test
    void whoseSchedulerDoesNotKnowOurGpusGetsNoRoomThere() {
        Cluster cluster =
                cluster(NOTHING_GRANTED)
                        .runs(young("a0", 11).gpus(1).on("n1", 0))
                        .runs(young("a1", 12).gpus(1).on("n1", 1));
        Cluster.Pod waiter = pod("team-b", "w").gpus(1);

        assertThat(reason(cluster.waits(waiter(waiter.reach(Reach.NotShared))).decide()))
                .isEqualTo(Reason.NO_NODE);
    }

    @Test
    void forWhomRoomIsKeptIsNotAnsweredAsAnotherThatAsksForTheSame() {
        Waiter first = waiter(pod("team-b", "w").gpus(2));
        NodeView free = Cluster.node(NOTHING_GRANTED, amounts(200, 120, 16));
        var room =
                new KeptRoom(
                        first.pod().uid(),
                        first.priority(),
                        "n1",
                        List.of(
                                new GpuHold("GPU-0", 100, 60, true),
                                new GpuHold("GPU-1", 100, 60, true)),
                        Set.of(),
                        Cluster.NOON.plusSeconds(60));
        Cluster cluster =
                cluster(NOTHING_GRANTED)
                        .replaceNode(
                                new NodeView(
                                        free.name(),
                                        free.labels(),
                                        free.taints(),
                                        false,
                                        free.empty(),
                                        free.shared(),
                                        List.of(room)))
                        .waits(first)
                        .waits(waiter(pod("team-d", "w").gpus(2)));

        assertThat(new Planner(RULES).plan(cluster.snapshot(), node -> List.of()))
                .extracting(SharedGpusTest::reason)
                .containsExactly(Reason.FITS, Reason.NOBODY);
    }

    /** Of two that ask for the same the one is not answered as the other. */
    @Test
    void eachWaiterIsAnsweredByWhatItsOwnSchedulerCanUse() {
        Cluster cluster =
                mixed().waits(waiter(pod("team-b", "w0").gpus(1).reach(Reach.Shared)))
                        .waits(waiter(pod("team-b", "w1").gpus(1).reach(Reach.Everywhere)));

        assertThat(new Planner(RULES).plan(cluster.snapshot(), node -> List.of()))
                .extracting(decision -> decision instanceof Evict)
                .containsExactly(false, true);
    }

    @Test
    void onePodGoesWhereItsGpuIsThenFreeEnough() {
        Cluster cluster =
                cluster(NOTHING_GRANTED)
                        .runs(young("a", 11).share(60, 10).on("n1", 0))
                        .runs(young("b", 12).share(60, 10).on("n1", 1))
                        .waits(waiter(pod("team-b", "w").share(60, 10)));

        assertThat(victims(cluster.decide())).containsExactly("a");
    }

    @Test
    void aPodOnAnUnhealthyGpuIsNoUse() {
        Cluster cluster =
                cluster(shared("n1", 2, 1, Map.of()))
                        .runs(young("sick", 11).share(60, 10).on("n1", 1))
                        .runs(young("sound", 12).share(60, 10).on("n1", 0))
                        .waits(waiter(pod("team-b", "w").share(60, 10)));

        assertThat(victims(cluster.decide())).containsExactly("sound");
    }

    @Test
    void exceptWhereItsGoingMakesTheNodesSumsSuffice() {
        SharedNode node = shared("n1", 2, 1, Map.of());
        Cluster cluster =
                cluster(node)
                        .replaceNode(Cluster.node(node, amounts(100, 60, 16)))
                        .runs(young("sound", 11).share(40, 10).on("n1", 0))
                        .runs(young("sick", 12).share(60, 10).on("n1", 1))
                        .waits(waiter(pod("team-b", "w").share(60, 10)));

        assertThat(victims(cluster.decide()))
                .as("kube-scheduler takes both from what the healthy GPU has")
                .containsExactly("sick");
    }

    @Test
    void onUnhealthyGpusAloneNobodyIsPlaced() {
        Cluster cluster =
                cluster(shared("n1", 2, 2, Map.of()))
                        .runs(young("a", 11).on("n1", 0))
                        .waits(waiter(pod("team-b", "w")));

        assertThat(reason(cluster.decide())).isEqualTo(Reason.NO_NODE);
    }

    @Test
    void aGpuIsNotFreeWhileTheDevicePluginSaysThatAPodHoldsItThatIsGone() {
        var left = Map.of("gone", List.of(new GpuHold("GPU-0", 100, 60, true)));
        Cluster cluster =
                cluster(shared("n1", 2, 0, left))
                        .runs(young("a", 11).share(60, 10).on("n1", 1))
                        .waits(waiter(pod("team-b", "w").share(60, 10)));

        assertThat(victims(cluster.decide())).containsExactly("a");
    }

    @ParameterizedTest(name = "leaving: {0}")
    @CsvSource({"true, FREEING", "false, WOULD_NOT_FIT"})
    void aVictimThatWasEvictedIsWaitedForUntilItIsGoneAndItsGrantIsNot(
            boolean leaving, Reason reason) {
        var granted = Map.of("team-a-victim", List.of(new GpuHold("GPU-0", 60, 10, false)));
        Cluster cluster =
                cluster(shared("n1", 1, 0, granted))
                        .runs(young("small", 11).share(10, 10).on("n1", 0))
                        .waits(waiter(pod("team-b", "w").share(60, 10)));
        if (leaving) {
            cluster.runs(young("victim", 20).share(60, 10).leaving().on("n1", 0));
        }

        assertThat(reason(cluster.decide())).isEqualTo(reason);
    }

    @Test
    void whatWasGrantedCountsBeforeWhatIsWritten() {
        var granted = Map.of("team-a-b", List.of(new GpuHold("GPU-0", 60, 10, false)));
        Cluster cluster =
                cluster(shared("n1", 2, 0, granted))
                        .runs(young("a", 11).share(60, 10).on("n1", 1))
                        .runs(young("b", 12).share(60, 10).on("n1", 1))
                        .runs(pod("team-d", "stays").share(30, 10).on("n1", 1))
                        .waits(waiter(pod("team-b", "w").share(80, 10)));

        assertThat(victims(cluster.decide())).containsExactly("b");
    }

    @Test
    void aPodOfWhichNobodySaysWhereItIsBlocksEveryGpu() {
        Cluster cluster =
                cluster(NOTHING_GRANTED)
                        .runs(pod("team-d", "stays").share(50, 10).placementUnknown().on("n1"))
                        .runs(young("a", 11).share(20, 10).on("n1", 0))
                        .waits(waiter(pod("team-b", "w").share(60, 10)));

        assertThat(reason(cluster.decide())).isEqualTo(Reason.WOULD_NOT_FIT);

        cluster.runs(young("b", 12).share(10, 10).placementUnknown().on("n1"))
                .waits(waiter(pod("team-b", "v").share(50, 10).priority(1)));
        assertThat(victims(cluster.decide()))
                .as("on the other GPU nothing but the unknown ones is in the way")
                .containsExactly("b");
    }

    @Test
    void itsContainersShareAGpuWhereTheyFit() {
        Cluster cluster =
                cluster(NOTHING_GRANTED)
                        .runs(pod("team-d", "stays").share(60, 10).on("n1", 0))
                        .runs(young("a", 11).share(20, 10).on("n1", 1))
                        .waits(
                                waiter(
                                        pod("team-b", "w")
                                                .share(90, 10)
                                                .containers(
                                                        ask("one", Kind.App, 45),
                                                        ask("two", Kind.App, 45))));

        assertThat(victims(cluster.decide())).containsExactly("a");
    }

    @Test
    void itsInitContainersUseWhatTheOthersWillAndSidecarsRunBesideBoth() {
        Cluster.Pod steps =
                pod("team-b", "w")
                        .share(50, 10)
                        .containers(
                                ask("fetch", Kind.Init, 50),
                                ask("proxy", Kind.NativeSidecar, 10),
                                ask("cuda", Kind.App, 40));
        Cluster cluster =
                cluster(shared("n1", 1, 0, Map.of()))
                        .runs(pod("team-d", "stays").share(40, 10).on("n1", 0))
                        .runs(young("a", 11).share(10, 10).on("n1", 0))
                        .waits(waiter(steps));

        assertThat(victims(cluster.decide()))
                .as("50 are free, and 60 are needed while it fetches")
                .containsExactly("a");
    }

    @Test
    void noMorePodsGoThanAreNeededThoughItsContainersArePackedWorseWhereMoreIsFree() {
        Cluster cluster =
                cluster(NOTHING_GRANTED)
                        .runs(young("anywhere", 11).share(10, 10).placementUnknown().on("n1"))
                        .runs(young("a", 12).share(50, 10).on("n1", 1))
                        .runs(young("b", 13).share(40, 30).on("n1", 0))
                        .runs(young("c", 14).share(50, 5).on("n1", 1))
                        .runs(young("leaves", 15).share(10, 20).leaving().on("n1", 0))
                        .waits(
                                waiter(
                                        pod("team-b", "w")
                                                .share(99, 60)
                                                .containers(
                                                        ask("cuda", Kind.App, 40, 30),
                                                        ask("one", Kind.NativeSidecar, 50, 20),
                                                        ask("two", Kind.NativeSidecar, 40, 35))));

        assertThat(victims(cluster.decide()))
                .as("if 'anywhere' went too, the first sidecar would take the wrong GPU")
                .containsExactly("a", "b");
    }

    @Test
    void capacityThatIsReservedForAnotherIsTakenByItsContainers() {
        Cluster cluster =
                cluster(NOTHING_GRANTED)
                        .runs(young("a", 11).share(60, 10).on("n1", 0))
                        .runs(young("b", 12).share(60, 10).on("n1", 1))
                        .waits(
                                waiter(
                                        pod("team-b", "first")
                                                .priority(1)
                                                .share(90, 10)
                                                .containers(
                                                        ask("one", Kind.App, 45),
                                                        ask("two", Kind.App, 45))))
                        .waits(waiter(pod("team-b", "second").share(30, 10)))
                        .waits(waiter(pod("team-b", "third").share(60, 10)));

        List<Decision> decisions = new Planner(RULES).plan(cluster.snapshot(), node -> List.of());

        assertThat(victims(decisions.getFirst())).containsExactly("a");
        assertThat(reason(decisions.get(1))).isEqualTo(Reason.FREEING);
        assertThat(victims(decisions.getLast())).containsExactly("b");
    }

    @Test
    void theSamePodIsJudgedByEachNodesOwnProvider() {
        var ours = new ContainerAsk("cuda", Kind.App, new GpuAsk(1, 50, 30, false), Set.of());
        Cluster cluster =
                cluster(shared("n1", 1, 0, Map.of()))
                        .node("n2")
                        .runs(young("a", 11).share(50, 30).on("n1", 0))
                        .runs(pod("team-d", "stays").share(50, 30).on("n2", 0))
                        .runs(young("b", 12).share(50, 30).on("n2", 1))
                        .waits(waiter(pod("team-b", "w").share(50, 40).containers(ours)));

        assertThat(victims(cluster.decide()))
                .as("n1 has 30 left for it, but not its sum; on no GPU of n2 are 40 left")
                .containsExactly("a");

        cluster.replaceNode(Cluster.node(shared("n1", 1, 0, Map.of()), amounts(100, 90, 16)));
        assertThat(reason(cluster.decide())).isEqualTo(Reason.FITS);
    }
}
