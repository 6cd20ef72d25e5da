package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.DeviceState;
import io.gpusharing.sidecar.usage.DeviceUse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** By which basis a GPU is metered, and that the report says why by no better one. */
class BasisTest {

    private static final String DEVICE = "device " + Bench.GPU;

    /** Driver generations against where the meter stands: the table of what works where. */
    @ParameterizedTest(name = "row {0}: driver {1}, view {2}, {3} GPU -> {4}")
    @CsvSource({
        // A: the node's view, any driver
        "A,450.51.06,host,shared,PROCESS",
        "A,470.256.02,host,shared,PROCESS",
        "A,530.30.02,host,shared,PROCESS",
        "A,535.104.05,host,shared,PROCESS",
        "A,535.113.01,host,shared,PROCESS",
        "A,550.54.14,host,shared,PROCESS",
        "A,565.57.01,host,shared,PROCESS",
        "A,570.86.15,host,shared,PROCESS",
        "A,610.57.04,host,shared,PROCESS",
        // B: a pod with a shared process namespace, translated samples
        "B,570.86.15,shared,shared,PROCESS",
        "B,580.159.03,shared,shared,PROCESS",
        "B,610.57.04,shared,shared,PROCESS",
        "B,580.159.03,shared,exclusive,PROCESS",
        // C: lists translated, samples not
        "C,565.57.01,shared,shared,ALLOCATION",
        "C,565.77.00,shared,exclusive,DEVICE",
        // D: the same, and memory is hidden
        "D,535.113.01,shared,shared,ALLOCATION",
        "D,550.54.14,shared,exclusive,DEVICE",
        "D,560.35.03,shared,shared,ALLOCATION",
        // E: the host's pids everywhere
        "E,450.51.06,shared,shared,ALLOCATION",
        "E,470.256.02,shared,exclusive,DEVICE",
        "E,535.104.05,shared,shared,ALLOCATION",
        // F: every container has its own process namespace
        "F,450.51.06,own,exclusive,DEVICE",
        "F,550.54.14,own,shared,ALLOCATION",
        "F,580.159.03,own,shared,ALLOCATION",
        "F,580.159.03,own,exclusive,DEVICE",
    })
    void theTableOfWhatWorksWhereHolds(
            String row, String driver, String view, String gpu, Basis expected) {
        List<String> lines =
                new ArrayList<>(
                        List.of(
                                "driver " + driver,
                                "view " + view,
                                DEVICE,
                                "process host=4001 pod=17 busy=40% memory=2GiB uid=" + Bench.POD));
        if (gpu.equals("shared")) {
            lines.add("process host=5001 pod=0 busy=20% uid=" + NodeViewTest.OTHER);
        }
        String[] scenario = lines.toArray(String[]::new);
        Bench bench =
                switch (view) {
                    case "host" -> Bench.node(scenario);
                    default ->
                            gpu.equals("shared")
                                    ? Bench.shared(scenario)
                                    : Bench.exclusive(1, scenario);
                };

        bench.play(Duration.ofMinutes(10));

        DeviceUse use = bench.use();
        assertThat(use.basis()).isEqualTo(expected);
        assertThat(use.coveredMicroseconds() + use.uncoveredMicroseconds())
                .isBetween(599_000_000L, 600_000_000L);
        if (expected == Basis.ALLOCATION) {
            assertThat(use.gpuMicroseconds()).isZero();
            assertThat(use.coveredMicroseconds()).isZero();
        } else {
            assertThat(use.gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
        }
        assertThat(use.basisReason().isEmpty()).isEqualTo(expected == Basis.PROCESS);
    }

    @Test
    @DisplayName("case 8: the list is empty while the GPU is busy")
    void case8_withoutASharedNamespaceTheReasonSaysSo() {
        Bench bench = Bench.shared("view own", DEVICE, "process busy=90%");

        bench.play(Duration.ofMinutes(1));

        assertThat(bench.use().basis()).isEqualTo(Basis.ALLOCATION);
        assertThat(bench.use().basisReason()).contains("do not share a process namespace");
    }

    @ParameterizedTest(name = "case 9: driver {0}")
    @ValueSource(strings = {"535.113.01", "550.54.14", "565.57.01", "no version at all"})
    void case9_samplesInAnotherPidSpaceAreNeverCharged(String driver) {
        Bench bench =
                Bench.shared("driver " + driver.replace(' ', '-'), DEVICE, "process busy=90%");
        if (driver.startsWith("no")) {
            // The fake takes a version that it cannot read for a new driver, whose pids join.
            bench.play(Duration.ofMinutes(5));
            assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
            return;
        }

        bench.play(Duration.ofMinutes(1));

        assertThat(bench.use().basis()).isEqualTo(Basis.ALLOCATION);
        assertThat(bench.use().gpuMicroseconds()).isZero();
    }

    @Test
    @DisplayName("case 9: a driver that breaks its version's promise, on a GPU of one pod alone")
    void case9_aBrokenPromiseIsFoundOutWithinAMinute() {
        Bench bench =
                Bench.exclusive(
                        1, DEVICE, "process pod=17 busy=0%", "process pod=0 host=645400 busy=90%");

        bench.play(Duration.ofMinutes(1));

        assertThat(bench.use().basis()).isEqualTo(Basis.DEVICE);
        assertThat(bench.use().basisReason()).contains("not among the listed");
    }

    @Test
    @DisplayName("case 10: rows of other pods with their host pids")
    void case10_rowsOfOtherPodsAreIgnored() {
        Bench bench =
                Bench.shared(
                        DEVICE,
                        "process pod=17 busy=30%",
                        "process pod=0 host=9001 busy=40%",
                        "process pod=0 host=9002 busy=20%");

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
    }

    @Test
    @DisplayName("case 11: a stranger's host pid equals one of ours")
    void case11_aPidThatTwoCanHaveIsDroppedAndItsTimeUncovered() {
        Bench bench =
                Bench.shared(DEVICE, "process pod=17 busy=30%", "process pod=0 host=17 busy=40%");

        bench.play(Duration.ofMinutes(1));

        assertThat(bench.meter.ambiguousRows()).isPositive();
        assertThat(bench.use().gpuMicroseconds()).isZero();
        assertThat(bench.use().uncoveredMicroseconds()).isGreaterThan(50_000_000);
    }

    @ParameterizedTest(name = "case 31: {0}")
    @ValueSource(strings = {"", "fail nvmlDeviceGetComputeRunningProcesses_v2 4"})
    void case31_aMigInstanceIsMeteredByAllocationAndSaysSo(String fault) {
        Bench bench = Bench.exclusive(1, DEVICE + " mig=MIG-a", "process busy=50%", fault);

        bench.play(Duration.ofMinutes(1));

        DeviceUse use = bench.use("MIG-a");
        assertThat(use.basis()).isEqualTo(Basis.ALLOCATION);
        assertThat(use.basisReason()).contains("MIG instance");
        assertThat(use.uncoveredMicroseconds()).isEqualTo(60_000_000);
    }

    @Test
    @DisplayName("case 32: MIG indices with holes")
    void case32_instancesBehindHolesAreFound() {
        Bench bench = Bench.shared(DEVICE + " mig=MIG-a,,,MIG-d");

        bench.play(Duration.ofSeconds(5));

        assertThat(bench.meter.devices())
                .extracting(DeviceState::uuid)
                .containsExactly("MIG-a", "MIG-d");
    }

    @Test
    @DisplayName("case 33: MIG is set up anew under the same parent")
    void case33_anotherInstanceHasItsOwnCounters() {
        Bench bench = Bench.shared(DEVICE + " mig=MIG-a");
        bench.play(Duration.ofMinutes(1));

        bench.restart(Duration.ofSeconds(1), Bench.BOOT, DEVICE + " mig=MIG-b");
        bench.play(Duration.ofMinutes(1));

        assertThat(bench.meter.devices())
                .extracting(DeviceState::uuid)
                .containsExactly("MIG-a", "MIG-b");
        assertThat(bench.use("MIG-b").gpuMicroseconds()).isZero();
    }

    @Test
    @DisplayName("case 36: only the newer call answers")
    void case36_theNewerCallIsUsedWhereTheOlderIsNot() {
        Bench bench =
                Bench.shared(DEVICE, "process busy=30%", "without nvmlDeviceGetProcessUtilization");

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
    }

    @ParameterizedTest(name = "case 36: {0}")
    @ValueSource(
            strings = {
                "fail nvmlDeviceGetProcessesUtilizationInfo 25",
                "fail nvmlDeviceGetProcessesUtilizationInfo 7",
                "without nvmlDeviceGetProcessesUtilizationInfo"
            })
    void case36_ifNeitherAnswersTheNextRungIsUsed(String fault) {
        Bench bench =
                Bench.exclusive(
                        1,
                        DEVICE,
                        "process busy=30%",
                        "fail nvmlDeviceGetProcessUtilization 3",
                        fault);

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.use().basis()).isEqualTo(Basis.DEVICE);
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
    }

    @Test
    @DisplayName("case 39: a vGPU guest, where energy and MIG are not supported")
    void case39_aVgpuGuestIsExact() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "fail nvmlDeviceGetMigMode 3",
                        "process host=100 busy=30% uid=" + Bench.POD);

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
    }

    @Test
    @DisplayName("case 40: WSL, where nothing is known per process")
    void case40_withoutListsAGpuOfOnePodIsMeteredAsADevice() {
        Bench bench =
                Bench.exclusive(
                        1,
                        DEVICE,
                        "process busy=30%",
                        "fail nvmlDeviceGetComputeRunningProcesses_v2 3",
                        "fail nvmlDeviceGetProcessUtilization 3",
                        "fail nvmlDeviceGetProcessesUtilizationInfo 3");

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.use().basis()).isEqualTo(Basis.DEVICE);
        assertThat(bench.use().basisReason()).contains("NOT_SUPPORTED");
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
    }

    @Test
    void aDeviceWhoseHistoryIsNotSupportedFallsToAllocation() {
        Bench bench =
                Bench.exclusive(
                        1, "view own", DEVICE, "process busy=30%", "fail nvmlDeviceGetSamples 3");

        bench.play(Duration.ofMinutes(1));

        assertThat(bench.use().basis()).isEqualTo(Basis.ALLOCATION);
        assertThat(bench.use().basisReason()).contains("Device: NVML answered NOT_SUPPORTED");
    }

    @Test
    void moreVisibleGpusThanAskedForLeaveItOpenWhichIsThePods() {
        Bench bench = Bench.exclusive(1, "view own", DEVICE, "device GPU-2", "process busy=30%");

        bench.play(Duration.ofMinutes(1));

        assertThat(bench.use().basis()).isEqualTo(Basis.ALLOCATION);
        assertThat(bench.use("GPU-2").basis()).isEqualTo(Basis.ALLOCATION);
    }

    @Test
    void onceThePodUsedAGpuTheOthersOfTheNodeAreNotItsOwn() {
        Bench bench =
                Bench.shared(
                        DEVICE,
                        "device GPU-2",
                        "process pod=17 busy=30%",
                        "process device=1 pod=0 host=77 busy=90%");

        bench.play(Duration.ofMinutes(1));

        assertThat(bench.meter.usage().pods().getFirst().devices())
                .extracting(DeviceUse::uuid)
                .containsExactly(Bench.GPU);
    }

    @Test
    void samplesThatASidecarCannotSeeDoNotMisleadIt() {
        Bench bench =
                Bench.shared(DEVICE, "process pod=17 busy=0%", "process pod=0 host=-1 busy=60%");

        bench.play(Duration.ofMinutes(5));

        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().gpuMicroseconds()).isZero();
    }

    @Test
    void attributionThatMissesAllOfTheDevicesTimeIsGivenUp() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=90% uid=" + Bench.POD,
                        "fail nvmlDeviceGetProcessUtilization 6 after=60");

        bench.play(Duration.ofMinutes(4));

        assertThat(bench.use().basis()).isEqualTo(Basis.DEVICE_SPLIT);
        assertThat(bench.use().basisReason()).contains("no process's samples");
    }
}
