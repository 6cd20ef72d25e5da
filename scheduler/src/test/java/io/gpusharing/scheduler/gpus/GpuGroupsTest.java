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
import io.gpusharing.sharing.Strategy;
import io.gpusharing.wire.GpuHold;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods that are to share a GPU with each other. */
class GpuGroupsTest {

    private static final Instant NOON = Instant.parse("2026-11-26T12:00:00Z");
    private static final List<String> NODES = List.of("a", "b");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final ClusterGpus gpus = new ClusterGpus(PATIENCE);

    @BeforeEach
    void twoNodesOfTwoGpus() {
        NODES.forEach(node -> gpus.describe(node(node, Map.of())));
    }

    private static SharedNode node(String name, Map<String, List<GpuHold>> granted) {
        return new SharedNode(
                name,
                IntStream.range(0, 2).mapToObj(i -> new Gpu(name + i, 100, 16_384)).toList(),
                List.of(),
                granted);
    }

    private static GpuPod pod(String uid, int cores, @Nullable String group) {
        var ask = new GpuAsk(1, cores, 0, false);
        return new GpuPod(
                uid,
                "team-a",
                uid,
                List.of(new ContainerAsk("c", Kind.App, ask, Set.of())),
                List.of("c"),
                Dialect.Vcuda,
                0,
                null,
                Strategy.BestFit,
                group == null ? null : new GpuGroup("team-a", group));
    }

    private static GpuPod on(GpuPod pod, String gpu, @Nullable Instant end) {
        return new GpuPod(
                pod.uid(),
                pod.namespace(),
                pod.name(),
                ContainerAsk.only(pod.asks(), gpu),
                pod.containers(),
                pod.dialect(),
                pod.priority(),
                end,
                pod.strategy(),
                pod.group());
    }

    private Filtered filter(GpuPod pod) {
        return gpus.filter(pod, NODES, NOON);
    }

    /** The GPU on which a pod is bound now. */
    private String placed(GpuPod pod) {
        if (!(filter(pod) instanceof Chosen(var node, var _))) {
            return "nowhere";
        }
        Placement placement = gpus.claim(pod.uid(), node, NOON).orElseThrow();
        String gpu = placement.held().getFirst().gpu();
        gpus.bind(on(pod, gpu, null), node);
        return gpu;
    }

    @Test
    void theOthersAreOnTheGpuOfTheFirstWhereverItWouldBeBetter() {
        // Fuller, and so better.
        gpus.bind(on(pod("x", 60, null), "a0", null), "a");
        assertThat(placed(pod("first", 50, "g"))).isEqualTo("a1");

        assertThat(placed(pod("alone", 30, null))).isEqualTo("a0");
        assertThat(placed(pod("second", 10, "g"))).isEqualTo("a1");
        assertThat(placed(pod("third", 40, "g"))).isEqualTo("a1");
    }

    @Test
    void theyAreAlsoWhereTheFirstIsOnlyAboutToBe() {
        filter(pod("first", 50, "g"));

        filter(pod("second", 50, "g"));

        assertThat(gpus.claim("second", "a", NOON).orElseThrow().held().getFirst().gpu())
                .isEqualTo(gpus.claim("first", "a", NOON).orElseThrow().held().getFirst().gpu());
    }

    @Test
    void whoFindsNoRoomBesideTheOthersWaitsAndIsToldSo() {
        placed(pod("first", 50, "g"));

        assertThat(filter(pod("second", 60, "g")))
                .isEqualTo(
                        new Nowhere(
                                Map.of(),
                                Map.of("a", Reason.NO_ROOM_BESIDE, "b", Reason.ELSEWHERE)));
        assertThat(gpus.news(10, NOON.plusSeconds(10)))
                .extracting(PodNews::text)
                .containsExactly(
                        "the GPU of the pods with which it is to share one does not have 60 of 100 free: of 1 GPU on 1 node that fit otherwise, most is free of one on a, 50 of 100 and 16384 MiB");
    }

    @Test
    void itIsWokenOnceThereIsRoomThereAndNotElsewhere() {
        placed(pod("first", 30, "g"));
        gpus.bind(on(pod("other", 60, null), "a0", null), "a");
        filter(pod("second", 30, "g"));
        assertThat(gpus.wakeable(10, NOON)).isEmpty();

        gpus.forget("other");

        assertThat(gpus.wakeable(10, NOON)).extracting(GpuPod::uid).containsExactly("second");
        assertThat(placed(pod("second", 30, "g"))).isEqualTo("a0");
    }

    @Test
    void groupsOfOtherNamesAndNamespacesAreOthers() {
        placed(pod("first", 60, "g"));
        GpuPod other = pod("other", 60, "g");

        assertThat(placed(pod("h", 60, "h"))).isNotEqualTo("a0");
        assertThat(
                        placed(
                                new GpuPod(
                                        "other",
                                        "team-b",
                                        "other",
                                        other.asks(),
                                        other.containers(),
                                        other.dialect(),
                                        0,
                                        null,
                                        Strategy.BestFit,
                                        new GpuGroup("team-b", "g"))))
                .isNotEqualTo("a0");
    }

    @Test
    void theGroupEndsWithItsLastPod() {
        placed(pod("first", 50, "g"));
        placed(pod("second", 50, "g"));
        gpus.forget("first");
        gpus.bind(on(pod("x", 50, null), "a0", null), "a");
        assertThat(placed(pod("third", 10, "g"))).isEqualTo("nowhere");

        gpus.forget("second");
        gpus.bind(on(pod("y", 50, null), "a0", null), "a");

        assertThat(placed(pod("fourth", 10, "g"))).isEqualTo("a1");
    }

    @Test
    void whoIsBeingDeletedHoldsNobody() {
        GpuPod first = pod("first", 60, "g");
        placed(first);
        gpus.bind(on(first, "a0", NOON.plusSeconds(30)), "a");

        assertThat(placed(pod("retry", 60, "g"))).isEqualTo("a1");
    }

    @Test
    void whoWaitsForOneThatIsDeletedIsWokenAtOnce() {
        GpuPod first = pod("first", 60, "g");
        placed(first);
        filter(pod("retry", 60, "g"));
        assertThat(gpus.wakeable(10, NOON)).isEmpty();

        gpus.bind(on(first, "a0", NOON.plusSeconds(30)), "a");

        assertThat(gpus.wakeable(10, NOON)).extracting(GpuPod::uid).containsExactly("retry");
    }

    @Test
    void whoWasGivenAnotherGpuBeforeTheFirstWasSeenIsNotBoundThere() {
        GpuPod second = pod("second", 10, "g");
        filter(second);

        // The leader before had bound it.
        gpus.bind(on(pod("first", 50, "g"), "b1", null), "b");

        assertThat(gpus.claim("second", "a", NOON)).isEmpty();
        assertThat(gpus.claim(second, "a", NOON)).isEmpty();
        assertThat(placed(second)).isEqualTo("b1");
    }

    @Test
    void whereRoomIsMadeForTheFirstTheOthersBelong() {
        for (String gpu : List.of("a0", "a1", "b0", "b1")) {
            gpus.bind(on(pod("on-" + gpu, 60, null), gpu, null), gpu.substring(0, 1));
        }
        GpuPod first = pod("first", 50, "g");
        filter(first);
        gpus.keep(
                new KeptRoom(
                        "first",
                        0,
                        "b",
                        List.of(new GpuHold("b0", 50, 0, false)),
                        Set.of("on-b0"),
                        NOON.plusSeconds(60)));

        // It would fit on another one.
        assertThat(placed(pod("small", 10, "g"))).isEqualTo("nowhere");
        gpus.forget("on-b0");

        assertThat(placed(pod("small", 10, "g"))).isEqualTo("b0");
        assertThat(placed(first)).isEqualTo("b0");
        // Without a group it may be anywhere.
        assertThat(placed(pod("other", 40, null))).isNotEqualTo("b0");
    }

    @Test
    void whoseAnnotationAnAdministratorHasChangedIsInTheOtherGroup() {
        GpuPod first = pod("first", 20, "g");
        placed(first);
        gpus.bind(on(pod("first", 20, "h"), "a0", null), "a");
        gpus.bind(on(pod("x", 70, null), "a0", null), "a");

        assertThat(placed(pod("g", 20, "g"))).isEqualTo("a1");
        assertThat(placed(pod("h", 10, "h"))).isEqualTo("a0");
    }

    @Test
    void anUnhealthyGpuOfTheGroupIsSaidToBeSo() {
        placed(pod("first", 50, "g"));
        gpus.describe(
                new SharedNode(
                        "a",
                        List.of(new Gpu("a1", 100, 16_384)),
                        List.of(new Gpu("a0", 100, 16_384)),
                        Map.of()));

        assertThat(filter(pod("second", 10, "g")))
                .isEqualTo(
                        new Nowhere(
                                Map.of(), Map.of("a", Reason.UNHEALTHY, "b", Reason.ELSEWHERE)));
    }

    @Test
    void theGpuOfAGroupIsNotForgottenWhileItsNodeSaysNothing() {
        placed(pod("first", 50, "g"));
        gpus.remove("a");

        assertThat(placed(pod("second", 10, "g"))).isEqualTo("nowhere");
        gpus.describe(node("a", Map.of()));

        assertThat(placed(pod("second", 10, "g"))).isEqualTo("a0");
    }

    @Test
    void whatTheDevicePluginGrantedCounts() {
        gpus.bind(pod("first", 40, "g"), "a");
        // Where it is nobody says yet, so it holds nobody.
        assertThat(filter(pod("second", 10, "g"))).isInstanceOf(Chosen.class);
        gpus.cancel("second");

        gpus.describe(node("a", Map.of("first", List.of(new GpuHold("a1", 40, 0, false)))));

        assertThat(placed(pod("second", 10, "g"))).isEqualTo("a1");
    }

    @Test
    void aPodWhoseFirstWasNotBoundInTimeIsFreeAgain() {
        filter(pod("first", 50, "g"));
        gpus.bind(on(pod("x", 100, null), "a0", null), "a");

        assertThat(gpus.filter(pod("second", 60, "g"), NODES, NOON.plus(PATIENCE)))
                .isInstanceOf(Chosen.class);
    }

    @Test
    void onlyTheGpuOfTheGroupIsSearchedForWhoCouldGo() {
        placed(pod("first", 50, "g"));

        Map<String, HeldGpus> held =
                gpus.heldBeside("second", new GpuGroup("team-a", "g"), 0, NODES, NOON);

        assertThat(held.values())
                .flatExtracting(node -> node.all().gpus())
                .extracting(Gpu::id)
                .containsExactly("a0");
        assertThat(gpus.companions("second", new GpuGroup("team-a", "g"))).containsExactly("first");
        assertThat(gpus.companions("second", null)).isEmpty();
    }

    /** Random pods come and go; those of a group that are there are always on one GPU. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void aGroupIsNeverOnTwoGpus(long seed) {
        var random = new Random(seed);
        var there = new HashMap<String, GpuPod>();
        var where = new HashMap<String, String>();
        int shared = 0;
        for (int step = 0; step < 2_000; step++) {
            if (random.nextInt(5) < 3) {
                String group = random.nextInt(4) == 0 ? null : "g" + random.nextInt(4);
                GpuPod pod = pod("pod-" + step, 5 + random.nextInt(30), group);
                String gpu = placed(pod);
                if (!gpu.equals("nowhere")) {
                    there.put(pod.uid(), pod);
                    where.put(pod.uid(), gpu);
                }
            } else if (!there.isEmpty()) {
                var uids = new ArrayList<>(there.keySet());
                Collections.sort(uids);
                String gone = uids.get(random.nextInt(uids.size()));
                gpus.forget(gone);
                there.remove(gone);
                where.remove(gone);
            }
            var gpuOf = new HashMap<GpuGroup, String>();
            for (GpuPod pod : there.values()) {
                if (pod.group() != null) {
                    String own = where.get(pod.uid());
                    shared += gpuOf.containsKey(pod.group()) ? 1 : 0;
                    assertThat(gpuOf.computeIfAbsent(pod.group(), group -> own)).isEqualTo(own);
                }
            }
        }
        assertThat(shared).isGreaterThan(1_000);
    }
}
