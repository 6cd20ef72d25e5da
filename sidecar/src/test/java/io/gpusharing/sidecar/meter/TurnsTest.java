package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.gpusharing.sidecar.usage.DeviceUse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two pods that take turns on a GPU, on a driver that samples who runs as the real one does. How
 * far what is counted for each can be off is a table of docs/metering.md.
 */
class TurnsTest {

    private static final String OTHER = NodeViewTest.OTHER;
    private static final Duration A_WHILE = Duration.ofMinutes(3);

    /** What is counted, in percent of what was done. */
    private record Counted(LongSummaryStatistics large, LongSummaryStatistics small) {

        static Counted of(List<Bench> played) {
            return new Counted(
                    played.stream()
                            .mapToLong(it -> percent(it.use(), it.truth(0)))
                            .summaryStatistics(),
                    played.stream()
                            .mapToLong(it -> percent(it.use(OTHER, Bench.GPU), it.truth(1)))
                            .summaryStatistics());
        }

        private static long percent(DeviceUse use, long truth) {
            return Math.round(100.0 * use.gpuMicroseconds() / truth);
        }

        String row() {
            return "%d to %d %%, %d to %d %%"
                    .formatted(large.getMin(), large.getMax(), small.getMin(), small.getMax());
        }
    }

    /**
     * Loads of 60 and 20 percent, in milliseconds.
     *
     * @param first by how much the first period of the larger begins after an entry of the driver
     * @param second the same of the smaller
     */
    private static Bench bench(long period, long first, long second, boolean random) {
        return Bench.node(
                "device " + Bench.GPU,
                random ? "turns random" : "turns",
                load(100, Bench.POD, period * 6 / 10, period, first),
                load(200, OTHER, period * 2 / 10, period, second));
    }

    private static String load(int pid, String pod, long on, long period, long from) {
        return "process host=%d busy=100%% on=%dms off=%dms from=%dms uid=%s"
                .formatted(pid, on, period - on, from, pod);
    }

    /** Ten phases of both, and ten of the second in the first. */
    private static List<Bench> played(long period, boolean random, Duration tick) {
        List<Bench> played = new ArrayList<>();
        for (int phase = 0; phase < 10; phase++) {
            long late = phase * period / 10;
            played.add(bench(period, late, late, random).play(A_WHILE, tick));
            played.add(bench(period, period / 20, late, random).play(A_WHILE, tick));
        }
        return played;
    }

    @ParameterizedTest(name = "periods of {0} ms, random {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "100 | false | 0 to 132 %, 0 to 395 %",
                "130 | false | 79 to 112 %, 58 to 159 %",
                "200 | false | 0 to 132 %, 0 to 395 %",
                "100 | true  | 95 to 102 %, 90 to 110 %"
            })
    void allOfThemTogetherAreRightAndEachIsNoMoreThanIsSaid(
            long period, boolean random, String counted) {
        List<Bench> played = played(period, random, Duration.ofSeconds(1));

        assertThat(Counted.of(played).row()).isEqualTo(counted);
        for (Bench bench : played) {
            long both =
                    bench.use().gpuMicroseconds() + bench.use(OTHER, Bench.GPU).gpuMicroseconds();
            assertThat(both).isCloseTo(bench.truth(0) + bench.truth(1), withinPercentage(2));
            assertThat(bench.use().atMostMicroseconds()).isGreaterThan(bench.truth(0) * 98 / 100);
            assertThat(bench.use(OTHER, Bench.GPU).atMostMicroseconds())
                    .isGreaterThan(bench.truth(1) * 98 / 100);
        }
    }

    @Test
    @DisplayName("60 and 20 percent in periods of half the driver's, as on an H200")
    void whoComputesInStepIsNeverSeen() {
        Bench bench = bench(100, 30, 30, false).play(A_WHILE);

        assertThat(bench.use(OTHER, Bench.GPU).gpuMicroseconds()).isLessThan(bench.truth(1) / 100);
        assertThat(bench.use().gpuMicroseconds())
                .isCloseTo(bench.truth(0) + bench.truth(1), withinPercentage(2));
    }

    @ParameterizedTest(name = "read every {0} ms")
    @ValueSource(longs = {500, 1_000, 1_370, 3_330})
    void whenItIsReadMakesNoDifference(long tick) {
        Bench bench = bench(100, 30, 30, false).play(A_WHILE, Duration.ofMillis(tick));

        assertThat(bench.use(OTHER, Bench.GPU).gpuMicroseconds()).isLessThan(bench.truth(1) / 100);
    }
}
