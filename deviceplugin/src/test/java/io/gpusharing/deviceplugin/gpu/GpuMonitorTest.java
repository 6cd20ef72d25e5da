package io.gpusharing.deviceplugin.gpu;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.nvml.DeviceAccess;
import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.PhysicalGpu;
import io.gpusharing.nvml.SystemMemory;
import io.gpusharing.nvml.TimeSource;
import io.gpusharing.nvml.fake.FakeNvml;
import io.gpusharing.nvml.fake.Scenario;
import io.gpusharing.nvml.fake.VirtualTime;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GpuMonitorTest {

    private static final String TWO =
            """
            view host
            device GPU-a name=H200 memory=141GiB minor=1 pci=0000:1b:00.0
            device GPU-b name=H200 memory=141GiB minor=0 pci=0000:3b:00.0
            """;

    private static final long CODE_LOST = 15;

    @TempDir private Path folder;

    private final VirtualTime time = new VirtualTime();
    private final AtomicInteger changes = new AtomicInteger();
    private final LogCapture logged = new LogCapture(GpuMonitor.class.getPackageName());
    private NvmlLibrary library = new NvmlLibrary.Missing("no library", List.of("here", "there"));
    private FakeNvml fake = fake(TWO);
    private GpuMonitor monitor;
    private boolean isForbidden;

    @BeforeEach
    void theFirstBoot() throws IOException {
        boot("first");
        monitor = program();
    }

    @AfterEach
    void endCapture() {
        logged.close();
    }

    private FakeNvml fake(String... lines) {
        return new FakeNvml(Scenario.parse(String.join("\n", lines)), time);
    }

    private void boot(String id) throws IOException {
        Files.writeString(folder.resolve("boot_id"), id + "\n");
    }

    /** This program starts, beside this NVML. */
    private void start(FakeNvml nvml) {
        fake = nvml;
        library = new NvmlLibrary.Found(nvml, "fake");
        startProgram();
    }

    private void startProgram() {
        monitor = program();
        monitor.step();
    }

    private GpuMonitor program() {
        return new GpuMonitor(
                () -> library,
                file(),
                folder.resolve("boot_id"),
                changes::incrementAndGet,
                new DeviceAccess(this::openControl),
                time);
    }

    private void openControl() throws IOException {
        if (isForbidden) {
            throw new FileSystemException("/dev/nvidiactl", null, "Operation not permitted");
        }
    }

    private Path file() {
        return folder.resolve("gpus.json");
    }

    private void pass(int seconds) {
        long until = time.monotonicMicros() + Duration.ofSeconds(seconds).toNanos() / 1_000;
        while (time.monotonicMicros() < until) {
            monitor.step();
        }
    }

    private NodeGpu gpu(String uuid) {
        return monitor.all().stream()
                .filter(gpu -> gpu.uuid().equals(uuid))
                .findFirst()
                .orElseThrow();
    }

    private @Nullable String fault(String uuid) {
        return gpu(uuid).fault();
    }

    private static String fail(String call, long code, String more) {
        return "fail %s %d %s".formatted(call, code, more);
    }

    // What there is

    @Test
    void gpusThatNvmlListsAreHealthyAndTold() {
        start(fake);

        assertThat(monitor.all())
                .containsExactly(
                        new NodeGpu(
                                new PhysicalGpu(
                                        0, "GPU-a", 1, "H200", 144_384, "0000:1b:00.0", false),
                                null),
                        new NodeGpu(
                                new PhysicalGpu(
                                        1, "GPU-b", 0, "H200", 144_384, "0000:3b:00.0", false),
                                null));
        assertThat(monitor.isRead()).isTrue();
        assertThat(monitor.trouble()).isNull();
        assertThat(changes).hasValue(1);
    }

    @Test
    void aGpuWithoutMemoryOfItsOwnIsOfferedWithTheComputersAndThatIsSaid() {
        start(fake("device GPU-a name=GB10 pci=000f:01:00.0", "fail nvmlDeviceGetMemoryInfo 3"));
        List<NodeGpu> found = monitor.all();

        assertThat(found.getFirst().isUsable()).isTrue();
        assertThat(found.getFirst().physical().unifiedMemory()).isTrue();
        assertThat(found.getFirst().empty().memory())
                .isEqualTo(SystemMemory.OF_THIS_COMPUTER.mebibytes());
        assertThat(logged.lines())
                .filteredOn(line -> line.contains("no memory of its own"))
                .hasSize(1);
        assertThat(program().all())
                .as("remembered")
                .extracting(NodeGpu::physical)
                .containsExactly(found.getFirst().physical());
    }

    @Test
    void thatTheKernelForbidsTheGpusIsSeenThoughNvmlGoesOnAnswering() {
        start(fake);
        assertThat(monitor.isAccessLost()).isFalse();

        isForbidden = true;
        pass(11);

        assertThat(monitor.isAccessLost()).isTrue();
        assertThat(fault("GPU-a")).isNull();
    }

    @Test
    void aQuietHourChangesNothing() throws IOException {
        start(fake);
        var writtenAt = Files.getLastModifiedTime(file());
        int linesAtStart = logged.lines().size();

        pass(3600);

        assertThat(changes).hasValue(1);
        assertThat(Files.getLastModifiedTime(file())).isEqualTo(writtenAt);
        assertThat(logged.lines()).hasSize(linesAtStart);
    }

    @Test
    void aNodeWithoutAGpuIsReadToo() {
        start(fake("view host"));

        assertThat(monitor.all()).isEmpty();
        assertThat(monitor.isRead()).isTrue();
        assertThat(changes).hasValue(1);
    }

    @Test
    void aDriverThatIsInstalledLaterIsFound() {
        startProgram();
        pass(20);
        assertThat(monitor.all()).isEmpty();
        assertThat(monitor.isRead()).isFalse();
        assertThat(monitor.trouble()).isEqualTo("no library");
        assertThat(logged.lines()).filteredOn(line -> line.contains("no library")).hasSize(1);

        library = new NvmlLibrary.Found(fake, "fake");
        pass(4);

        assertThat(monitor.all()).extracting(NodeGpu::isUsable).containsExactly(true, true);
        assertThat(monitor.trouble()).isNull();
    }

    @Test
    void untilTheDriverAnswersTheGpusOfTheLastRunKeepTheirPlaces() {
        start(fake);

        start(fake(TWO, fail("nvmlInit_v2", 9, "times=2")));

        assertThat(monitor.all()).extracting(NodeGpu::uuid).containsExactly("GPU-a", "GPU-b");
        assertThat(fault("GPU-a"))
                .isEqualTo(
                        "the NVIDIA driver is not loaded (nvmlInit_v2 answered DRIVER_NOT_LOADED)");
        assertThat(monitor.isRead()).isFalse();

        pass(8);

        assertThat(monitor.all()).extracting(NodeGpu::isUsable).containsExactly(true, true);
    }

    @Test
    void aMigGpuIsPublishedAndNotUsable() {
        start(fake("device GPU-a mig=MIG-1"));

        assertThat(gpu("GPU-a").physical().mig()).isTrue();
        assertThat(gpu("GPU-a").isUsable()).isFalse();
    }

    @Test
    void aChangeOfMigIsReadAtOnce() {
        start(fake);
        int looks = fake.calls("nvmlDeviceGetCount_v2");

        fake.raise(0, Nvml.MIG_CONFIG_CHANGE, 0);
        monitor.step();

        assertThat(fake.calls("nvmlDeviceGetCount_v2")).isEqualTo(looks + 1);
    }

    // What GPUs report

    @Test
    void aCriticalErrorMakesItsGpuUnhealthyAtOnce() {
        start(fake);

        fake.raise(1, Nvml.XID_CRITICAL_ERROR, 79);
        monitor.step();

        assertThat(fault("GPU-b"))
                .isEqualTo(
                        "XID 79 (it has fallen off the bus); it needs a reset, or a reboot of the node");
        assertThat(fault("GPU-a")).isNull();
        assertThat(changes).hasValue(2);
        assertThat(logged.lines()).anyMatch(line -> line.contains("a GPU is unhealthy"));
    }

    @Test
    void memoryThatLostDataMakesItsGpuUnhealthy() {
        start(fake);

        fake.raise(0, Nvml.DOUBLE_BIT_ECC_ERROR, 0);
        monitor.step();

        assertThat(fault("GPU-a")).startsWith("XID 48 (");
    }

    @ParameterizedTest
    @ValueSource(longs = {13, 31, 43, 45, 68, 109, 63, 94})
    void errorsOfProgramsLeaveTheGpuToItsNeighbours(long xid) {
        start(fake);
        int looks = fake.calls("nvmlDeviceGetCount_v2");

        for (int i = 0; i < 1000; i++) {
            fake.raise(0, Nvml.XID_CRITICAL_ERROR, xid);
            monitor.step();
        }

        assertThat(fault("GPU-a")).isNull();
        assertThat(changes).hasValue(1);
        assertThat(fake.calls("nvmlDeviceGetCount_v2")).isEqualTo(looks);
        assertThat(logged.lines()).filteredOn(line -> line.contains("stays in use")).hasSize(1);
    }

    @Test
    void aGpuThatReportsErrorsOnlyPartlyIsRegisteredForThose() {
        start(fake("device GPU-old events=8"));

        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 62);
        monitor.step();

        assertThat(fault("GPU-old")).startsWith("XID 62");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "device GPU-old events=0",
                "device GPU-old\nwithout nvmlEventSetCreate",
                "device GPU-old\nfail nvmlDeviceGetSupportedEventTypes 3"
            })
    void aGpuThatReportsNothingIsPolledAlone(String scenario) {
        start(fake(scenario));

        fake.lose(0, true);
        pass(10);

        assertThat(fault("GPU-old")).contains("GPU_IS_LOST");
        assertThat(fake.calls("nvmlEventSetWait_v2")).isZero();
    }

    @Test
    void whereWaitingForEventsAlwaysFailsNvmlIsNotAskedAllTheTime() {
        start(fake(TWO, fail("nvmlEventSetWait_v2", CODE_LOST, "times=1000")));

        pass(60);

        assertThat(fake.calls("nvmlDeviceGetCount_v2")).isBetween(15, 35);
    }

    @Test
    void whereWaitingForEventsFailsLooksTellAndWaitingBeginsAgain() {
        start(fake(TWO, fail("nvmlEventSetWait_v2", CODE_LOST, "times=1")));

        pass(10);
        assertThat(fake.calls("nvmlDeviceGetCount_v2")).isLessThan(6);
        assertThat(monitor.all()).extracting(NodeGpu::fault).containsOnlyNulls();

        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 62);
        monitor.step();
        assertThat(fault("GPU-a")).startsWith("XID 62");
    }

    // What looks show

    @Test
    void aGpuThatIsLostIsUnhealthyWithinTenSeconds() {
        start(fake);

        fake.lose(1, true);
        pass(9);

        assertThat(fault("GPU-b")).startsWith("nvmlDeviceGetHandleByIndex_v2 answered GPU_IS_LOST");
        assertThat(gpu("GPU-b").physical().index()).isEqualTo(1);
        assertThat(fault("GPU-a")).isNull();
    }

    @ParameterizedTest(name = "{0} answers {1}")
    @CsvSource({
        "nvmlDeviceGetMemoryInfo,15",
        "nvmlDeviceGetMemoryInfo,16",
        "nvmlDeviceGetMemoryInfo,999",
        "nvmlDeviceGetMinorNumber,17",
        "nvmlDeviceGetUUID,999"
    })
    void aGpuThatDoesNotAnswerIsUnhealthyWithinTenSeconds(String call, long code) {
        start(fake(TWO, fail(call, code, "device=1 after=2")));
        assertThat(fault("GPU-b")).isNull();

        pass(9);

        assertThat(fault("GPU-b")).startsWith(call + " answered ");
        assertThat(fault("GPU-a")).isNull();
    }

    @Test
    void onePassingTroubleIsNoFailure() {
        start(fake(TWO, fail("nvmlDeviceGetMemoryInfo", 999, "device=1 after=3 times=1")));

        pass(60);

        assertThat(fake.calls("nvmlDeviceGetMemoryInfo")).isGreaterThan(4);
        assertThat(changes).hasValue(1);
    }

    @Test
    void aGpuThatCannotBeReadFromTheBeginningIsUnhealthyIfItsUuidIsKnown() {
        start(fake(TWO, fail("nvmlDeviceGetMinorNumber", 999, "device=1")));

        pass(2);

        assertThat(fault("GPU-b")).startsWith("nvmlDeviceGetMinorNumber answered UNKNOWN");
        assertThat(gpu("GPU-b").physical().minor()).isEqualTo(-1);
    }

    @Test
    void aGpuThatCannotBeReadAndHasNoNameIsSaidAndNotOffered() {
        start(fake(TWO, fail("nvmlDeviceGetHandleByIndex_v2", CODE_LOST, "device=1")));

        pass(60);

        assertThat(monitor.all()).extracting(NodeGpu::uuid).containsExactly("GPU-a");
        assertThat(logged.lines()).filteredOn(line -> line.contains("UUID nobody")).hasSize(1);
    }

    @Test
    void aGpuThatCannotBeReadAfterARestartIsTheOneThatIsRemembered() {
        start(fake);

        start(fake(TWO, fail("nvmlDeviceGetHandleByIndex_v2", CODE_LOST, "device=0")));

        assertThat(fault("GPU-a")).contains("GPU_IS_LOST");
        assertThat(fault("GPU-b")).isNull();
    }

    @Test
    void aGpuThatTheDriverTriesInVainForSecondsIsNotAskedAllTheTime() {
        start(
                fake(
                        TWO,
                        fail("nvmlDeviceGetHandleByIndex_v2", CODE_LOST, "device=1"),
                        "latency nvmlDeviceGetHandleByIndex_v2 15s"));

        pass(290);

        assertThat(fake.calls("nvmlDeviceGetCount_v2")).isBetween(4, 6);
    }

    // How a GPU comes back

    @Test
    void aGpuComesBackWhenItAnsweredThreeTimesAndIsEmpty() {
        start(fake);
        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 999);
        monitor.step();
        assertThat(fault("GPU-a"))
                .isEqualTo("XID 999; it is used again once it answers and no process is on it");

        pass(3);
        assertThat(fault("GPU-a")).isNotNull();
        pass(10);

        assertThat(fault("GPU-a")).isNull();
        assertThat(changes).hasValue(3);
        assertThat(logged.lines()).anyMatch(line -> line.contains("healthy again"));
    }

    @Test
    void aGpuDoesNotComeBackWhileSomeoneIsOnIt() {
        start(fake(TWO, "process device=0 host=4001 busy=0 to=100s"));
        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 999);

        pass(95);
        assertThat(fault("GPU-a")).isNotNull();
        pass(20);

        assertThat(fault("GPU-a")).isNull();
    }

    @Test
    void aGpuWhoseProcessesCannotBeListedDoesNotComeBack() {
        start(fake(TWO, fail("nvmlDeviceGetComputeRunningProcesses_v2", 999, "")));
        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 999);

        pass(300);

        assertThat(fault("GPU-a")).isNotNull();
    }

    @Test
    void aGpuThatWasLostIsChecked() {
        start(fake);
        fake.lose(0, true);
        pass(9);

        fake.lose(0, false);
        pass(4);
        assertThat(fault("GPU-a")).isNotNull();
        pass(10);

        assertThat(fault("GPU-a")).isNull();
    }

    @Test
    void aGpuThatNeedsAResetDoesNotComeBackByAnswering() {
        start(fake);
        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 95);

        pass(3600);

        assertThat(fault("GPU-a")).contains("XID 95", "reset");
    }

    @Test
    void aGpuThatFellOffTheBusIsCheckedOnceAnOpenedNvmlFindsIt() {
        start(fake);
        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 79);
        fake.lose(0, true);
        pass(20);

        fake.lose(0, false);
        pass(20);
        assertThat(fault("GPU-a")).contains("XID 79", "reset");
        pass(300);

        assertThat(fault("GPU-a")).isNull();
        assertThat(fake.calls("nvmlInit_v2")).isEqualTo(2);
    }

    @Test
    void thatAGpuWasLostBeforeIsNoCureForWhatCameLater() {
        start(fake);
        fake.lose(0, true);
        pass(9);
        fake.lose(0, false);
        pass(20);
        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 95);
        fake.lose(1, true);

        pass(1000);

        assertThat(fake.calls("nvmlInit_v2")).isGreaterThan(2);
        assertThat(fault("GPU-a")).contains("XID 95");
    }

    // The driver

    @Test
    void afterTheDriverWasLoadedAgainGpusThatNeededAResetAreChecked() {
        start(
                fake(
                        TWO,
                        fail("nvmlDeviceGetCount_v2", 9, "after=4 times=1"),
                        fail("nvmlInit_v2", 9, "after=1 times=4")));
        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 48);

        pass(16);
        assertThat(monitor.all())
                .extracting(NodeGpu::fault)
                .containsOnly(
                        "the NVIDIA driver is not loaded (nvmlInit_v2 answered DRIVER_NOT_LOADED)");
        assertThat(monitor.trouble()).contains("driver is not loaded");
        pass(12);
        assertThat(fault("GPU-a")).contains("XID 48", "once it answers");
        assertThat(fault("GPU-b")).isNull();
        pass(12);

        assertThat(fault("GPU-a")).isNull();
        assertThat(logged.lines()).anyMatch(line -> line.contains("driver was loaded again"));
        assertThat(monitor.wantsRestart()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"nvmlDeviceGetCount_v2", "nvmlDeviceGetUUID"})
    void anNvmlThatForgotThatItIsOpenIsOpenedAndNobodyNotices(String call) {
        start(fake(TWO, fail(call, 1, "after=2 times=1")));

        pass(30);

        assertThat(fake.calls("nvmlInit_v2")).isEqualTo(2);
        assertThat(fake.calls("nvmlShutdown")).isEqualTo(1);
        assertThat(fake.calls("nvmlEventSetCreate")).isEqualTo(2);
        assertThat(changes).hasValue(1);
        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 62);
        monitor.step();
        assertThat(fault("GPU-a")).startsWith("XID 62");
    }

    @Test
    void aLibraryThatNoLongerFitsIsOpenedAgainAndARestartIsWanted() {
        start(
                fake(
                        TWO,
                        fail("nvmlDeviceGetCount_v2", 18, "after=2"),
                        fail("nvmlInit_v2", 18, "after=1")));
        pass(20);

        assertThat(monitor.wantsRestart()).isTrue();
        assertThat(fault("GPU-b"))
                .isEqualTo(
                        "the library fake belongs to another driver than the kernel runs (nvmlInit_v2 answered LIB_RM_VERSION_MISMATCH)");

        library = new NvmlLibrary.Found(fake("driver 590.48.01", TWO), "new");
        pass(4);

        assertThat(monitor.wantsRestart()).isFalse();
        assertThat(monitor.all()).extracting(NodeGpu::fault).containsOnlyNulls();
    }

    @Test
    void aLibraryThatNeverFittedIsNoReasonToRestart() {
        start(fake(TWO, fail("nvmlInit_v2", 18, "")));

        pass(20);

        assertThat(monitor.wantsRestart()).isFalse();
        assertThat(monitor.trouble()).contains("belongs to another driver");
    }

    @Test
    void whileTheDriverHangsNoGpuIsHealthy() throws Exception {
        start(fake(TWO, "hang nvmlDeviceGetMemoryInfo after=2"));
        CompletableFuture<Void> hanging = CompletableFuture.runAsync(() -> pass(4));
        while (fake.calls("nvmlDeviceGetMemoryInfo") < 3) {
            Thread.onSpinWait();
        }

        time.pass(Duration.ofSeconds(3));
        monitor.watch();
        assertThat(monitor.all()).extracting(NodeGpu::fault).containsOnlyNulls();
        time.pass(Duration.ofSeconds(2));
        monitor.watch();

        assertThat(monitor.all())
                .extracting(NodeGpu::fault)
                .containsOnly("the driver has not answered nvmlDeviceGetMemoryInfo for 6 s");
        assertThat(changes).hasValue(2);

        fake.release();
        hanging.get(10, TimeUnit.SECONDS);
        assertThat(monitor.all()).extracting(NodeGpu::fault).containsOnlyNulls();
        assertThat(changes).hasValue(3);
    }

    // What is remembered

    @Test
    void aGpuThatIsMissingAfterARestartIsUnhealthyUntilItIsBack() throws IOException {
        start(fake);
        boot("second");
        String onlyB = "device GPU-b name=H200 minor=0 pci=0000:3b:00.0";

        start(fake(onlyB));

        assertThat(gpu("GPU-b").physical().index()).isZero();
        assertThat(gpu("GPU-a").physical().index()).isEqualTo(1);
        String fault = requireNonNull(fault("GPU-a"));
        assertThat(fault).matches("missing since \\S+Z \\(H200 at 0000:1b:00.0\\)");
        assertThat(logged.lines())
                .anyMatch(line ->
                        line.contains("is missing")
                                && line.contains("GPU-a")
                                && line.contains("H200")
                                && line.contains("0000:1b:00.0"));

        pass(60);
        start(fake(onlyB));
        assertThat(fault("GPU-a")).isEqualTo(fault);
        assertThat(logged.lines()).filteredOn(line -> line.contains("is missing")).hasSize(1);

        start(fake(TWO));
        assertThat(fault("GPU-a")).startsWith("it was missing");
        assertThat(gpu("GPU-a").physical().index()).isZero();
        pass(12);
        assertThat(fault("GPU-a")).isNull();
    }

    @Test
    void aGpuThatIsMissingIsForgottenWhenTheFileIsRemoved() throws IOException {
        start(fake);
        start(fake("device GPU-b"));
        assertThat(monitor.all()).hasSize(2);

        Files.delete(file());
        pass(5);

        assertThat(monitor.all()).extracting(NodeGpu::uuid).containsExactly("GPU-b");
        start(fake("device GPU-b"));
        assertThat(monitor.all()).extracting(NodeGpu::uuid).containsExactly("GPU-b");
    }

    @Test
    void aGpuThatNobodySawReset() throws IOException {
        start(fake);
        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 95);
        pass(10);

        Files.delete(file());
        pass(5);
        assertThat(fault("GPU-a")).contains("XID 95", "once it answers");
        pass(10);

        assertThat(fault("GPU-a")).isNull();
    }

    @ParameterizedTest
    @ValueSource(longs = {95, 999})
    void aRestartOfThisProgramCuresNothing(long xid) {
        start(fake);
        fake.raise(0, Nvml.XID_CRITICAL_ERROR, xid);
        monitor.step();

        start(fake(TWO));

        assertThat(fault("GPU-a")).startsWith("XID " + xid);
    }

    @Test
    void aRebootCures() throws IOException {
        start(fake);
        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 95);
        monitor.step();

        boot("second");
        start(fake(TWO));

        assertThat(fault("GPU-a")).isNull();
    }

    @Test
    void anotherDriverThanLastTimeHasInitialisedTheGpus() {
        start(fake);
        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 95);
        monitor.step();

        start(fake("driver 590.48.01", TWO));
        pass(12);

        assertThat(fault("GPU-a")).isNull();
    }

    @Test
    void aGpuThatChangedItsMinorNumberIsSaidAndGetsTheNewOne() {
        start(fake);

        start(fake(TWO.replace("minor=1", "minor=7")));

        assertThat(gpu("GPU-a").physical().minor()).isEqualTo(7);
        assertThat(gpu("GPU-a").isUsable()).isTrue();
        assertThat(logged.lines())
                .anyMatch(line ->
                        line.contains("changed its device file")
                                && line.contains("/dev/nvidia1")
                                && line.contains("/dev/nvidia7"));
    }

    @Test
    void anAdditionalGpuIsSaid() {
        start(fake);

        start(fake(TWO, "device GPU-c"));

        assertThat(gpu("GPU-c").isUsable()).isTrue();
        assertThat(logged.lines())
                .filteredOn(line -> line.contains("not here before"))
                .singleElement()
                .asString()
                .contains("GPU-c");
    }

    @Test
    void aFileThatNobodyUnderstandsIsBegunAnew() throws IOException {
        Files.writeString(file(), "{\"version\":1,\"gpus\":[{}]}");

        start(fake);

        assertThat(monitor.all()).extracting(NodeGpu::isUsable).containsExactly(true, true);
        assertThat(logged.lines()).anyMatch(line -> line.contains("beginning anew"));
        assertThat(Files.readString(file())).contains("GPU-a");
    }

    @Test
    void aFolderThatCannotBeWrittenIsSaidOnceAndStopsNothing() throws IOException {
        Files.createDirectory(folder.resolve("gpus.json.tmp"));
        Files.createFile(folder.resolve("gpus.json.tmp/in-the-way"));

        start(fake);
        pass(60);

        assertThat(monitor.all()).hasSize(2);
        assertThat(logged.lines()).filteredOn(line -> line.contains("write down")).hasSize(1);
    }

    // Threads

    @Test
    void anErrorReachesWhoeverListensFromTheMonitorsOwnThread() throws Exception {
        FakeNvml real = new FakeNvml(Scenario.parse(TWO), TimeSource.SYSTEM);
        var told = new LinkedBlockingQueue<List<NodeGpu>>();
        var watching = new GpuMonitor[1]; // So that its own listener can ask it.
        watching[0] =
                new GpuMonitor(
                        () -> new NvmlLibrary.Found(real, "fake"),
                        file(),
                        GpuMonitor.BOOT_ID,
                        () -> {
                            told.add(watching[0].all());
                            throw new IllegalStateException("a listener that fails");
                        },
                        new DeviceAccess(this::openControl),
                        TimeSource.SYSTEM);
        try (GpuMonitor started = watching[0]) {
            started.start();
            assertThat(told.poll(10, TimeUnit.SECONDS)).hasSize(2);

            real.raise(1, Nvml.XID_CRITICAL_ERROR, 79);

            assertThat(told.poll(10, TimeUnit.SECONDS))
                    .extracting(NodeGpu::isUsable)
                    .containsExactly(true, false);
        }
        assertThat(real.calls("nvmlShutdown")).isEqualTo(1);
    }
}
