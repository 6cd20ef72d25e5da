package io.gpusharing.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.nvml.fake.FakeNvml;
import io.gpusharing.nvml.fake.Scenario;
import io.gpusharing.nvml.fake.VirtualTime;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The binding, through the C ABI. */
class NvmlTest {

    private final VirtualTime time = new VirtualTime();

    private Nvml nvml(String... lines) {
        Nvml nvml = new Nvml(new FakeNvml(Scenario.parse(String.join("\n", lines)), time));
        assertThat(nvml.init()).isEqualTo(NvmlReturn.SUCCESS);
        return nvml;
    }

    private static long first(Nvml nvml) {
        assertThat(nvml.deviceByIndex(0)).isEqualTo(NvmlReturn.SUCCESS);
        return nvml.handle();
    }

    @ParameterizedTest(name = "case 1: {0}")
    @ValueSource(strings = {"/nonexistent/libnvidia-ml.so.1", "not a library", "without init"})
    void case1_aLibraryThatCannotServeIsMissingAndSaysWhy(String kind, @TempDir Path directory)
            throws Exception {
        Path file = directory.resolve("libnvidia-ml.so.1");
        Files.writeString(file, "a linker script, maybe");
        String place =
                switch (kind) {
                    case "not a library" -> file.toString();
                    case "without init" -> "libc.so.6";
                    default -> kind;
                };

        assertThat(NvmlLibrary.open(place))
                .isInstanceOfSatisfying(
                        NvmlLibrary.Missing.class,
                        missing -> {
                            assertThat(missing.reason()).contains(place);
                            assertThat(missing.tried()).hasSize(1);
                        });
    }

    @Test
    void withoutAnySymbolEveryCallAnswersThatItIsNotThere() {
        Nvml nvml = new Nvml(symbol -> Optional.empty());

        assertThat(nvml.init()).isEqualTo(NvmlReturn.FUNCTION_NOT_FOUND);
        assertThat(nvml.driverVersion()).isEmpty();
        assertThat(nvml.deviceByIndex(0)).isEqualTo(NvmlReturn.FUNCTION_NOT_FOUND);
        assertThat(nvml.uuid(1)).isNull();
        assertThat(nvml.answer()).isEqualTo(NvmlReturn.FUNCTION_NOT_FOUND);
        assertThat(nvml.minorNumber(1)).isEqualTo(NvmlReturn.FUNCTION_NOT_FOUND);
        assertThat(nvml.pciBusId(1)).isNull();
        assertThat(nvml.supportedEvents(1)).isEqualTo(NvmlReturn.FUNCTION_NOT_FOUND);
        assertThat(nvml.eventSetFree(1)).isEqualTo(NvmlReturn.FUNCTION_NOT_FOUND);
        assertThat(nvml.runningProcesses(1, new ProcessList()))
                .isEqualTo(NvmlReturn.FUNCTION_NOT_FOUND);
        assertThat(nvml.processUtilization(1, 0, new UtilizationRows()))
                .isEqualTo(NvmlReturn.FUNCTION_NOT_FOUND);
        assertThat(nvml.deviceSamples(1, 0, new DeviceSamples()))
                .isEqualTo(NvmlReturn.FUNCTION_NOT_FOUND);
    }

    @ParameterizedTest(name = "case 5: driver {0}")
    @ValueSource(
            strings = {"450.51.06", "460.32.03", "470.256.02", "530.30.02", "535.54.03", "580.1"})
    void case5_listsOfEveryGenerationAreReadRight(String driver) {
        Nvml nvml =
                nvml(
                        "driver " + driver,
                        "view host",
                        "device GPU-1",
                        "process host=11 memory=3GiB",
                        "process host=22 memory=5GiB");
        ProcessList list = new ProcessList();

        assertThat(nvml.runningProcesses(first(nvml), list)).isEqualTo(NvmlReturn.SUCCESS);

        assertThat(Arrays.copyOf(list.pid, list.count)).containsExactly(11, 22);
        assertThat(Arrays.copyOf(list.memory, list.count)).containsExactly(3L << 30, 5L << 30);
    }

    @ParameterizedTest(name = "case 6: {0} times")
    @ValueSource(ints = {1, 2})
    void case6_aListThatGrowsMeanwhileIsReadAgain(int times) {
        String call = "nvmlDeviceGetComputeRunningProcesses_v2";
        Nvml nvml = nvml("device GPU-1", "process", "fail " + call + " 7 times=" + times);
        ProcessList list = new ProcessList();

        assertThat(nvml.runningProcesses(first(nvml), list)).isEqualTo(NvmlReturn.SUCCESS);
        assertThat(list.count).isEqualTo(1);
    }

    @Test
    void case6_aListThatNeverFitsIsGivenUp() {
        Nvml nvml = nvml("device GPU-1", "fail nvmlDeviceGetComputeRunningProcesses_v2 7");

        assertThat(nvml.runningProcesses(first(nvml), new ProcessList()))
                .isEqualTo(NvmlReturn.INSUFFICIENT_SIZE);
    }

    @Test
    void case7_aPidThatIsListedTwiceCountsOnce() {
        Nvml nvml =
                nvml(
                        "device GPU-1",
                        "process pod=17 memory=3GiB",
                        "process pod=17 memory=3GiB",
                        "process pod=18 memory=1GiB");
        ProcessList list = new ProcessList();

        nvml.runningProcesses(first(nvml), list);

        assertThat(list.count).isEqualTo(2);
        assertThat(list.memory[0]).isEqualTo(3L << 30);
    }

    @ParameterizedTest(name = "case 12: {0} bytes")
    @ValueSource(strings = {"0", "18446744073709551615", "9223372036854775808"})
    void case12_memoryThatIsNotReportedIsUnknownAndNotSixteenExbibytes(String bytes) {
        Nvml nvml = nvml("device GPU-1", "process memory=" + bytes);
        ProcessList list = new ProcessList();

        nvml.runningProcesses(first(nvml), list);

        assertThat(list.memory[0]).isEqualTo(ProcessList.UNKNOWN_MEMORY);
    }

    @ParameterizedTest(name = "case 41: {0}")
    @ValueSource(ints = {96, 95, 120})
    void case41_namesAreReadToTheBuffersEndAndNoFurther(int length) {
        Nvml nvml = nvml("device GPU-1 name=" + "N".repeat(length));

        assertThat(nvml.name(first(nvml))).isEqualTo("N".repeat(Math.min(96, length)));
    }

    @Test
    void case41_bytesThatAreNotAsciiAreReplaced() {
        Nvml nvml = nvml("device GPU-1 name=GeForce™");

        assertThat(nvml.name(first(nvml))).startsWith("GeForce?");
    }

    @Test
    void case42_largeNumbersAreUnsigned() {
        Nvml nvml =
                nvml(
                        "view host",
                        "device GPU-1",
                        "process host=3000000000 busy=50%",
                        "row pid=4000000000 sm=4294967295");
        long device = first(nvml);
        time.pass(Duration.ofSeconds(5));
        ProcessList list = new ProcessList();
        UtilizationRows rows = new UtilizationRows();

        nvml.runningProcesses(device, list);
        nvml.processUtilization(device, 0, rows);

        assertThat(list.pid[0]).isEqualTo(3_000_000_000L);
        assertThat(rows.pid[0]).isEqualTo(3_000_000_000L);
        assertThat(rows.sm[0]).isEqualTo(50);
        assertThat(rows.sm[1]).isEqualTo(4_294_967_295L);
    }

    @ParameterizedTest
    @EnumSource(NvmlReturn.class)
    void everyReturnCodeIsFoundByItsNumber(NvmlReturn answer) {
        assertThat(NvmlReturn.of(answer.code())).isEqualTo(answer);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 31, 998, Integer.MAX_VALUE})
    void aNumberThatNoHeaderNamesIsUnknown(int code) {
        assertThat(NvmlReturn.of(code)).isEqualTo(NvmlReturn.UNKNOWN);
    }

    @Test
    void failuresAreCountedByCallAndAnswer() {
        Nvml nvml = nvml("device GPU-1", "fail nvmlDeviceGetUUID 4 times=2");
        long device = first(nvml);

        assertThat(nvml.uuid(device)).isNull();
        assertThat(nvml.uuid(device)).isNull();
        assertThat(nvml.uuid(device)).isEqualTo("GPU-1");

        assertThat(nvml.failures(NvmlCall.UUID, NvmlReturn.NO_PERMISSION)).isEqualTo(2);
    }
}
