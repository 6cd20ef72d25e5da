package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.sidecar.attribution.GpuRequest;
import io.gpusharing.sidecar.attribution.PodView;
import io.gpusharing.sidecar.attribution.ProcFs;
import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.DeviceState;
import io.gpusharing.sidecar.usage.DeviceUse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What happens when NVML, a GPU or the driver fails. */
class FaultsTest {

    private static final String DEVICE = "device " + Bench.GPU;

    @Test
    @DisplayName("case 1: there is no library")
    void case1_withoutALibraryThePodIsReportedByAllocation() {
        Bench bench = Bench.shared(DEVICE);
        Meter meter =
                new Meter(
                        () -> new NvmlLibrary.Missing("no libnvidia-ml.so.1", List.of("here")),
                        new PodView(Bench.POD, GpuRequest.UNKNOWN, new ProcFs(Path.of("/nowhere"))),
                        bench.time,
                        Bench.BOOT,
                        null,
                        bench.recorder());

        for (int second = 0; second < 60; second++) {
            bench.time.pass(Duration.ofSeconds(1));
            meter.tick();
        }

        DeviceUse use = meter.usage().pods().getFirst().devices().getFirst();
        assertThat(use.uuid()).isEqualTo(MeteredDevices.UNKNOWN);
        assertThat(use.basis()).isEqualTo(Basis.ALLOCATION);
        assertThat(use.basisReason()).isEqualTo("no libnvidia-ml.so.1");
        assertThat(use.uncoveredMicroseconds()).isEqualTo(60_000_000);
        assertThat(bench.events).filteredOn(event -> event.startsWith("closed")).hasSize(1);
    }

    @ParameterizedTest(name = "case 2: nvmlInit_v2 answers {0}")
    @CsvSource({"9,true", "18,true", "12,false", "4,false", "999,false"})
    void case2_whatInitAnswersDecidesWhetherANewContainerHelps(int code, boolean leaves) {
        Bench bench = Bench.shared(DEVICE, "process busy=30%", "fail nvmlInit_v2 " + code);

        bench.play(Duration.ofMinutes(3));

        assertThat(bench.meter.wantsToLeave() != null).isEqualTo(leaves);
        assertThat(bench.use(MeteredDevices.UNKNOWN).basisReason())
                .contains("nvmlInit_v2 answered");
        assertThat(bench.fake.calls("nvmlInit_v2")).isBetween(3, 4);
    }

    @Test
    @DisplayName("case 2: init fails at first")
    void case2_aLaterInitIsTakenAtOnce() {
        Bench bench = Bench.shared(DEVICE, "process busy=30%", "fail nvmlInit_v2 999 times=1");

        bench.play(Duration.ofMinutes(10));

        DeviceUse use = bench.use();
        assertThat(use.basis()).isEqualTo(Basis.PROCESS);
        assertThat(use.coveredMicroseconds() + use.uncoveredMicroseconds()).isEqualTo(600_000_000);
        assertThat(use.uncoveredMicroseconds()).isBetween(45_000_000L, 61_000_000L);
    }

    @Test
    @DisplayName("case 3: no device")
    void case3_noDeviceIsSaidSo() {
        Bench bench = Bench.shared();

        bench.play(Duration.ofMinutes(1));

        assertThat(bench.use(MeteredDevices.UNKNOWN).basisReason()).contains("sees no GPU");
    }

    @Test
    @DisplayName("case 3: one of two devices is denied")
    void case3_theRestIsMetered() {
        Bench bench =
                Bench.shared(
                        "device GPU-denied",
                        DEVICE,
                        "process device=1 busy=30%",
                        "fail nvmlDeviceGetHandleByIndex_v2 4 times=1");

        bench.play(Duration.ofSeconds(50));

        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.meter.devices()).extracting(DeviceState::uuid).containsExactly(Bench.GPU);
    }

    static Stream<String> symbols() {
        return Stream.of(
                "nvmlShutdown",
                "nvmlSystemGetDriverVersion",
                "nvmlDeviceGetCount_v2",
                "nvmlDeviceGetHandleByIndex_v2",
                "nvmlDeviceGetUUID",
                "nvmlDeviceGetName",
                "nvmlDeviceGetSamples",
                "nvmlDeviceGetMemoryInfo",
                "nvmlDeviceGetComputeRunningProcesses",
                "nvmlDeviceGetComputeRunningProcesses_v2",
                "nvmlDeviceGetComputeRunningProcesses_v3",
                "nvmlDeviceGetGraphicsRunningProcesses_v2",
                "nvmlDeviceGetMPSComputeRunningProcesses_v2",
                "nvmlDeviceGetProcessUtilization",
                "nvmlDeviceGetProcessesUtilizationInfo",
                "nvmlDeviceGetMigMode",
                "nvmlDeviceGetMaxMigDeviceCount",
                "nvmlDeviceGetMigDeviceHandleByIndex");
    }

    @ParameterizedTest(name = "case 4: without {0}")
    @org.junit.jupiter.params.provider.MethodSource("symbols")
    void case4_aMissingSymbolCostsOneBasisAtMost(String symbol) {
        Bench bench = Bench.exclusive(1, DEVICE, "process busy=30%", "without " + symbol);

        bench.play(Duration.ofMinutes(10));

        DeviceUse use = bench.meter.usage().pods().getFirst().devices().getFirst();
        assertThat(use.coveredMicroseconds() + use.uncoveredMicroseconds()).isEqualTo(600_000_000);
        if (use.basis() != Basis.ALLOCATION) {
            assertThat(use.gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
        } else {
            assertThat(use.basisReason()).isNotEmpty();
        }
    }

    @Test
    @DisplayName("case 24: indices are swapped by a restart")
    void case24_countersFollowTheUuid() {
        Bench bench = Bench.shared(DEVICE, "device GPU-2", "process device=0 busy=30%");
        bench.play(Duration.ofMinutes(5));
        long before = bench.use().gpuMicroseconds();

        bench.restart(
                Duration.ofSeconds(2),
                Bench.BOOT,
                "device GPU-2",
                DEVICE,
                "process device=1 busy=30%");
        bench.play(Duration.ofMinutes(5));

        assertThat(bench.use().gpuMicroseconds() - before)
                .isCloseTo(90_000_000, withinPercentage(3));
        assertThat(bench.meter.usage().pods().getFirst().devices()).hasSize(1);
    }

    @Test
    @DisplayName("case 25: a GPU is lost and comes back")
    void case25_aLostGpuIsMeteredByAllocationUntilItIsBack() {
        Bench bench = Bench.shared(DEVICE, "process busy=30%");
        bench.play(Duration.ofMinutes(1));

        bench.fake.lose(0, true);
        bench.play(Duration.ofMinutes(2));
        assertThat(bench.use().basis()).isEqualTo(Basis.ALLOCATION);
        assertThat(bench.use().basisReason()).contains("GPU_IS_LOST");
        bench.fake.lose(0, false);
        bench.play(Duration.ofMinutes(5));

        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().coveredMicroseconds() + bench.use().uncoveredMicroseconds())
                .isEqualTo(480_000_000);
    }

    @Test
    @DisplayName("case 25: a GPU waits for a reset")
    void case25_aGpuThatNeedsAResetIsTriedAgain() {
        Bench bench =
                Bench.shared(
                        DEVICE,
                        "process busy=30%",
                        "fail nvmlDeviceGetProcessUtilization 16 after=10 times=1");

        bench.play(Duration.ofSeconds(11));
        assertThat(bench.use().basisReason()).contains("RESET_REQUIRED");
        bench.play(Duration.ofMinutes(5));

        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
    }

    @Test
    @DisplayName("case 26: access is revoked for good (daemon-reload)")
    void case26_revokedAccessIsTriedAgainOnceAMinute() {
        Bench bench =
                Bench.shared(
                        DEVICE,
                        "process busy=30%",
                        "fail nvmlDeviceGetProcessUtilization 999 after=30");

        bench.play(Duration.ofMinutes(10));

        DeviceUse use = bench.use();
        assertThat(use.basis()).isEqualTo(Basis.ALLOCATION);
        assertThat(use.coveredMicroseconds() + use.uncoveredMicroseconds()).isEqualTo(600_000_000);
        assertThat(bench.fake.calls("nvmlInit_v2")).isBetween(8, 12);
        assertThat(bench.fake.calls("nvmlShutdown")).isBetween(7, 12);
    }

    @Test
    void oneOddAnswerIsBridgedByTheRing() {
        Bench bench =
                Bench.shared(
                        DEVICE,
                        "process busy=30%",
                        "fail nvmlDeviceGetProcessUtilization 999 after=30 times=2");

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().uncoveredMicroseconds()).isZero();
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
    }

    @Test
    @DisplayName("case 27: NVML forgot that it was initialised")
    void case27_nvmlIsInitialisedOnceMoreAndContinues() {
        Bench bench =
                Bench.shared(
                        DEVICE,
                        "process busy=30%",
                        "fail nvmlDeviceGetProcessUtilization 1 after=30 times=1");

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.fake.calls("nvmlInit_v2")).isEqualTo(2);
        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().uncoveredMicroseconds()).isZero();
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
    }

    @ParameterizedTest(name = "case 28: {0} hangs")
    @ValueSource(strings = {"nvmlDeviceGetProcessUtilization", "nvmlInit_v2"})
    @Timeout(20)
    void case28_aHangingCallStopsNoReport(String symbol) throws Exception {
        int after = symbol.equals("nvmlInit_v2") ? 0 : 5;
        Bench bench =
                Bench.shared(DEVICE, "process busy=30%", "hang " + symbol + " after=" + after);
        bench.play(Duration.ofSeconds(after));
        Thread nvml = Thread.ofPlatform().daemon().start(bench.meter::tick);
        while (bench.meter.inside() == null || bench.fake.calls(symbol) <= after) {
            Thread.onSpinWait();
        }

        bench.time.pass(Duration.ofSeconds(60));
        DeviceUse during = bench.meter.usage().pods().getFirst().devices().getFirst();
        bench.fake.release();
        nvml.join();
        bench.play(Duration.ofMinutes(1));

        if (after > 0) {
            assertThat(during.basis()).isEqualTo(Basis.ALLOCATION);
            assertThat(during.basisReason()).contains(symbol, "has not returned");
            assertThat(during.uncoveredMicroseconds()).isEqualTo(50_000_000);
        }
        DeviceUse use = bench.use();
        assertThat(use.basis()).isEqualTo(Basis.PROCESS);
        assertThat(use.coveredMicroseconds() + use.uncoveredMicroseconds())
                .isEqualTo((after + 60 + 60) * 1_000_000L);
        assertThat(use.uncoveredMicroseconds())
                .isGreaterThanOrEqualTo(during.uncoveredMicroseconds());
    }

    @ParameterizedTest(name = "{0} answers {1} on one GPU")
    @CsvSource({
        "nvmlDeviceGetProcessUtilization,999",
        "nvmlDeviceGetProcessUtilization,10",
        "nvmlDeviceGetComputeRunningProcesses_v2,10",
        "nvmlDeviceGetComputeRunningProcesses_v2,999"
    })
    void oneGpuThatAnswersOddlyDoesNotCostTheOthersTheirMeasurement(String symbol, int code) {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "device GPU-2",
                        "process host=100 device=0 busy=30% uid=" + Bench.POD,
                        "process host=200 device=1 busy=60% uid=" + NodeViewTest.OTHER,
                        "fail %s %d after=60 device=0".formatted(symbol, code));

        bench.play(Duration.ofMinutes(10));

        DeviceUse other = bench.use(NodeViewTest.OTHER, "GPU-2");
        assertThat(other.basis()).isEqualTo(Basis.PROCESS);
        assertThat(other.uncoveredMicroseconds()).isZero();
        assertThat(other.gpuMicroseconds()).isCloseTo(bench.truth(1), withinPercentage(2));
        assertThat(bench.use().basis()).isNotEqualTo(Basis.PROCESS);
    }

    @ParameterizedTest(name = "1 in 40 calls of {0} answers {1}")
    @CsvSource({
        "nvmlDeviceGetProcessUtilization,999",
        "nvmlDeviceGetProcessUtilization,4",
        "nvmlDeviceGetProcessUtilization,3",
        "nvmlDeviceGetProcessUtilization,27",
        "nvmlDeviceGetComputeRunningProcesses_v2,999",
        "nvmlDeviceGetComputeRunningProcesses_v2,4",
        "nvmlDeviceGetComputeRunningProcesses_v2,10",
        "nvmlDeviceGetSamples,999"
    })
    void singleOddAnswersAreBridged(String symbol, int code) {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=30% uid=" + Bench.POD,
                        "process host=200 busy=20% uid=" + NodeViewTest.OTHER,
                        "fail %s %d every=40".formatted(symbol, code));

        bench.play(Duration.ofMinutes(30));

        assertThat(bench.events).filteredOn(event -> event.startsWith("basis")).hasSize(1);
        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().uncoveredMicroseconds()).isZero();
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(3));
    }

    @ParameterizedTest(name = "1 in 40 calls for samples answers {0} where the device is the basis")
    @ValueSource(ints = {999, 4, 3})
    void singleOddSamplesAreBridged(int code) {
        Bench bench =
                Bench.exclusive(
                        1,
                        "view own",
                        DEVICE,
                        "process busy=30%",
                        "fail nvmlDeviceGetSamples %d every=40".formatted(code));

        bench.play(Duration.ofMinutes(30));

        assertThat(bench.events).filteredOn(event -> event.startsWith("basis")).hasSize(1);
        assertThat(bench.use().basis()).isEqualTo(Basis.DEVICE);
        assertThat(bench.use().uncoveredMicroseconds()).isZero();
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(3));
    }

    @ParameterizedTest(name = "{0} takes {1}")
    @CsvSource({
        "nvmlDeviceGetProcessUtilization,5s,100",
        "nvmlDeviceGetProcessUtilization,8s,100",
        "nvmlDeviceGetProcessUtilization,12s,75",
        "nvmlDeviceGetSamples,6s,95",
        "nvmlDeviceGetComputeRunningProcesses_v2,8s,95"
    })
    void slowCallsAreStillMeasured(String symbol, String latency, int coveredPercent) {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=30% uid=" + Bench.POD,
                        "latency %s %s".formatted(symbol, latency));

        bench.play(Duration.ofMinutes(10));

        DeviceUse use = bench.use();
        assertThat(use.basis()).isEqualTo(Basis.PROCESS);
        long time = use.coveredMicroseconds() + use.uncoveredMicroseconds();
        assertThat(use.coveredMicroseconds()).isGreaterThanOrEqualTo(time / 100 * coveredPercent);
        assertThat(use.gpuMicroseconds())
                .isCloseTo(use.coveredMicroseconds() * 3 / 10, withinPercentage(3));
    }

    @ParameterizedTest(name = "{0} hangs for 40 s on the GPU with {1} calls before")
    @CsvSource({
        "nvmlDeviceGetProcessUtilization,60",
        "nvmlDeviceGetProcessUtilization,61",
        "nvmlDeviceGetSamples,6",
        "nvmlDeviceGetSamples,7",
        "nvmlDeviceGetComputeRunningProcesses_v2,6",
        "nvmlDeviceGetComputeRunningProcesses_v2,7"
    })
    @Timeout(20)
    void noCounterFallsOnAnyGpuWhenACallHangsOnOne(String symbol, int after) throws Exception {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "device GPU-2",
                        "process host=100 device=0 busy=30% uid=" + Bench.POD,
                        "process host=200 device=1 busy=60% uid=" + NodeViewTest.OTHER,
                        "hang %s after=%d".formatted(symbol, after));
        Thread nvml = Thread.ofPlatform().daemon().start(() -> bench.playUntil(symbol, after));
        while (bench.fake.calls(symbol) <= after) {
            Thread.onSpinWait();
        }
        List<DeviceUse> seen = new ArrayList<>();
        for (int tens = 0; tens < 4; tens++) {
            bench.time.pass(Duration.ofSeconds(10));
            seen.addAll(bench.uses());
        }
        bench.fake.release();
        nvml.join();
        seen.addAll(bench.uses());
        for (int second = 0; second < 300; second++) {
            bench.play(Duration.ofSeconds(1));
            seen.addAll(bench.uses());
        }

        for (String gpu : List.of(Bench.GPU, "GPU-2")) {
            List<DeviceUse> ofGpu = seen.stream().filter(use -> use.uuid().equals(gpu)).toList();
            assertThat(ofGpu).extracting(DeviceUse::coveredMicroseconds).isSorted();
            assertThat(ofGpu).extracting(DeviceUse::uncoveredMicroseconds).isSorted();
            assertThat(ofGpu).extracting(DeviceUse::gpuMicroseconds).isSorted();
            assertThat(ofGpu).extracting(DeviceUse::memoryByteSeconds).isSorted();
            DeviceUse last = ofGpu.getLast();
            assertThat(last.basis()).isEqualTo(Basis.PROCESS);
            double busy = gpu.equals(Bench.GPU) ? 0.3 : 0.6;
            assertThat(last.gpuMicroseconds())
                    .as(gpu)
                    .isCloseTo((long) (busy * last.coveredMicroseconds()), withinPercentage(3));
            assertThat(last.uncoveredMicroseconds()).isLessThanOrEqualTo(33_000_000);
        }
    }

    @Test
    void aNewRunBeginsAtZeroAndCountsOnFromThere() {
        Bench bench = Bench.shared(DEVICE, "process busy=30%");
        bench.play(Duration.ofMinutes(5));
        long before = bench.truth(0);

        bench.meter.beginAnew();

        assertThat(bench.use().gpuMicroseconds()).isZero();
        assertThat(bench.use().coveredMicroseconds()).isZero();
        bench.play(Duration.ofMinutes(5));
        assertThat(bench.use().coveredMicroseconds()).isEqualTo(300_000_000);
        assertThat(bench.use().gpuMicroseconds())
                .isCloseTo(bench.truth(0) - before, withinPercentage(3));
    }

    @Test
    @DisplayName("case 29: slow calls and 500 processes")
    void case29_slowCallsNeitherAddUpNorMultiply() {
        String[] lines =
                Stream.concat(
                                Stream.of(
                                        DEVICE,
                                        "latency nvmlDeviceGetProcessUtilization 5ms",
                                        "latency nvmlDeviceGetComputeRunningProcesses_v2 50ms"),
                                IntStream.range(0, 500)
                                        .mapToObj(i ->
                                                "process busy="
                                                        + (i < 50 ? 1 : 0)
                                                        + "% memory=100MiB"))
                        .toArray(String[]::new);
        Bench bench = Bench.shared(lines);
        // The fake lists what the meter can see in /proc; all 500 are this pod's.

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.fake.calls("nvmlDeviceGetComputeRunningProcesses_v2"))
                .isLessThanOrEqualTo(61);
        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().gpuMicroseconds())
                .isCloseTo(50 * bench.truth(0), withinPercentage(4));
    }

    @ParameterizedTest(name = "case 44: away for {0} s")
    @CsvSource({"3,0", "12,2000000", "300,290000000"})
    void case44_aRestartContinuesAndTheRingFillsTheGap(int away, long uncovered) {
        Bench bench = Bench.shared(DEVICE, "process busy=30%");
        bench.play(Duration.ofMinutes(5));

        bench.restart(Duration.ofSeconds(away - 1), Bench.BOOT);
        bench.play(Duration.ofMinutes(5));

        DeviceUse use = bench.use();
        assertThat(use.uncoveredMicroseconds()).isEqualTo(uncovered);
        assertThat(use.coveredMicroseconds() + use.uncoveredMicroseconds())
                .isEqualTo((599 + away) * 1_000_000L);
        assertThat(use.gpuMicroseconds())
                .isCloseTo(bench.truth(0) - uncovered * 3 / 10, withinPercentage(2));
    }

    @Test
    @DisplayName("case 44: another boot")
    void case44_anotherBootBeginsANewRun() {
        Bench bench = Bench.shared(DEVICE, "process busy=30%");
        bench.play(Duration.ofMinutes(5));

        bench.restart(Duration.ofSeconds(3), "another boot");
        bench.play(Duration.ofMinutes(1));

        assertThat(bench.use().coveredMicroseconds()).isEqualTo(60_000_000);
    }

    @Test
    void theBasisImprovesAfterThreeGoodMinutes() {
        Bench bench =
                Bench.exclusive(
                        1,
                        DEVICE,
                        "process busy=30%",
                        "fail nvmlDeviceGetProcessUtilization 4 after=60 times=3");

        bench.play(Duration.ofSeconds(64));
        assertThat(bench.use().basis()).isEqualTo(Basis.DEVICE);
        bench.play(Duration.ofSeconds(170));
        assertThat(bench.use().basis()).isEqualTo(Basis.DEVICE);
        assertThat(bench.use().basisReason()).contains("not yet for three minutes");
        bench.play(Duration.ofSeconds(20));

        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(3));
        assertThat(bench.use().uncoveredMicroseconds()).isZero();
    }
}
