package io.gpusharing.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.placement.PodPlacement.ContainerAsk;
import io.gpusharing.request.ContainerRequest.Kind;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReasonTest {

    private static final GpuLayout TWO =
            new GpuLayout(List.of(new Gpu("GPU-0", 100, 16_384), new Gpu("GPU-1", 100, 16_384)));
    private static final GpuLayout FORTY_OF_EACH =
            TWO.without(
                    List.of(
                            new GpuHold("GPU-0", 60, 1_024, false),
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
        assertThat(Reason.of(parts(60, 1_024), new GpuLayout(List.of()), false, () -> true))
                .isEqualTo(Reason.NOT_SHARED);
    }

    @Test
    void whatNoEmptyGpuHasIsTooLargeAlsoWhereAllAreUnhealthy() {
        assertThat(Reason.of(parts(60, 20_000), TWO, false, () -> true))
                .isEqualTo(Reason.TOO_LARGE);
        assertThat(Reason.of(wholes(3), TWO, true, () -> true)).isEqualTo(Reason.TOO_LARGE);
        assertThat(Reason.of(parts(60, 1_024), TWO, false, () -> true)).isEqualTo(Reason.UNHEALTHY);
    }

    @Test
    void whatWouldFitIntoRoomThatIsKeptSaysSo() {
        assertThat(Reason.of(parts(60, 1_024), TWO, true, () -> true)).isEqualTo(Reason.KEPT);
        assertThat(Reason.of(parts(60, 1_024), TWO, true, () -> false)).isEqualTo(Reason.NO_ROOM);
    }

    @Test
    void aShortageHasTheNumbersOfTheNodeWithMostFree() {
        Shortage shortage =
                Shortage.of(
                        Set.of(Reason.NO_ROOM, Reason.NOT_SHARED),
                        List.of(
                                new Shortage.Node("n2", FORTY_OF_EACH, 1),
                                new Shortage.Node("n1", FORTY_OF_EACH, 0)));

        assertThat(shortage.text(parts(60, 1_024)))
                .isEqualTo(
                        "no single GPU has 60 of 100 and 1024 MiB free: of 4 GPUs on 2 nodes that fit otherwise, most is free of one on n1, 40 of 100 and 15360 MiB; 1 more is unhealthy");
        assertThat(shortage.text(wholes(1)))
                .startsWith("fewer than 1 GPUs are all free: ")
                .contains("none is idle");
    }
}
