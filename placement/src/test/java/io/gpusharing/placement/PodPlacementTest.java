package io.gpusharing.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.placement.Decision.Never;
import io.gpusharing.placement.Decision.Placed;
import io.gpusharing.placement.Decision.Wait;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PodPlacementTest {

    private static final GpuLayout TWO =
            new GpuLayout(List.of(new Gpu("GPU-0", 100, 16_384), new Gpu("GPU-1", 100, 16_384)));
    private static final GpuLayout NONE = new GpuLayout(List.of());

    @Test
    void largeContainersArePlacedFirstSoThatSmallOnesFitBesideThem() {
        Decision decision = PodPlacement.place(asks(30, 30, 70, 70), TWO, TWO);

        assertThat(decision).isInstanceOf(Placed.class);
        for (String gpu : List.of("GPU-0", "GPU-1")) {
            assertThat(
                            ((Placed) decision)
                                    .containers().stream()
                                            .flatMap(container -> container.gpus().stream())
                                            .filter(hold -> hold.gpu().equals(gpu))
                                            .mapToLong(GpuHold::cores)
                                            .sum())
                    .isEqualTo(100);
        }
    }

    @Test
    void aContainerThatFitsOnNoGpuOfTheNodeNeverStarts() {
        var ask = new ContainerAsk("large", Kind.App, new GpuAsk(1, 50, 20_000, false), Set.of());

        assertThat(PodPlacement.place(List.of(ask), TWO, TWO)).isInstanceOf(Never.class);
    }

    @Test
    void whileNoGpuCanBeAskedAPodWaits() {
        assertThat(PodPlacement.place(asks(50), NONE, TWO)).isInstanceOf(Wait.class);
        assertThat(PodPlacement.place(asks(50), NONE, NONE)).isInstanceOf(Never.class);
    }

    @Test
    void whereOnlyTheSharingKeepsAPodOutItIsToldSo() {
        GpuLayout shared =
                TWO.without(
                        TWO.gpus().stream()
                                .map(gpu ->
                                        new GpuHold(
                                                gpu.id(),
                                                30,
                                                1_024,
                                                false,
                                                Sharing.cooperative("budget/other")))
                                .toList());

        assertThat(PodPlacement.place(asks(30), shared, TWO))
                .isInstanceOfSatisfying(
                        Wait.class,
                        wait ->
                                assertThat(wait.reason())
                                        .contains("that it may not share one with")
                                        .doesNotContain("free are"));
        assertThat(PodPlacement.place(asks(80), shared, TWO))
                .isInstanceOfSatisfying(
                        Wait.class, wait -> assertThat(wait.reason()).contains("free are 70"));
    }

    @Test
    void containersOfAPodAreOnOneGpuWherePartsOfOneAreEnough() {
        var half =
                new GpuLayout(List.of(new Gpu("GPU-0", 30, 16_384), new Gpu("GPU-1", 100, 16_384)));

        assertThat(gpus(asks(30, 20), half, Strategy.BestFit))
                .as("the first alone would be on GPU-0")
                .containsExactly("GPU-1", "GPU-1");
        assertThat(gpus(asks(20, 10), half, Strategy.BestFit)).containsExactly("GPU-0", "GPU-0");
        assertThat(gpus(asks(90, 20), half, Strategy.BestFit)).containsExactly("GPU-1", "GPU-0");
    }

    @Test
    void spreadingTakesTheEmptiestGpuAndKeepsAPodTogether() {
        var half =
                new GpuLayout(List.of(new Gpu("GPU-0", 60, 16_384), new Gpu("GPU-1", 100, 16_384)));

        assertThat(gpus(asks(30), half, Strategy.BestFit)).containsExactly("GPU-0");
        assertThat(gpus(asks(30), half, Strategy.Spread)).containsExactly("GPU-1");
        assertThat(gpus(asks(30, 30), half, Strategy.Spread)).containsExactly("GPU-1", "GPU-1");
        assertThat(gpus(asks(60, 60), half, Strategy.Spread))
                .containsExactlyInAnyOrder("GPU-0", "GPU-1");
    }

    @Test
    void byEachStrategyAPodFitsWhereItDoesByAnother() {
        // Spread alone would put the first on the larger one, and leave no room for the second.
        var two =
                new GpuLayout(
                        List.of(
                                new Gpu("GPU-0", 40, 16_384, false, 16_384),
                                new Gpu("GPU-1", 100, 16_384)));

        assertThat(gpus(asks(40, 100), two, Strategy.Spread))
                .containsExactlyInAnyOrder("GPU-0", "GPU-1");
    }

    private static List<String> gpus(List<ContainerAsk> asks, GpuLayout free, Strategy strategy) {
        return PodPlacement.placed(asks, free, strategy).orElseThrow().stream()
                .flatMap(container -> container.gpus().stream())
                .map(GpuHold::gpu)
                .toList();
    }

    private static List<ContainerAsk> asks(int... cores) {
        return IntStream.range(0, cores.length)
                .mapToObj(i ->
                        new ContainerAsk(
                                "c" + i, Kind.App, new GpuAsk(1, cores[i], 1_024, false), Set.of()))
                .toList();
    }
}
