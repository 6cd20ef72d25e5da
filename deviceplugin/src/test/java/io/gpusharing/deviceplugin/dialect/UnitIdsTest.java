package io.gpusharing.deviceplugin.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class UnitIdsTest {

    @Test
    void aFractionGetsUnitsOfOneGpuAndOfTheFullestThatHasEnough() {
        var available = new ArrayList<>(units(0, 100));
        available.addAll(units(1, 60));
        available.addAll(units(2, 40));

        assertThat(UnitIds.preferred(available, List.of(), 50))
                .hasSize(50)
                .allMatch(id -> id.startsWith("g1-"));
    }

    @Test
    void whatMustBeIncludedDecidesTheGpu() {
        var available = new ArrayList<>(units(0, 100));
        available.addAll(units(1, 60));

        assertThat(UnitIds.preferred(available, List.of("g0-7"), 10))
                .hasSize(10)
                .contains("g0-7")
                .allMatch(id -> id.startsWith("g0-"));
    }

    @Test
    void twoGpusAreTwoThatAreAllFree() {
        var available = new ArrayList<>(units(0, 60));
        available.addAll(units(1, 100));
        available.addAll(units(2, 100));

        assertThat(UnitIds.preferred(available, List.of(), 200))
                .hasSize(200)
                .noneMatch(id -> id.startsWith("g0-"));
    }

    @Test
    void severalGpusAreOfOneNumaNodeWhereOneHasEnough() {
        var available = new ArrayList<>(units(0, 100));
        available.addAll(units(1, 60));
        available.addAll(units(2, 100));
        available.addAll(units(3, 100));

        assertThat(
                        UnitIds.preferred(
                                available,
                                List.of(),
                                200,
                                id -> id.substring(0, 2),
                                id -> id.charAt(1) < '2' ? 0 : 1))
                .hasSize(200)
                .allMatch(id -> id.startsWith("g2-") || id.startsWith("g3-"));
    }

    @Test
    void whereNoneHasEnoughAsFewNumaNodesAsPossibleAreUsed() {
        var available = new ArrayList<>(units(0, 100));
        available.addAll(units(1, 100));
        available.addAll(units(2, 100));

        assertThat(
                        UnitIds.preferred(
                                available,
                                List.of(),
                                300,
                                id -> id.substring(0, 2),
                                id -> id.charAt(1) == '1' ? 0 : 1))
                .hasSize(300)
                .startsWith("g0-0")
                .endsWith("g1-99");
    }

    private static List<String> units(int gpu, int count) {
        return IntStream.range(0, count).mapToObj(unit -> UnitIds.id(gpu, unit)).toList();
    }
}
