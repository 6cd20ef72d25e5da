package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodUse;
import java.time.Duration;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How samples become time. */
class IntegralTest {

    private static final String DEVICE = "device " + Bench.GPU;
    private static final Duration TEN_MINUTES = Duration.ofMinutes(10);

    @Test
    void aSteadyLoadIsItsShareOfTheTime() {
        Bench bench = Bench.shared(DEVICE, "process busy=30% memory=4GiB");

        bench.play(TEN_MINUTES);

        DeviceUse use = bench.use();
        assertThat(use.basis()).isEqualTo(Basis.PROCESS);
        assertThat(use.basisReason()).isEmpty();
        assertThat(use.gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
        assertThat(use.memoryByteSeconds()).isCloseTo((4L << 30) * 600, withinPercentage(2));
        assertThat(use.coveredMicroseconds()).isEqualTo(600_000_000);
        assertThat(use.uncoveredMicroseconds()).isZero();
    }

    @ParameterizedTest(name = "case 13: {0}")
    @ValueSource(
            strings = {
                "fail nvmlDeviceGetProcessUtilization 6 times=1",
                "empty",
                "fail nvmlDeviceGetProcessUtilization 7"
            })
    void case13_anAnswerWithoutRowsNeitherLoopsNorFails(String answer) {
        Bench bench = Bench.shared(DEVICE, "process busy=0%", answer);

        bench.play(Duration.ofSeconds(20));

        assertThat(bench.fake.calls("nvmlDeviceGetProcessUtilization")).isLessThanOrEqualTo(20 * 4);
        assertThat(bench.use().gpuMicroseconds()).isZero();
    }

    @ParameterizedTest(name = "case 14: a row with {0} is dropped")
    @ValueSource(
            strings = {
                "pid=17 sm=101",
                "pid=17 sm=4294967295",
                "pid=17 at=-2000000000s",
                "pid=17 at=-3600s",
                "pid=17 at=3600s",
                "pid=0",
                "pid=4294967295"
            })
    void case14_aRowThatCannotBeTrueIsDroppedAndCounted(String row) {
        Bench bench = Bench.shared(DEVICE, "process pod=17 busy=0%", "row " + row);

        bench.play(Duration.ofMinutes(1));

        assertThat(bench.use().gpuMicroseconds()).isZero();
        assertThat(bench.droppedRows()).isGreaterThanOrEqualTo(60);
    }

    @Test
    @DisplayName("case 15: more rows than processes")
    void case15_rowsOfNoProcessTakeTheirPartAndNoMore() {
        Bench bench =
                Bench.shared(
                        DEVICE,
                        "process busy=30%",
                        "row pid=900 sm=5",
                        "row pid=901 sm=5",
                        "row pid=902 sm=250");

        bench.play(TEN_MINUTES);

        // They may be a neighbour's, so the device's 30 % are 30 parts to 10.
        assertThat(bench.use().gpuMicroseconds())
                .isCloseTo(bench.truth(0) * 3 / 4, withinPercentage(2));
    }

    @ParameterizedTest(name = "case 16: {0}")
    @DisplayName("case 16: polling faster than the driver samples")
    @ValueSource(strings = {"busy=60%", "busy=100% on=0.3s off=0.7s", "busy=50% on=7s off=11s"})
    void case16_pollingFasterThanTheDriverSamplesChangesNothing(String load) {
        Bench bench = Bench.shared(DEVICE, "process " + load);

        bench.play(TEN_MINUTES, Duration.ofMillis(50));

        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
    }

    @ParameterizedTest(name = "case 17: poll every {0} ms, {1}")
    @CsvSource({
        "500,busy=100% on=1.7s off=2.3s",
        "1000,busy=100% on=1.7s off=2.3s",
        "3000,busy=100% on=1.7s off=2.3s",
        "8000,busy=100% on=1.7s off=2.3s",
        "500,busy=37%",
        "1000,busy=37%",
        "3000,busy=37%",
        "8000,busy=37%"
    })
    void case17_thePollPeriodDoesNotChangeTheIntegral(int millis, String load) {
        Bench bench = Bench.shared(DEVICE, "process " + load);

        bench.play(TEN_MINUTES, Duration.ofMillis(millis));

        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(3));
    }

    @ParameterizedTest(name = "{0} beside {1}")
    @CsvSource({
        "busy=10%,busy=60%",
        "busy=100% on=0.3s off=0.9s,busy=0%",
        "busy=10%,busy=80% on=3s off=2s"
    })
    void whoSharesAGpuIsCreditedWithHisOwn(String one, String other) {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 " + one + " uid=" + Bench.POD,
                        "process host=200 " + other + " uid=" + NodeViewTest.OTHER);

        bench.play(TEN_MINUTES);

        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(4));
        assertThat(bench.use(NodeViewTest.OTHER, Bench.GPU).gpuMicroseconds())
                .isCloseTo(bench.truth(1), withinPercentage(4));
    }

    @ParameterizedTest(name = "poll every {0} ms")
    @ValueSource(ints = {500, 3_000})
    void aSidecarCountsItsOwnBesideAnothersProcess(int millis) {
        Bench bench =
                Bench.shared(DEVICE, "process pod=17 busy=10%", "process pod=0 host=9001 busy=60%");

        bench.play(TEN_MINUTES, Duration.ofMillis(millis));

        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(5));
    }

    @ParameterizedTest(name = "poll every {0} ms")
    @ValueSource(ints = {500, 1_000, 3_000, 8_000})
    @DisplayName("The driver's percents leave out the time before a process's first use")
    void theTimeBeforeTheFirstUseIsNotCounted(int millis) {
        Bench bench = Bench.shared(DEVICE, "process busy=100% from=63.3s to=70s");

        bench.play(Duration.ofMinutes(2), Duration.ofMillis(millis));

        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(5));
    }

    @Test
    @DisplayName("The driver's percents leave out the entries of processes that ended")
    void whoStaysIsNotCreditedWithMoreThanTheGpuDid() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=10% uid=" + Bench.POD,
                        "process host=200 busy=60% to=60s uid=" + NodeViewTest.OTHER);

        bench.play(Duration.ofSeconds(60));
        long before = bench.use().gpuMicroseconds();
        bench.play(Duration.ofSeconds(1));

        assertThat(bench.use().gpuMicroseconds() - before).isLessThanOrEqualTo(700_000);
    }

    @Test
    void whoRestedIsNotCreditedWithWhatAShortProcessDidBesideIt() {
        // The short one begins and ends between two readings, while the other lives and rests.
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=100% on=10s off=1000s from=5s uid=" + Bench.POD,
                        "process host=200 busy=100% from=20.05s to=20.85s uid="
                                + NodeViewTest.OTHER);

        bench.play(Duration.ofSeconds(60));

        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(3));
    }

    @Test
    void whoIsHardlyBusyIsNotCreditedWithShortProcessesBesideIt() {
        // Each second one of 0.18 s begins and ends between two readings.
        Bench bench =
                many(
                        60,
                        i ->
                                "process host=%d busy=100%% from=%d.4s to=%d.58s uid=%s"
                                        .formatted(200 + i, i, i, NodeViewTest.OTHER),
                        "process host=100 busy=1% uid=" + Bench.POD);

        bench.play(Duration.ofMinutes(1));

        assertThat(bench.use().gpuMicroseconds()).isLessThanOrEqualTo(3 * bench.truth(0));
    }

    @ParameterizedTest(name = "the device's history answers {0}")
    @ValueSource(strings = {"6", "3", "999"})
    void withoutTheDevicesHistoryPercentsCountAndTheReasonSaysSo(String code) {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=50% uid=" + Bench.POD,
                        "fail nvmlDeviceGetSamples " + code);

        bench.play(TEN_MINUTES);

        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().basisReason()).contains("history does not answer");
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(4));
    }

    @Test
    void manyShortProcessesAreCountedTogether() {
        // One after another, five seconds each, as the steps of a pipeline.
        Bench bench =
                many(
                        60,
                        i ->
                                "process host=%d busy=50%% from=%ds to=%ds uid=%s"
                                        .formatted(100 + i, 5 * i, 5 * i + 5, Bench.POD));

        bench.play(Duration.ofMinutes(5));

        // What a process did in its last second is gone from the rows with it, and no row is left.
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(150_000_000L, withinPercentage(2));
    }

    @Test
    void aRestartDoesNotCountTheTimeBeforeTheFirstUseEither() {
        Bench bench = Bench.shared(DEVICE, "process busy=100% from=121s to=130s");
        bench.play(Duration.ofSeconds(30));

        bench.restart(Duration.ofSeconds(90), Bench.BOOT);
        bench.play(Duration.ofMinutes(1));

        assertThat(bench.use().gpuMicroseconds()).isCloseTo(9_000_000L, withinPercentage(3));
    }

    /** So many processes of the node, and whatever else there is. */
    private static Bench many(int count, IntFunction<String> process, String... others) {
        return Bench.node(
                Stream.of(
                                Stream.of(DEVICE),
                                Stream.of(others),
                                IntStream.range(0, count).mapToObj(process))
                        .flatMap(lines -> lines)
                        .toArray(String[]::new));
    }

    @Test
    void manySmallProcessesAreTogetherWhatTheGpuDid() {
        Bench bench =
                many(
                        10,
                        i ->
                                "process host=%d busy=1%% on=0.3s off=0.7s uid=%s"
                                        .formatted(100 + i, Bench.POD));

        bench.play(TEN_MINUTES);

        assertThat(bench.use().gpuMicroseconds())
                .isCloseTo(10 * bench.truth(0), withinPercentage(3));
    }

    @Test
    @DisplayName("case 18: a stall of 9 s loses nothing, one of 25 s leaves 15 s uncovered")
    void case18_theRingBridgesWhatItReaches() {
        Bench bench = Bench.shared(DEVICE, "process busy=80%");

        bench.play(Duration.ofMinutes(1));
        bench.play(Duration.ofSeconds(9), Duration.ofSeconds(9));
        bench.play(Duration.ofMinutes(1));
        assertThat(bench.use().uncoveredMicroseconds()).isZero();
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));

        bench.play(Duration.ofSeconds(25), Duration.ofSeconds(25));
        bench.play(Duration.ofMinutes(1));

        DeviceUse use = bench.use();
        assertThat(use.uncoveredMicroseconds()).isEqualTo(15_000_000);
        assertThat(use.coveredMicroseconds() + use.uncoveredMicroseconds())
                .isEqualTo((60 + 9 + 60 + 25 + 60) * 1_000_000L);
        assertThat(use.gpuMicroseconds())
                .isCloseTo(bench.truth(0) - 12_000_000, withinPercentage(2));
    }

    @Test
    @DisplayName("case 19: two co-runners at 79 and 19 percent")
    void case19_coRunnersGetTheirSharesOfWallTime() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=79% uid=" + Bench.POD,
                        "process host=200 busy=19% uid=" + NodeViewTest.OTHER);

        bench.play(TEN_MINUTES);

        long first = bench.use().gpuMicroseconds();
        long second = bench.use(NodeViewTest.OTHER, Bench.GPU).gpuMicroseconds();
        assertThat(first).isCloseTo(474_000_000, withinPercentage(2));
        assertThat(second).isCloseTo(114_000_000, withinPercentage(2));
        assertThat(first + second).isLessThanOrEqualTo(600_000_000);
    }

    @Test
    @DisplayName("case 20: percents that sum up to 103 by rounding")
    void case20_theSumNeverPassesTheWindow() {
        Bench bench = Bench.shared(DEVICE, "process pod=17 busy=70%", "process pod=18 busy=33%");

        bench.play(TEN_MINUTES);

        assertThat(bench.use().gpuMicroseconds())
                .isLessThanOrEqualTo(600_000_000)
                .isCloseTo(600_000_000, withinPercentage(1));
    }

    @Test
    void nothingFromBeforeTheRunIsCounted() {
        Bench bench = Bench.shared(DEVICE, "process busy=100%");

        bench.play(Duration.ofSeconds(2));

        assertThat(bench.use().gpuMicroseconds()).isLessThanOrEqualTo(2_000_000);
    }

    @ParameterizedTest(name = "case 43: the wall clock is set by {0} s")
    @ValueSource(longs = {3_600, -3_600, 30, -30})
    void case43_aSetWallClockDoesNotChangeTheIntegral(long seconds) {
        Bench bench = Bench.shared(DEVICE, "process busy=50%");

        bench.play(Duration.ofMinutes(5));
        bench.time.setWallBy(Duration.ofSeconds(seconds));
        bench.play(Duration.ofMinutes(5));

        assertThat(bench.events).contains("clock");
        assertThat(bench.use().coveredMicroseconds()).isEqualTo(600_000_000);
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
    }

    @Test
    @DisplayName("case 43: a smeared leap second")
    void case43_aSmearedSecondDoesNotChangeTheIntegral() {
        Bench bench = Bench.shared(DEVICE, "process busy=50%");

        for (int second = 0; second < 600; second++) {
            bench.time.setWallBy(Duration.ofMillis(-2));
            bench.play(Duration.ofSeconds(1));
        }

        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
    }

    @ParameterizedTest(name = "case 50: seen from {0}")
    @ValueSource(strings = {"node", "pod"})
    void case50_useOfAGpuWithoutProcessesIsAttributedToNoPod(String from) {
        // The device's own history is busy, and no process is listed: scrubbing at driver start.
        String[] lines = {
            DEVICE,
            "process pod=0 host=5 busy=100%",
            "fail nvmlDeviceGetProcessUtilization 3",
            "fail nvmlDeviceGetProcessesUtilizationInfo 3"
        };
        Bench bench =
                from.equals("pod")
                        ? Bench.exclusive(1, lines)
                        : Bench.node(
                                DEVICE,
                                "fail nvmlDeviceGetProcessUtilization 3",
                                "fail nvmlDeviceGetProcessesUtilizationInfo 3",
                                "process host=5 busy=100% to=1000s uid=");

        bench.play(Duration.ofMinutes(1));

        assertThat(bench.meter.usage().pods())
                .flatExtracting(PodUse::devices)
                .extracting(DeviceUse::gpuMicroseconds)
                .allMatch(busy -> busy == 0);
    }

    @Test
    void memoryIsIntegratedOverCoveredTime() {
        Bench bench = Bench.shared(DEVICE, "process busy=10% memory=80GiB from=20s to=80s");

        bench.play(Duration.ofMinutes(2));

        assertThat(bench.use().memoryByteSeconds())
                .isCloseTo((80L << 30) * 60, within((80L << 30) * 11));
    }
}
