package io.gpusharing.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The library of the workshop's nodes ({@code tools/workshop/nvml.c}) as our programs see it. */
class WorkshopLibraryTest {

    private static final String TWO =
            """
            driver 570.1
            device GPU-a name=Tesla_T4 memory=15360MiB minor=1 pci=0000:3b:00.0  # the first
            device GPU-b memory=80GiB minor=0 mig events=8
            """;

    @TempDir Path directory;
    private Nvml nvml;

    @BeforeEach
    void load() throws Exception {
        Path library = SharedObject.compile(Path.of("../tools/workshop/nvml.c"), directory);
        write(TWO);
        nvml = open(library);
    }

    private static Nvml open(Path library) {
        var opened = (NvmlLibrary.Found) NvmlLibrary.open(library.toString());
        for (NvmlCall call : NvmlCall.values()) {
            assertThat(opened.symbols().find(call.symbols().getFirst()))
                    .as(call.name())
                    .isPresent();
        }
        return new Nvml(opened.symbols());
    }

    @Test
    void aComputeModeIsTheDevicesAndNotOfTheProcessThatSetsIt() throws Exception {
        assertThat(nvml.init()).isEqualTo(NvmlReturn.SUCCESS);
        long device = device(0);
        assertThat(nvml.computeMode(device)).isEqualTo(NvmlReturn.SUCCESS);
        assertThat(nvml.result()).isEqualTo(ComputeMode.DEFAULT.number());

        assertThat(nvml.setComputeMode(device, ComputeMode.EXCLUSIVE_PROCESS))
                .isEqualTo(NvmlReturn.SUCCESS);

        assertThat(Files.readString(directory.resolve("compute-mode-GPU-a"))).isEqualTo("3");
        assertThat(nvml.computeMode(device)).isEqualTo(NvmlReturn.SUCCESS);
        assertThat(nvml.result()).isEqualTo(ComputeMode.EXCLUSIVE_PROCESS.number());
        assertThat(nvml.computeCapability(device)).isEqualTo(NvmlReturn.SUCCESS);
        assertThat(nvml.result()).isEqualTo(90);
    }

    /** As one moment: who reads meanwhile sees the old file or the new one. */
    private void write(String gpus) throws IOException {
        Path written = Files.writeString(directory.resolve("gpus.new"), gpus);
        Files.move(written, directory.resolve("gpus"), StandardCopyOption.REPLACE_EXISTING);
    }

    private void raise(String event) throws IOException {
        Files.writeString(
                directory.resolve("events"),
                event + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    private long device(int index) {
        assertThat(nvml.deviceByIndex(index)).isEqualTo(NvmlReturn.SUCCESS);
        return nvml.handle();
    }

    private List<PhysicalGpu> gpus() {
        return ((GpuInventory.Listed) GpuInventory.read(nvml)).gpus();
    }

    @Test
    void hasTheGpusOfItsFile() {
        assertThat(nvml.deviceCount()).isEqualTo(NvmlReturn.UNINITIALIZED);
        assertThat(nvml.init()).isEqualTo(NvmlReturn.SUCCESS);

        assertThat(nvml.driverVersion()).isEqualTo("570.1");
        assertThat(gpus())
                .containsExactly(
                        new PhysicalGpu(0, "GPU-a", 1, "Tesla T4", 15360, "0000:3b:00.0", false),
                        new PhysicalGpu(1, "GPU-b", 0, "Fake GPU", 81920, "0000:02:00.0", true));
    }

    @Test
    void withoutAFileHasTwo() throws Exception {
        Files.delete(directory.resolve("gpus"));

        nvml.init();

        assertThat(gpus()).extracting(PhysicalGpu::uuid).containsExactly("GPU-0", "GPU-1");
    }

    @Test
    void whatHappensToAGpuIsSeenAtOnce_andWhichThereAreAtTheNextInit() throws Exception {
        nvml.init();
        long first = device(0);
        long second = device(1);

        write("device GPU-b lost\ndevice GPU-c minor=7\nfail nvmlDeviceGetName 999 GPU-c");

        assertThat(nvml.memoryInfo(first)).as("is gone").isEqualTo(NvmlReturn.GPU_IS_LOST);
        assertThat(nvml.memoryInfo(second)).isEqualTo(NvmlReturn.GPU_IS_LOST);
        assertThat(nvml.deviceByIndex(1)).isEqualTo(NvmlReturn.GPU_IS_LOST);
        nvml.shutdown();
        nvml.init();
        assertThat(gpus()).extracting(PhysicalGpu::uuid).containsExactly("GPU-c");
        assertThat(nvml.name(device(1))).isNull();
        assertThat(nvml.answer()).isEqualTo(NvmlReturn.UNKNOWN);
    }

    @Test
    void aDriverThatIsAwayRefuses() throws Exception {
        write("init 9");

        assertThat(nvml.init()).isEqualTo(NvmlReturn.DRIVER_NOT_LOADED);
    }

    @Test
    void anEventEndsTheWaiting() throws Exception {
        nvml.init();
        raise("GPU-a 8 13");
        nvml.eventSetCreate();
        long set = nvml.handle();
        long first = device(0);
        raise("GPU-a 8 43");
        assertThat(nvml.registerEvents(first, Nvml.XID_CRITICAL_ERROR, set))
                .isEqualTo(NvmlReturn.SUCCESS);
        assertThat(nvml.registerEvents(device(1), Nvml.MIG_CONFIG_CHANGE, set))
                .isEqualTo(NvmlReturn.NOT_SUPPORTED);
        assertThat(nvml.waitForEvent(set, 1)).isEqualTo(NvmlReturn.TIMEOUT);

        var waiting = CompletableFuture.supplyAsync(() -> nvml.waitForEvent(set, 60_000));
        raise("GPU-b 8 79");
        raise("GPU-a 2 0");
        raise("GPU-a 8 79");

        assertThat(waiting.get(10, TimeUnit.SECONDS)).isEqualTo(NvmlReturn.SUCCESS);
        assertThat(nvml.handle()).isEqualTo(first);
        assertThat(nvml.eventType()).isEqualTo(Nvml.XID_CRITICAL_ERROR);
        assertThat(nvml.eventData()).isEqualTo(79);
    }

    @Test
    void aLostGpuEndsTheWaiting() throws Exception {
        nvml.init();
        nvml.eventSetCreate();
        long set = nvml.handle();
        nvml.registerEvents(device(0), Nvml.XID_CRITICAL_ERROR, set);

        write(TWO.replace("minor=1", "lost"));

        assertThat(nvml.waitForEvent(set, 60_000)).isEqualTo(NvmlReturn.GPU_IS_LOST);
    }

    @Test
    void aProcessThatSaysSoUsesAGpu() throws Exception {
        // It starts no other process, which would look like this one for a moment.
        Process process =
                new ProcessBuilder("sh", "-c", "read line", "gpu=GPU-a,busy=30,memory=2048")
                        .start();
        try {
            nvml.init();
            var rows = new UtilizationRows();
            assertThat(nvml.processUtilization(device(0), 0, rows)).isEqualTo(NvmlReturn.SUCCESS);
            assertThat(rows.count).isEqualTo(1);
            assertThat(rows.pid[0]).isEqualTo(process.pid());
            assertThat(rows.sm[0]).isEqualTo(30);
            assertThat(nvml.memoryInfo(device(0))).isEqualTo(NvmlReturn.SUCCESS);
            assertThat(nvml.memoryUsed()).isEqualTo(2048L << 20);
            assertThat(nvml.processUtilization(device(1), 0, rows)).isEqualTo(NvmlReturn.SUCCESS);
            assertThat(rows.count).isZero();
        } finally {
            process.destroy();
        }
    }
}
