package io.gpusharing.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReasonTest {

    private static final GpuLayout TWO =
            new GpuLayout(List.of(new Gpu("GPU-0", 100, 16_384), new Gpu("GPU-1", 100, 16_384)));
    private static final GpuLayout FORTY_OF_EACH =
            TWO.without(
                    List.of(
                            new GpuHold("GPU-0", 60, 1_024, false),
                            new GpuHold("GPU-1", 60, 1_024, false)));

    private static final GpuLayout NONE = new GpuLayout(List.of());

    private static final Sharing TEAM_A = Sharing.cooperative("budget/team-a");
    private static final Sharing TEAM_B = Sharing.cooperative("budget/team-b");

    /** One of two GPUs is shared by team A, and the other one by pods that take turns. */
    private static final GpuLayout SHARED =
            TWO.without(
                    List.of(
                            new GpuHold("GPU-0", 20, 1_024, false, TEAM_A),
                            new GpuHold("GPU-1", 60, 1_024, false)));

    private static List<ContainerAsk> parts(long cores, long memory) {
        return List.of(ask(new GpuAsk(1, cores, memory, false)));
    }

    private static List<ContainerAsk> wholes(int count) {
        return List.of(ask(new GpuAsk(count, 100, 0, true)));
    }

    private static ContainerAsk ask(GpuAsk ask) {
        return new ContainerAsk("cuda", Kind.App, ask, Set.of());
    }

    @Test
    void ofANodeWithoutGpusOfOursNothingElseIsSaid() {
        assertThat(Reason.of(parts(60, 1_024), NONE, NONE, () -> true))
                .isEqualTo(Reason.NOT_SHARED);
    }

    @Test
    void whatNoEmptyGpuHasIsTooLargeAlsoWhereAllAreUnhealthy() {
        assertThat(Reason.of(parts(60, 20_000), TWO, NONE, () -> true)).isEqualTo(Reason.TOO_LARGE);
        assertThat(Reason.of(wholes(3), TWO, TWO, () -> true)).isEqualTo(Reason.TOO_LARGE);
        assertThat(Reason.of(parts(60, 1_024), TWO, NONE, () -> true)).isEqualTo(Reason.UNHEALTHY);
    }

    @Test
    void whatWouldFitIntoRoomThatIsKeptSaysSo() {
        assertThat(Reason.of(parts(60, 1_024), TWO, TWO, () -> true)).isEqualTo(Reason.KEPT);
        assertThat(Reason.of(parts(60, 1_024), TWO, FORTY_OF_EACH, () -> false))
                .isEqualTo(Reason.NO_ROOM);
    }

    @Test
    void itIsSaidWhereTheSharingAloneKeepsAPodFromEveryGpu() {
        assertThat(Reason.of(shared(40, TEAM_B), TWO, SHARED, () -> false))
                .isEqualTo(Reason.SHARED_OTHERWISE);
        assertThat(Reason.of(shared(60, Sharing.TIME_SLICES), TWO, SHARED, () -> false))
                .isEqualTo(Reason.SHARED_OTHERWISE);
        // It would not fit either if everybody shared in the same way.
        assertThat(Reason.of(shared(90, TEAM_B), TWO, SHARED, () -> false))
                .isEqualTo(Reason.NO_ROOM);
        assertThat(Reason.of(wholes(1), TWO, SHARED, () -> false)).isEqualTo(Reason.NO_ROOM);
    }

    @Test
    void whereOneOfTwoContainersMayShareNoGpuThatIsSaid() {
        List<ContainerAsk> both =
                List.of(shared(30, TEAM_B).getFirst(), ask(new GpuAsk(1, 30, 1, false)));

        assertThat(Reason.of(both, TWO, SHARED, () -> false)).isEqualTo(Reason.SHARED_OTHERWISE);

        List<ContainerAsk> beside =
                List.of(ask(new GpuAsk(1, 100, 0, true)), shared(30, TEAM_B).getFirst());
        GpuLayout oneIdle = TWO.without(List.of(new GpuHold("GPU-0", 20, 1_024, false, TEAM_A)));

        assertThat(Reason.of(beside, TWO, oneIdle, () -> false)).isEqualTo(Reason.SHARED_OTHERWISE);
    }

    @Test
    void ofAGroupItIsSaidThatTheGpuIsSharedInAnotherWay() {
        List<ContainerAsk> beside = ContainerAsk.only(shared(30, TEAM_B), "GPU-0");
        Reason reason = Reason.of(beside, TWO, SHARED, () -> false);

        assertThat(reason).isEqualTo(Reason.SHARED_OTHERWISE);
        assertThat(reason.text(beside))
                .isEqualTo(
                        "the GPU of the pods with which it is to share one is shared in another way than it may share one");
    }

    @ParameterizedTest
    @EnumSource
    void aReasonNamesNoNodeAndHasNoPercentSign(Reason reason) {
        assertThat(reason.text(shared(30, TEAM_B)))
                .isNotBlank()
                .doesNotContain("%", "GPU-", "team-b");
    }

    @Test
    void aShortageCountsGpusThatAreSharedInAnotherWayAsNotFree() {
        List<ContainerAsk> asks = shared(50, Sharing.TIME_SLICES);
        Shortage shortage =
                Shortage.of(
                        Set.of(Reason.NO_ROOM), List.of(Shortage.Node.of("n1", asks, SHARED, TWO)));

        assertThat(shortage.text(asks))
                .isEqualTo(
                        "no single GPU has 50 of 100 and 1024 MiB free: of 2 GPUs on 1 node that fit otherwise, most is free of one on n1, 40 of 100 and 15360 MiB; 1 of them is shared by pods that it may not share one with");
        assertThat(
                        Shortage.of(
                                        Set.of(Reason.NO_ROOM),
                                        List.of(
                                                Shortage.Node.of(
                                                        "n1", shared(90, TEAM_B), SHARED, TWO)))
                                .text(shared(90, TEAM_B)))
                .contains("none has anything free for it; 2 of them are shared");
    }

    private static List<ContainerAsk> shared(long cores, Sharing sharing) {
        return ContainerAsk.shared(parts(cores, 1_024), sharing);
    }

    @Test
    void aShortageHasTheNumbersOfTheNodeWithMostFree() {
        Shortage shortage =
                Shortage.of(
                        Set.of(Reason.NO_ROOM, Reason.NOT_SHARED),
                        List.of(
                                new Shortage.Node("n2", FORTY_OF_EACH, 1, 0),
                                new Shortage.Node("n1", FORTY_OF_EACH, 0, 0)));

        assertThat(shortage.text(parts(60, 1_024)))
                .isEqualTo(
                        "no single GPU has 60 of 100 and 1024 MiB free: of 4 GPUs on 2 nodes that fit otherwise, most is free of one on n1, 40 of 100 and 15360 MiB; 1 more is unhealthy");
        assertThat(shortage.text(wholes(1)))
                .startsWith("fewer than 1 GPUs are all free: ")
                .contains("none is idle");
    }
}
