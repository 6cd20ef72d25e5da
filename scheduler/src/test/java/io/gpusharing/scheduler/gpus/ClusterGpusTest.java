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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClusterGpusTest {

    private static final Instant NOON = Instant.parse("2026-11-25T12:00:00Z");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final ClusterGpus gpus = new ClusterGpus(PATIENCE);

    private static SharedNode node(String name, int count) {
        return new SharedNode(name, gpus(name, count), List.of(), Map.of());
    }

    private static List<Gpu> gpus(String node, int count) {
        return IntStream.range(0, count).mapToObj(i -> new Gpu(gpu(node, i), 100, 16_384)).toList();
    }

    private static String gpu(String node, int index) {
        return "GPU-" + node + "-" + index;
    }

    private static GpuPod pod(int... cores) {
        String uid = UUID.randomUUID().toString();
        var asks = new ArrayList<ContainerAsk>();
        for (int i = 0; i < cores.length; i++) {
            asks.add(new ContainerAsk("c" + i, Kind.App, ask(cores[i]), Set.of()));
        }
        return new GpuPod(uid, "team-a", "pod-" + uid.substring(0, 8), asks);
    }

    private static GpuAsk ask(int cores) {
        return cores >= 100
                ? new GpuAsk(cores / 100, 100, 0, true)
                : new GpuAsk(1, cores, 1_024, false);
    }

    /** The same pod after it was bound with these GPUs. */
    private static GpuPod on(GpuPod pod, String... uuids) {
        return new GpuPod(
                pod.uid(),
                pod.namespace(),
                pod.name(),
                pod.asks().stream()
                        .map(ask ->
                                new ContainerAsk(
                                        ask.container(),
                                        ask.kind(),
                                        ask.ask(),
                                        Set.copyOf(Arrays.asList(uuids))))
                        .toList());
    }

    private Filtered filter(GpuPod pod, String... nodes) {
        return gpus.filter(pod, List.of(nodes), NOON);
    }

    private static Chosen chosen(String node) {
        return new Chosen(node);
    }

    private static Nowhere failed(String node, Reason reason) {
        return new Nowhere(Map.of(node, reason), Map.of());
    }

    private static Nowhere unresolvable(String node, Reason reason) {
        return new Nowhere(Map.of(), Map.of(node, reason));
    }

    private List<String> claimed(GpuPod pod, String node) {
        return gpus.claim(pod.uid(), node, NOON).stream()
                .flatMap(it -> it.held().stream())
                .map(GpuHold::gpu)
                .sorted()
                .toList();
    }

    @Test
    void aPodGoesWhereItLeavesTheLeast() {
        gpus.describe(node("a", 1));
        gpus.describe(node("b", 1));
        filter(pod(50), "b");

        assertThat(filter(pod(30), "a", "b")).isEqualTo(chosen("b"));
        assertThat(filter(pod(30), "a", "b")).isEqualTo(chosen("a"));
    }

    @Test
    void theFewBestNodesAreNamedTheBestFirstAndGpusAreKeptThere() {
        var several = new ClusterGpus(PATIENCE, 2);
        for (String node : List.of("half", "empty", "fuller")) {
            several.describe(node(node, 1));
        }
        several.bind(on(pod(50), gpu("half", 0)), "half");
        several.bind(on(pod(70), gpu("fuller", 0)), "fuller");
        GpuPod pod = pod(20);

        assertThat(several.filter(pod, List.of("half", "empty", "fuller"), NOON))
                .isEqualTo(new Chosen("fuller", List.of("half")));
        assertThat(several.isReserved(pod.uid(), "fuller")).isTrue();
        assertThat(several.isReserved(pod.uid(), "half")).isFalse();

        // kube-scheduler has chosen the other one.
        assertThat(several.claim(pod.uid(), "half", NOON)).isEmpty();
        assertThat(several.claim(pod, "half", NOON)).isPresent();
        assertThat(several.isReserved(pod.uid(), "fuller")).isFalse();
    }

    @Test
    void aPodThatWantsToBeSpreadGoesWhereMostIsLeft() {
        gpus.describe(node("a", 1));
        gpus.describe(node("b", 2));
        filter(pod(50), "a");
        filter(pod(50), "b");
        GpuPod first = spread(pod(30));
        GpuPod second = spread(pod(30));

        assertThat(filter(first, "a", "b")).isEqualTo(chosen("b"));
        assertThat(claimed(first, "b")).containsExactly(gpu("b", 1));
        assertThat(filter(second, "a", "b")).isEqualTo(chosen("b"));
        assertThat(claimed(second, "b")).containsExactly(gpu("b", 1));
        assertThat(filter(spread(pod(100)), "a", "b")).isEqualTo(failed("a", "b"));
    }

    @Test
    void wholeGpusThatAreSpreadAreTakenWhereMostAreIdle() {
        gpus.describe(node("a", 8));
        gpus.describe(node("b", 2));

        assertThat(filter(spread(pod(100)), "a", "b")).isEqualTo(chosen("a"));
    }

    @Test
    void aPodOfSeveralContainersGoesWhereOneGpuIsEnough() {
        gpus.describe(node("a", 2));
        gpus.describe(node("b", 1));
        for (String node : List.of("a", "a", "b")) {
            // 41 are free of each GPU of a, 70 of b's.
            filter(pod(node.equals("a") ? 59 : 30), node);
        }

        assertThat(filter(pod(30, 30), "a", "b")).isEqualTo(chosen("b"));
        assertThat(filter(spread(pod(30, 30)), "a")).isEqualTo(chosen("a"));
    }

    private static GpuPod spread(GpuPod pod) {
        return with(pod, pod.priority(), Strategy.Spread);
    }

    private static GpuPod with(GpuPod pod, int priority, Strategy strategy) {
        return new GpuPod(
                pod.uid(),
                pod.namespace(),
                pod.name(),
                pod.asks(),
                pod.containers(),
                pod.dialect(),
                priority,
                pod.end(),
                strategy,
                null);
    }

    private static Nowhere failed(String one, String other) {
        return new Nowhere(Map.of(one, Reason.NO_ROOM, other, Reason.NO_ROOM), Map.of());
    }

    @Test
    void wholeGpusAreTakenWhereFewAreIdle() {
        gpus.describe(node("a", 8));
        gpus.describe(node("b", 2));

        assertThat(filter(pod(100), "a", "b")).isEqualTo(chosen("b"));
        assertThat(filter(pod(800), "a", "b")).isEqualTo(chosen("a"));
    }

    @Test
    void twoGpusWithFortyFreeEachAreNoRoomForSixty() {
        gpus.describe(node("a", 2));
        filter(pod(60), "a");
        filter(pod(60), "a");

        assertThat(filter(pod(60), "a")).isEqualTo(failed("a", Reason.NO_ROOM));
        assertThat(Reason.NO_ROOM.text(pod(60).asks()))
                .isEqualTo("no single GPU has 60 of 100 and 1024 MiB free");
    }

    @Test
    void gpusAreKeptFromTheChoiceOfTheNodeOn() {
        gpus.describe(node("a", 1));
        GpuPod first = pod(60);
        filter(first, "a");

        assertThat(filter(pod(60), "a")).isEqualTo(failed("a", Reason.NO_ROOM));
        assertThat(claimed(first, "a")).containsExactly(gpu("a", 0));
    }

    @Test
    void whoIsNotBoundInTimeLosesThem() {
        gpus.describe(node("a", 1));
        filter(pod(60), "a");

        assertThat(gpus.filter(pod(60), List.of("a"), NOON.plus(PATIENCE))).isEqualTo(chosen("a"));
    }

    @Test
    void whoIsBeingBoundKeepsThemHoweverLongThatTakes() {
        gpus.describe(node("a", 1));
        GpuPod slow = pod(60);
        filter(slow, "a");
        assertThat(claimed(slow, "a")).isNotEmpty();

        assertThat(gpus.filter(pod(60), List.of("a"), NOON.plus(PATIENCE)))
                .isEqualTo(failed("a", Reason.NO_ROOM));

        gpus.cancel(slow.uid());
        assertThat(filter(pod(60), "a")).isEqualTo(chosen("a"));
    }

    @Test
    void whoMayBeBoundAtThisMomentGetsNoOtherGpus() {
        gpus.describe(node("a", 2));
        gpus.describe(node("b", 1));
        GpuPod slow = pod(30);
        filter(slow, "a");
        List<String> gpu = claimed(slow, "a");
        // A GPU on which it would be packed better.
        filter(pod(70), "b");

        assertThat(filter(slow, "a", "b")).isEqualTo(chosen("a"));
        assertThat(claimed(slow, "a")).isEqualTo(gpu);
        assertThat(filter(slow, "b")).isEqualTo(failed("b", Reason.BEING_BOUND));
        assertThat(gpus.claim(slow, "b", NOON)).isEmpty();

        gpus.doubt(slow.uid(), NOON);
        assertThat(filter(slow, "a", "b")).isEqualTo(chosen("a"));
        assertThat(gpus.filter(slow, List.of("a", "b"), NOON.plus(PATIENCE)))
                .as("it is not bound by then")
                .isInstanceOf(Chosen.class);
        assertThat(claimed(slow, "b").isEmpty() || claimed(slow, "a").isEmpty()).isTrue();
    }

    @Test
    void whoIsAskedAboutAgainBeforeItsBindingMayGoElsewhere() {
        gpus.describe(node("a", 1));
        gpus.describe(node("b", 1));
        GpuPod pod = pod(30);
        filter(pod, "a");
        filter(pod(60), "b");

        assertThat(filter(pod, "a", "b")).isEqualTo(chosen("b"));
        assertThat(filter(pod(100), "a")).as("what it held there is free").isEqualTo(chosen("a"));
    }

    @Test
    void aReservationThatExpiredIsReplacedAtTheBindingIfThereIsRoom() {
        gpus.describe(node("a", 1));
        GpuPod late = pod(60);
        filter(late, "a");
        Instant later = NOON.plus(PATIENCE);

        assertThat(gpus.claim(late.uid(), "a", later)).isEmpty();
        assertThat(gpus.claim(late, "a", later)).isPresent();
        assertThat(gpus.claim(pod(60), "a", later)).isEmpty();
    }

    @Test
    void nobodyIsBoundToAGpuThatFailedOrWasGivenAwayMeanwhile() {
        gpus.describe(node("a", 1));
        GpuPod first = pod(60);
        filter(first, "a");
        gpus.describe(new SharedNode("a", List.of(), gpus("a", 1), Map.of()));
        assertThat(claimed(first, "a")).isEmpty();

        for (int mine : List.of(60, 100)) {
            for (boolean whole : List.of(true, false)) {
                gpus.describe(node("a", 1));
                GpuPod second = pod(mine);
                assertThat(filter(second, "a")).isEqualTo(chosen("a"));
                gpus.describe(
                        new SharedNode(
                                "a",
                                gpus("a", 1),
                                List.of(),
                                Map.of(
                                        "stranger",
                                        List.of(new GpuHold(gpu("a", 0), 60, 1_024, whole)))));
                assertThat(claimed(second, "a")).as("%d beside %s", mine, whole).isEmpty();
            }
        }
    }

    @Test
    void whatIsWrittenOnBoundPodsIsHeldUntilTheyAreGone() {
        gpus.describe(node("a", 2));
        GpuPod pod = pod(60);
        gpus.bind(on(pod, gpu("a", 1)), "a");

        GpuPod beside = pod(40);
        assertThat(filter(beside, "a")).isEqualTo(chosen("a"));
        assertThat(claimed(beside, "a")).containsExactly(gpu("a", 1));

        gpus.forget(pod.uid());
        gpus.forget(beside.uid());
        assertThat(filter(pod(200), "a")).isEqualTo(chosen("a"));
    }

    @Test
    void aBoundPodOfWhichNobodySaysWhereItIsMayBeOnEveryGpu() {
        gpus.describe(node("a", 2));
        gpus.bind(pod(40), "a");
        assertThat(filter(pod(60), "a")).isEqualTo(chosen("a"));
        gpus.bind(pod(40), "a");

        assertThat(filter(pod(30), "a"))
                .as("both may be on the GPU that the others are not on")
                .isEqualTo(failed("a", Reason.NO_ROOM));
    }

    @Test
    void anInitContainerHoldsWhatTheOthersWill() {
        gpus.describe(node("a", 1));
        GpuPod pod = pod(60);
        var asks = new ArrayList<>(pod.asks());
        asks.add(new ContainerAsk("init", Kind.Init, ask(50), Set.of()));
        gpus.bind(new GpuPod(pod.uid(), pod.namespace(), pod.name(), asks), "a");

        assertThat(filter(pod(40), "a")).isEqualTo(chosen("a"));
    }

    @Test
    void whatTheDevicePluginGrantedCountsBeforeWhatIsWritten() {
        GpuPod pod = pod(60);
        var granted = Map.of(pod.uid(), List.of(new GpuHold(gpu("a", 0), 60, 1_024, false)));
        gpus.describe(new SharedNode("a", gpus("a", 2), List.of(), granted));
        gpus.bind(on(pod, gpu("a", 1)), "a");

        GpuPod whole = pod(100);
        assertThat(filter(whole, "a")).isEqualTo(chosen("a"));
        assertThat(claimed(whole, "a")).containsExactly(gpu("a", 1));

        gpus.forget(pod.uid());
        assertThat(filter(pod(60), "a"))
                .as("its processes may live on after a deletion by force")
                .isEqualTo(failed("a", Reason.NO_ROOM));
    }

    /** Finding: 0.01 GPU bound by hand to each node, and no whole GPU was placed anywhere. */
    @Test
    void aPodBoundByHandBlocksAllGpusOnlyUntilTheDevicePluginGrantsOrRefusesIt() {
        GpuPod byHand = pod(1);
        gpus.describe(node("a", 2));
        gpus.bind(byHand, "a");
        GpuPod whole = pod(100);
        assertThat(filter(whole, "a"))
                .as("it may be given a part of either")
                .isEqualTo(unresolvable("a", Reason.NO_ROOM));

        gpus.describe(
                new SharedNode(
                        "a",
                        gpus("a", 2),
                        List.of(),
                        Map.of(byHand.uid(), List.of(new GpuHold(gpu("a", 0), 1, 1_024, false)))));
        assertThat(filter(whole, "a")).isEqualTo(chosen("a"));
        assertThat(claimed(whole, "a")).containsExactly(gpu("a", 1));
        gpus.cancel(whole.uid());

        gpus.describe(
                new SharedNode(
                        "a",
                        gpus("a", 2),
                        List.of(),
                        Map.of(),
                        Map.of(),
                        "",
                        false,
                        Set.of(byHand.uid())));
        assertThat(filter(pod(200), "a")).isEqualTo(chosen("a"));
    }

    @Test
    void aBoundPodThatCannotBeReadKeepsItsNodeUntilItIsReadGrantedSomethingOrGone() {
        gpus.describe(node("a", 1));
        gpus.describe(node("b", 1));
        GpuPod odd = pod(10);
        gpus.bindUnread(odd.uid(), odd.namespace(), odd.name(), "a");

        assertThat(filter(pod(10), "a")).isEqualTo(unresolvable("a", Reason.NO_ROOM));
        assertThat(filter(pod(10), "a", "b")).isEqualTo(chosen("b"));

        gpus.bind(on(odd, gpu("a", 0)), "a");
        assertThat(filter(pod(90), "a")).isEqualTo(chosen("a"));

        gpus.bindUnread(odd.uid(), odd.namespace(), odd.name(), "a");
        assertThat(filter(pod(90), "a"))
                .as("what it holds was known before")
                .isEqualTo(failed("a", Reason.NO_ROOM));
    }

    @Test
    void wholeGpusAreThoseThatNobodyHolds() {
        gpus.describe(node("a", 2));
        filter(pod(10), "a");

        assertThat(filter(pod(200), "a")).isEqualTo(failed("a", Reason.NO_ROOM));
        assertThat(Reason.NO_ROOM.text(pod(200).asks()))
                .isEqualTo("fewer than 2 GPUs are all free");
        assertThat(filter(pod(100), "a")).isEqualTo(chosen("a"));
    }

    @Test
    void containersOfAPodShareAGpuWhereTheyFit() {
        gpus.describe(node("a", 2));
        GpuPod pod = pod(30, 60);
        filter(pod, "a");

        assertThat(claimed(pod, "a")).hasSize(1);
    }

    @Test
    void aNodeThatIsNotSharedIsNoPlaceWhoeverGoes() {
        gpus.describe(node("a", 1));
        gpus.remove("a");

        assertThat(filter(pod(50), "a")).isEqualTo(unresolvable("a", Reason.NOT_SHARED));
        assertThat(filter(pod(50), "foreign"))
                .isEqualTo(unresolvable("foreign", Reason.NOT_SHARED));
    }

    @Test
    void whatIsLargerThanTheNodeFitsNowhere() {
        gpus.describe(node("a", 1));

        assertThat(filter(pod(200), "a")).isEqualTo(unresolvable("a", Reason.TOO_LARGE));
        assertThat(Reason.TOO_LARGE.text(pod(200).asks()))
                .isEqualTo("the node has fewer than 2 GPUs");
    }

    @Test
    void onAnUnhealthyGpuNobodyIsPlaced() {
        gpus.describe(new SharedNode("a", List.of(), gpus("a", 1), Map.of()));

        assertThat(filter(pod(50), "a")).isEqualTo(unresolvable("a", Reason.UNHEALTHY));
    }

    @Test
    void whoWasRefusedIsWokenOnceThereIsRoomAndNotBefore() {
        GpuPod ended = pod(60);
        var granted = Map.of(ended.uid(), List.of(new GpuHold(gpu("a", 0), 60, 1_024, false)));
        gpus.describe(new SharedNode("a", gpus("a", 1), List.of(), granted));
        GpuPod first = pod(50);
        GpuPod second = pod(50);
        filter(first, "a");
        filter(second, "a");
        assertThat(gpus.wakeable(10, NOON)).isEmpty();

        // As the device plugin does a moment after the API server has said that the pod has ended.
        gpus.describe(node("a", 1));
        assertThat(gpus.wakeable(1, NOON)).containsExactly(first);
        gpus.woken(first.uid(), NOON);
        assertThat(gpus.wakeable(10, NOON)).containsExactly(second);
        gpus.forget(second.uid());
        assertThat(gpus.wakeable(10, NOON)).isEmpty();
    }

    @Test
    void whoWasRefusedIsWokenWhenAReservationExpires() {
        gpus.describe(node("a", 1));
        filter(pod(60), "a");
        GpuPod refused = pod(60);
        filter(refused, "a");
        assertThat(gpus.wakeable(10, NOON)).isEmpty();

        assertThat(gpus.wakeable(10, NOON.plus(PATIENCE))).containsExactly(refused);
    }

    @Test
    void whoeverFloodsTheClusterWithPodsThatFitNowhereKeepsNobodyWaiting() {
        gpus.describe(node("a", 1));
        GpuPod holder = pod(60);
        gpus.bind(on(holder, gpu("a", 0)), "a");
        for (int flood = 0; flood < 400; flood++) {
            filter(pod(90, 11 + flood % 80), "a");
        }
        GpuPod refused = pod(60);
        filter(refused, "a");
        gpus.forget(holder.uid());

        var woken = new ArrayList<GpuPod>();
        int rounds = 0;
        for (; woken.isEmpty() && rounds < 20; rounds++) {
            woken.addAll(gpus.wakeable(10, NOON));
        }

        assertThat(woken).containsExactly(refused);
        assertThat(rounds).as("at ten of 80 kinds a round").isBetween(2, 9);
    }

    @Test
    void theOneNodeOfAThousandThatFitsIsFoundThoughItComesLast() {
        var nodes = new ArrayList<String>();
        for (int i = 0; i < 1_000; i++) {
            String name = "node-" + i;
            nodes.add(name);
            gpus.describe(node(name, 2));
            int held = i < 999 ? 60 : 40;
            gpus.bind(on(pod(held), gpu(name, 0)), name);
            gpus.bind(on(pod(60), gpu(name, 1)), name);
        }

        assertThat(gpus.filter(pod(60), nodes, NOON)).isEqualTo(chosen("node-999"));
    }

    @Test
    void aPodThatIsBoundIsNotPlacedAgainWhateverIsAskedLate() {
        gpus.describe(node("a", 2));
        gpus.describe(node("b", 2));
        GpuPod late = pod(60);
        gpus.bind(late, "a");

        assertThat(filter(late, "a", "b")).isEqualTo(chosen("a"));
        assertThat(filter(late, "b")).isEqualTo(failed("b", Reason.BEING_BOUND));
        assertThat(gpus.claim(late, "b", NOON)).isEmpty();
        // Nobody says on which GPU it is: each may be taken.
        assertThat(filter(pod(60), "a")).isEqualTo(unresolvable("a", Reason.NO_ROOM));
    }

    @Test
    void aNodeIsHopelessWhereNobodyIsLessImportant() {
        gpus.describe(node("a", 1));
        gpus.bind(important(on(pod(60), gpu("a", 0)), 5), "a");

        assertThat(filter(important(pod(50), 5), "a")).isEqualTo(unresolvable("a", Reason.NO_ROOM));
        assertThat(filter(important(pod(50), 6), "a")).isEqualTo(failed("a", Reason.NO_ROOM));
        // Nobody knows how important one is that is only about to be bound.
        filter(important(pod(10), 9), "a");
        assertThat(filter(important(pod(50), 5), "a")).isEqualTo(failed("a", Reason.NO_ROOM));
    }

    @Test
    void aNodeIsNotHopelessForThePodForWhichRoomIsMadeThere() {
        gpus.describe(
                new SharedNode(
                        "a",
                        gpus("a", 1),
                        List.of(),
                        Map.of("victim", List.of(new GpuHold(gpu("a", 0), 60, 0, false)))));
        GpuPod waiter = pod(50);
        gpus.keep(
                new KeptRoom(
                        waiter.uid(),
                        0,
                        "a",
                        List.of(new GpuHold(gpu("a", 0), 50, 0, false)),
                        Set.of("victim"),
                        NOON.plusSeconds(60)));

        // Else kube-scheduler would forget that the pod is to come here.
        assertThat(filter(waiter, "a")).isEqualTo(failed("a", Reason.NO_ROOM));
    }

    @Test
    void whatWasTooLargeFitsOnceSomebodyHasGone() {
        gpus.describe(node("a", 1));
        GpuPod large = on(pod(60), gpu("a", 0));
        gpus.bind(large, "a");
        filter(pod(50), "a");

        gpus.forget(large.uid());

        assertThat(filter(pod(50), "a")).isEqualTo(chosen("a"));
    }

    private static GpuPod important(GpuPod pod, int priority) {
        return with(pod, priority, pod.strategy());
    }

    private String whyItWaits(GpuPod pod, String... nodes) {
        filter(pod, nodes);
        return news(NOON.plusSeconds(10)).stream()
                .filter(news -> news.pod().equals(pod))
                .map(PodNews::text)
                .findFirst()
                .orElseThrow();
    }

    private List<PodNews> news(Instant now) {
        return gpus.news(10, now);
    }

    private void tell(Instant now) {
        news(now).forEach(news -> gpus.told(news, now));
    }

    @Test
    void aPodIsToldWhatThereIsInsteadOfWhatItAsksFor() {
        gpus.describe(node("a", 2));
        gpus.describe(
                new SharedNode("b", gpus("b", 1), List.of(new Gpu("sick", 100, 16_384)), Map.of()));
        gpus.describe(node("not asked about", 8));
        gpus.bind(on(pod(60), gpu("a", 0)), "a");
        gpus.bind(on(pod(70), gpu("a", 1)), "a");
        gpus.bind(on(pod(80), gpu("b", 0)), "b");

        assertThat(whyItWaits(pod(50), "a", "b"))
                .isEqualTo(
                        "no single GPU has 50 of 100 and 1024 MiB free: of 3 GPUs on 2 nodes that fit otherwise, most is free of one on a, 40 of 100 and 15360 MiB; 1 more is unhealthy");
        assertThat(whyItWaits(pod(200), "a", "b"))
                .isEqualTo(
                        "fewer than 2 GPUs are all free: of 3 GPUs on 2 nodes that fit otherwise, none is idle; 1 more is unhealthy");
        assertThat(whyItWaits(pod(300), "a", "b")).isEqualTo("the node has fewer than 3 GPUs");
        assertThat(whyItWaits(pod(10), "elsewhere"))
                .isEqualTo("its GPUs are not shared by GPUSharing");
    }

    @Test
    void whoWaitsForWholeGpusIsToldWhereMostAreIdle() {
        gpus.describe(node("a", 4));
        gpus.describe(node("b", 4));
        gpus.bind(on(pod(10), gpu("a", 0)), "a");
        gpus.bind(on(pod(10), gpu("b", 0)), "b");
        gpus.bind(on(pod(10), gpu("b", 1)), "b");

        gpus.describe(node("c", 4));
        gpus.bind(on(pod(10), gpu("c", 0)), "c");

        assertThat(whyItWaits(pod(400), "c", "b", "a"))
                .isEqualTo(
                        "fewer than 4 GPUs are all free: of 12 GPUs on 3 nodes that fit otherwise, most are idle on a, 3");
    }

    @Test
    void aPodIsToldOnceUntilSomethingElseIsTrue() {
        gpus.describe(node("a", 2));
        gpus.bind(on(pod(10), gpu("a", 0)), "a");
        GpuPod waiting = pod(200);
        filter(waiting, "a");

        assertThat(news(NOON.plusSeconds(9))).isEmpty();
        tell(NOON.plusSeconds(10));
        filter(waiting, "a");
        assertThat(news(NOON.plusSeconds(310))).as("nothing new").isEmpty();

        gpus.bind(on(pod(10), gpu("a", 1)), "a");
        filter(waiting, "a");
        assertThat(news(NOON.plusSeconds(609))).as("not yet again").isEmpty();
        assertThat(news(NOON.plusSeconds(610)))
                .singleElement()
                .satisfies(news -> assertThat(news.text()).contains("none is idle"));
    }

    @Test
    void whoCouldNotBeToldIsToldAfterTheOthers() {
        gpus.describe(node("a", 1));
        GpuPod first = pod(10);
        GpuPod second = pod(10);
        gpus.bind(on(pod(100), gpu("a", 0)), "a");
        filter(first, "a");
        filter(second, "a");

        gpus.failed(news(NOON.plusSeconds(10)).getFirst(), NOON.plusSeconds(10));
        assertThat(news(NOON.plusSeconds(11))).extracting(PodNews::pod).containsExactly(second);
        assertThat(news(NOON.plusSeconds(310)))
                .extracting(PodNews::pod)
                .containsExactly(second, first);
    }

    @Test
    void whoWasToldSomethingIsToldThatItIsPlacedAndNobodyElse() {
        gpus.describe(node("a", 1));
        GpuPod told = pod(10);
        GpuPod woken = pod(10);
        GpuPod untold = pod(10);
        gpus.bind(on(pod(100), gpu("a", 0)), "a");
        filter(told, "a");
        filter(woken, "a");
        gpus.told(news(NOON.plusSeconds(10)).getFirst(), NOON.plusSeconds(10));
        gpus.woken(woken.uid(), NOON.plusSeconds(10));
        filter(untold, "a");
        List.of(told, woken, untold).forEach(pod -> gpus.bind(pod, "a"));

        assertThat(news(NOON.plusSeconds(11)))
                .extracting(PodNews::pod)
                .containsExactly(told, woken);
        tell(NOON.plusSeconds(11));
        assertThat(news(NOON.plusSeconds(12))).isEmpty();
    }

    @Test
    void whomAnotherReplicaToldWhyItWaitsIsToldThatItIsPlacedUnlessThatOneDoesSo() {
        gpus.describe(node("a", 1));
        GpuPod left = on(pod(50), gpu("a", 0));
        GpuPod done = on(pod(50), gpu("a", 0));
        for (GpuPod pod : List.of(left, done)) {
            gpus.bind(pod, "a");
            gpus.written(pod, true, NOON);
        }
        assertThat(gpus.news(10, NOON.plusSeconds(29))).isEmpty();

        gpus.written(done, false, NOON.plusSeconds(5));

        List<PodNews> news = gpus.news(10, NOON.plusSeconds(30));
        assertThat(news).containsExactly(new PodNews(left, true, ""));
        gpus.told(news.getFirst(), NOON.plusSeconds(30));
        assertThat(gpus.news(10, NOON.plusSeconds(60))).isEmpty();
    }

    @Test
    void whoIsBoundWhileItIsToldWhyItWaitsIsToldThatItIsPlaced() {
        gpus.describe(node("a", 1));
        GpuPod waiting = pod(10);
        gpus.bind(on(pod(100), gpu("a", 0)), "a");
        filter(waiting, "a");
        PodNews news = news(NOON.plusSeconds(10)).getFirst();
        gpus.bind(waiting, "a");
        gpus.told(news, NOON.plusSeconds(11));

        assertThat(news(NOON.plusSeconds(12))).containsExactly(new PodNews(waiting, true, ""));
    }

    @Test
    void whoWasToldThatThereIsRoomIsToldAgainWhyItWaitsWhenOthersHadIt() {
        gpus.describe(node("a", 1));
        gpus.bind(on(pod(100), gpu("a", 0)), "a");
        GpuPod waiting = pod(10);
        filter(waiting, "a");
        tell(NOON.plusSeconds(10));
        gpus.woken(waiting.uid(), NOON.plusSeconds(20));
        filter(waiting, "a");

        assertThat(news(NOON.plusSeconds(320))).extracting(PodNews::pod).containsExactly(waiting);
    }

    @Test
    void whoIsAskedAboutElsewhereByNowIsToldNothing() {
        gpus.describe(node("a", 1));
        gpus.bind(on(pod(100), gpu("a", 0)), "a");
        filter(pod(10), "a");

        assertThat(news(NOON.plus(Duration.ofMinutes(12)))).isEmpty();
        assertThat(gpus.waiting()).isZero();
    }
}
