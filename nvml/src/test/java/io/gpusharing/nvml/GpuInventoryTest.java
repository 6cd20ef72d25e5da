package io.gpusharing.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.nvml.fake.FakeNvml;
import io.gpusharing.nvml.fake.Scenario;
import io.gpusharing.nvml.fake.VirtualTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GpuInventoryTest {

    @TempDir private Path folder;

    private static final String EIGHT =
            """
            device GPU-0 memory=141GiB name=H200 minor=3 pci=0000:1b:00.0
            device GPU-1 memory=141GiB name=H200 minor=2 pci=0000:3b:00.0
            device GPU-2 memory=141GiB name=H200 minor=1 pci=0000:4c:00.0 mig=MIG-a,,MIG-b
            device GPU-3 memory=141GiB name=H200 minor=0 pci=0000:5d:00.0
            device GPU-4 memory=141GiB name=H200 minor=7 pci=0000:9b:00.0
            device GPU-5 memory=141GiB name=H200 minor=6 pci=0000:bb:00.0
            device GPU-6 memory=141GiB name=H200 minor=5 pci=0000:cb:00.0
            device GPU-7 memory=141GiB name=H200 minor=4 pci=0009:db:1f.0
            """;

    private static FakeNvml fake(String... lines) {
        return new FakeNvml(Scenario.parse(String.join("\n", lines)), new VirtualTime());
    }

    private static GpuInventory read(FakeNvml fake) {
        return read(fake, SystemMemory.OF_THIS_COMPUTER);
    }

    private static GpuInventory read(FakeNvml fake, SystemMemory system) {
        Nvml nvml = new Nvml(fake);
        nvml.init();
        return GpuInventory.read(nvml, system);
    }

    private static GpuInventory.Listed listed(FakeNvml fake) {
        return (GpuInventory.Listed) read(fake);
    }

    @Test
    void everyGpuIsReadWithWhatIsHandedOutOfIt() {
        GpuInventory.Listed inventory = listed(fake(EIGHT));

        assertThat(inventory.unreadable()).isEmpty();
        assertThat(inventory.gpus()).hasSize(8);
        assertThat(inventory.gpus().get(0))
                .isEqualTo(new PhysicalGpu(0, "GPU-0", 3, "H200", 144_384, "0000:1b:00.0", false));
        assertThat(inventory.gpus().get(2))
                .isEqualTo(new PhysicalGpu(2, "GPU-2", 1, "H200", 144_384, "0000:4c:00.0", true));
        assertThat(inventory.gpus().get(7).pciBusId()).isEqualTo("0009:db:1f.0");
    }

    @ParameterizedTest(name = "{0} answers {1}")
    @CsvSource({
        "nvmlDeviceGetHandleByIndex_v2,15,''",
        "nvmlDeviceGetUUID,999,''",
        "nvmlDeviceGetMinorNumber,3,GPU-3",
        "nvmlDeviceGetMigMode,4,GPU-3",
        "nvmlDeviceGetMemoryInfo,15,GPU-3"
    })
    void aGpuThatCannotBeReadSaysWhyAndDoesNotHideTheOthers(String call, int code, String uuid) {
        NvmlReturn answer = NvmlReturn.of(code);
        String reason = call + " answered " + answer;

        GpuInventory.Listed inventory =
                listed(fake(EIGHT, "fail " + call + " " + code + " device=3"));

        assertThat(inventory.gpus())
                .extracting(PhysicalGpu::index)
                .containsExactly(0, 1, 2, 4, 5, 6, 7);
        assertThat(inventory.unreadable())
                .containsExactly(new GpuInventory.Unreadable(3, uuid, reason, answer));
    }

    @Test
    void aGpuThatFellOffTheBusIsUnreadableUntilItIsBack() {
        FakeNvml fake = fake(EIGHT);

        fake.lose(5, true);
        List<GpuInventory.Unreadable> while5IsLost = listed(fake).unreadable();
        fake.lose(5, false);

        assertThat(while5IsLost)
                .singleElement()
                .satisfies(gpu -> {
                    assertThat(gpu.index()).isEqualTo(5);
                    assertThat(gpu.answer()).isEqualTo(NvmlReturn.GPU_IS_LOST);
                });
        assertThat(listed(fake).unreadable()).isEmpty();
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(
            strings = {
                "without nvmlDeviceGetMigMode",
                "fail nvmlDeviceGetMigMode 3",
                "without nvmlDeviceGetName",
                "fail nvmlDeviceGetPciInfo_v3 3"
            })
    void whatAnOldGpuDoesNotSayIsLeftOut(String fault) {
        GpuInventory.Listed inventory =
                listed(fake("device GPU-1 name=T4 pci=0000:3b:00.0", fault));

        PhysicalGpu gpu = inventory.gpus().getFirst();
        assertThat(gpu.mig()).isFalse();
        assertThat(gpu.model()).isEqualTo(fault.contains("Name") ? "" : "T4");
        assertThat(gpu.pciBusId()).isEqualTo(fault.contains("Pci") ? "" : "0000:3b:00.0");
    }

    @Test
    void theMemoryOfAMigGpuMayBeToldToThePrivilegedAlone() {
        GpuInventory.Listed inventory =
                listed(
                        fake(
                                "device GPU-0 mig=MIG-a",
                                "device GPU-1",
                                "fail nvmlDeviceGetMemoryInfo 4"));

        assertThat(inventory.gpus())
                .containsExactly(
                        new PhysicalGpu(0, "GPU-0", 0, "Fake GPU", 0, "0000:01:00.0", true));
        assertThat(inventory.unreadable())
                .extracting(GpuInventory.Unreadable::uuid)
                .containsExactly("GPU-1");
    }

    @Test
    void aGpuThatKnowsNoMemoryHasTheComputers() throws IOException {
        FakeNvml fake = fake("device GPU-0 name=GB10", "fail nvmlDeviceGetMemoryInfo 3");

        assertThat(read(fake, meminfo("MemTotal:       125501440 kB\nMemFree: 5 kB\n")))
                .isEqualTo(
                        new GpuInventory.Listed(
                                List.of(
                                        new PhysicalGpu(
                                                0,
                                                "GPU-0",
                                                0,
                                                "GB10",
                                                122_560,
                                                "0000:01:00.0",
                                                false,
                                                true)),
                                List.of()));
    }

    @Test
    void severalOfThemHaveItTogetherAndOthersTheirOwn() throws IOException {
        FakeNvml fake =
                fake(
                        "device GPU-0",
                        "device GPU-1 memory=80GiB",
                        "device GPU-2",
                        "fail nvmlDeviceGetMemoryInfo 3 device=0",
                        "fail nvmlDeviceGetMemoryInfo 3 device=2");

        assertThat(((GpuInventory.Listed) read(fake, meminfo("MemTotal: 2097152 kB\n"))).gpus())
                .extracting(PhysicalGpu::memoryMiB)
                .containsExactly(1_024L, 81_920L, 1_024L);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"", "MemTotal: many kB\n", "MemFree: 5 kB\n"})
    void whereTheComputerDoesNotSayItsMemoryEitherTheGpuCannotBeRead(String meminfo)
            throws IOException {
        FakeNvml fake = fake("device GPU-0", "fail nvmlDeviceGetMemoryInfo 3");

        assertThat(((GpuInventory.Listed) read(fake, meminfo(meminfo))).unreadable())
                .extracting(GpuInventory.Unreadable::answer)
                .containsExactly(NvmlReturn.NOT_SUPPORTED);
    }

    @Test
    void thisComputerSaysItsMemory() {
        assertThat(SystemMemory.OF_THIS_COMPUTER.mebibytes()).isPositive();
        assertThat(new SystemMemory(folder.resolve("none")).mebibytes()).isZero();
    }

    private SystemMemory meminfo(String text) throws IOException {
        return new SystemMemory(Files.writeString(folder.resolve("meminfo"), text));
    }

    @Test
    void aComputerWithoutGpusIsNoError() {
        assertThat(read(fake())).isEqualTo(new GpuInventory.Listed(List.of(), List.of()));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "fail nvmlDeviceGetCount_v2 18,LIB_RM_VERSION_MISMATCH",
        "fail nvmlInit_v2 9,UNINITIALIZED",
        "without nvmlDeviceGetCount_v2,FUNCTION_NOT_FOUND"
    })
    void whereGpusCannotBeCountedTheAnswerSaysWhy(String fault, NvmlReturn answer) {
        assertThat(read(fake(EIGHT, fault)))
                .isEqualTo(
                        new GpuInventory.Refused(
                                "nvmlDeviceGetCount_v2 answered " + answer, answer));
    }
}
