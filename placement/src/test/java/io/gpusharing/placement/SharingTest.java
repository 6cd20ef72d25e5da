package io.gpusharing.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.Names;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.sharing.Sharing.Across;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SharingTest {

    private static final Sharing TEAM_A = Sharing.cooperative("budget/team-a");
    private static final Sharing TEAM_B = Sharing.cooperative("budget/team-b");
    private static final Map<String, String> BUDGET = Map.of(Names.BUDGET_ANNOTATION, "team-a");

    private static final Gpu GPU = new Gpu("GPU-0", 100, 16_384);
    private static final GpuAsk THIRTY = new GpuAsk(1, 30, 1_024, false);
    private static final GpuAsk WHOLE = new GpuAsk(1, 100, 0, true);

    private static ContainerAsk container(String name, GpuAsk ask) {
        return new ContainerAsk(name, Kind.App, ask, Set.of());
    }

    private static GpuHold thirty(String gpu, Sharing sharing) {
        return new GpuHold(gpu, 30, 1_024, false, sharing);
    }

    @Test
    void aPodTakesTurnsWhereTheNodeServesNoMps() {
        assertThat(Sharing.of(null, "a", BUDGET, true)).isEqualTo(Sharing.TIME_SLICES);
    }

    @Test
    void podsOfOneBudgetTrustEachOtherAndWithoutABudgetThoseOfANamespace() {
        assertThat(Sharing.of(Across.Budget, "a", BUDGET, true)).isEqualTo(TEAM_A);
        assertThat(Sharing.of(Across.Budget, "team-a", null, true))
                .isEqualTo(Sharing.cooperative("namespace/team-a"))
                .isNotEqualTo(TEAM_A);
    }

    @Test
    void aSiteMayTrustLessOrMore() {
        assertThat(Sharing.of(Across.Namespace, "a", BUDGET, true))
                .isEqualTo(Sharing.cooperative("namespace/a"));
        assertThat(Sharing.of(Across.Cluster, "a", BUDGET, true))
                .isEqualTo(Sharing.of(Across.Cluster, "b", null, true))
                .isEqualTo(Sharing.cooperative("cluster"));
    }

    @Test
    void aPodTakesTurnsIfItWantsToOrCannotBeAClient() {
        var disabled = Map.of(Names.MPS_ANNOTATION, "disabled");
        var enabled = Map.of(Names.MPS_ANNOTATION, "enabled");

        assertThat(Sharing.of(Across.Budget, "a", disabled, true)).isEqualTo(Sharing.TIME_SLICES);
        assertThat(Sharing.of(Across.Budget, "a", enabled, true))
                .isEqualTo(Sharing.cooperative("namespace/a"));
        assertThat(Sharing.of(Across.Budget, "a", enabled, false)).isEqualTo(Sharing.TIME_SLICES);
    }

    @Test
    void aContainerWithSharedMemoryOfItsOwnIsNoClientUnlessItsGpusAreWhole() {
        var asks = List.of(container("train", THIRTY), container("other", WHOLE));

        assertThat(Sharing.isEligible(asks, false, Set.of()::contains)).isTrue();
        assertThat(Sharing.isEligible(asks, false, Set.of("other", "proxy")::contains)).isTrue();
        assertThat(Sharing.isEligible(asks, false, Set.of("train")::contains)).isFalse();
        assertThat(Sharing.isEligible(asks, true, Set.of()::contains)).isFalse();
    }

    @Test
    void aPartFitsOnlyBesideThoseWhoShareInTheSameWay() {
        Gpu sliced = GPU.without(thirty("GPU-0", Sharing.TIME_SLICES));
        Gpu ofTeamA = GPU.without(thirty("GPU-0", TEAM_A));

        assertThat(List.of(Sharing.TIME_SLICES, TEAM_A, TEAM_B))
                .allMatch(it -> GPU.fits(THIRTY.shared(it)))
                .filteredOn(it -> sliced.fits(THIRTY.shared(it)))
                .containsExactly(Sharing.TIME_SLICES);
        assertThat(List.of(Sharing.TIME_SLICES, TEAM_A, TEAM_B))
                .filteredOn(it -> ofTeamA.fits(THIRTY.shared(it)))
                .containsExactly(TEAM_A);
    }

    @Test
    void nobodyJoinsThoseWhoShareInDifferentWays() {
        Gpu mixed = GPU.without(thirty("GPU-0", TEAM_A)).without(thirty("GPU-0", TEAM_B));

        assertThat(List.of(Sharing.TIME_SLICES, TEAM_A, TEAM_B))
                .noneMatch(it -> mixed.fits(THIRTY.shared(it)));
    }

    @Test
    void wholeGpusAreWholeInEveryWay() {
        assertThat(WHOLE.shared(TEAM_A)).isEqualTo(WHOLE);
        assertThat(GPU.fits(WHOLE)).isTrue();
        assertThat(GPU.without(thirty("GPU-0", TEAM_A)).fits(WHOLE)).isFalse();
    }

    @Test
    void whereNoMpsIsServedAllTakeTurnsWhateverTheyAskFor() {
        Gpu gpu = new SharedNode("n", List.of(GPU), List.of(), Map.of()).all().gpus().getFirst();

        assertThat(gpu.hold(THIRTY.shared(TEAM_A))).isEqualTo(thirty("GPU-0", Sharing.TIME_SLICES));
        assertThat(List.of(Sharing.TIME_SLICES, TEAM_A, TEAM_B))
                .allMatch(
                        it -> gpu.without(gpu.hold(THIRTY.shared(TEAM_A))).fits(THIRTY.shared(it)));
    }

    @Test
    void whoWasGrantedAPartByMpsKeepsItWhenTheNodeServesNoneAnyMore() {
        var node =
                new SharedNode(
                        "n",
                        List.of(GPU),
                        List.of(),
                        Map.of("a", List.of(thirty("GPU-0", TEAM_A))));
        GpuLayout free = new NodeOccupancy(node, node.granted(), uid -> true, Map.of()).free();

        assertThat(List.of(Sharing.TIME_SLICES, TEAM_A, TEAM_B))
                .noneMatch(it -> free.place(List.of(THIRTY.shared(it))).isPresent());
    }

    @Test
    void aBoundPodHoldsItsPartInItsDomainAlsoBeforeItIsGranted() {
        var placed = List.of(container("train", THIRTY.shared(TEAM_A)));

        assertThat(mpsNode(GPU).held("a", ContainerAsk.only(placed, "GPU-0")))
                .containsExactly(thirty("GPU-0", TEAM_A));
    }

    @ParameterizedTest
    @MethodSource("io.gpusharing.sharing.MountPaths#ofSharedMemory")
    void howeverThePathOfTheSharedMemoryIsWrittenItIsKnown(String path) {
        assertThat(Sharing.isSharedMemory(path)).isTrue();
    }

    @ParameterizedTest
    @MethodSource("io.gpusharing.sharing.MountPaths#ofOthers")
    void otherPathsAreNotTheSharedMemory(String path) {
        assertThat(Sharing.isSharedMemory(path)).isFalse();
    }

    @Test
    void aPodIsPlacedBesideItsOwnAndNotOnTheFullestGpu() {
        GpuLayout node =
                new GpuLayout(List.of(GPU, new Gpu("GPU-1", 100, 16_384)))
                        .without(
                                List.of(
                                        new GpuHold("GPU-0", 60, 1_024, false),
                                        thirty("GPU-1", TEAM_A)));
        var pod =
                ContainerAsk.shared(
                        List.of(container("one", THIRTY), container("other", THIRTY)), TEAM_A);

        assertThat(PodPlacement.placed(pod, node).map(ContainerPlacement::held))
                .contains(List.of(new GpuHold("GPU-1", 60, 2_048, false, TEAM_A)));
        assertThat(PodPlacement.placed(ContainerAsk.shared(pod, TEAM_B), node)).isEmpty();
    }

    @Test
    void roomThatIsKeptForOneDomainIsNoRoomForAnother() {
        var node = mpsNode(GPU);
        var idle = new NodeOccupancy(node, Map.of(), uid -> true, Map.of());
        GpuLayout free = idle.free(List.of(kept(TEAM_A)));

        assertThat(free.place(List.of(THIRTY.shared(TEAM_A)))).isPresent();
        assertThat(free.place(List.of(THIRTY.shared(TEAM_B)))).isEmpty();
    }

    @Test
    void roomForOneDomainBesideAnotherIsThereWhenTheOtherHasGone() {
        var node = mpsNode(GPU);
        var occupied =
                new NodeOccupancy(
                        node,
                        Map.of("b", List.of(thirty("GPU-0", TEAM_B))),
                        uid -> true,
                        Map.of("b", Instant.EPOCH));

        assertThat(occupied.willHave(kept(TEAM_A))).isTrue();
        assertThat(List.of(Sharing.TIME_SLICES, TEAM_A, TEAM_B))
                .noneMatch(it ->
                        occupied.free(List.of(kept(TEAM_A)))
                                .gpus()
                                .getFirst()
                                .fits(THIRTY.shared(it)));
    }

    private static SharedNode mpsNode(Gpu... gpus) {
        return new SharedNode(
                "n", List.of(gpus), List.of(), Map.of(), Map.of(), "", true, Set.of());
    }

    private static KeptRoom kept(Sharing sharing) {
        return new KeptRoom(
                "waiting",
                0,
                "n",
                List.of(thirty("GPU-0", sharing)),
                Set.of(),
                Instant.parse("2026-01-01T00:00:00Z"));
    }

    @Test
    void aDomainIsWrittenAndReadBack() {
        assertThat(Sharing.inDomain(TEAM_A.trusted().orElse(null))).isEqualTo(TEAM_A);
        assertThat(Sharing.inDomain(Sharing.TIME_SLICES.trusted().orElse(null)))
                .isEqualTo(Sharing.TIME_SLICES);
    }
}
