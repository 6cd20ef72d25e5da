package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.gpusharing.sidecar.attribution.NodeFiles;
import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodProcesses;
import io.gpusharing.sidecar.usage.Usage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The node agent: which pod a process belongs to. */
public class NodeViewTest {

    static final String OTHER = "11111111-2222-3333-4444-555555555555";

    private static final String DEVICE = "device " + Bench.GPU;
    private static final String SECOND = "GPU-2f2e3d4c-0000-0000-0000-000000000000";

    @TempDir Path directory;

    @Test
    void aProcessBelongsToThePodOfItsControlGroup() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=50% memory=2GiB uid=" + Bench.POD,
                        "process host=200 busy=30% uid=" + OTHER,
                        "process host=300 busy=10%");

        bench.play(Duration.ofMinutes(10));

        DeviceUse own = bench.use();
        assertThat(own.basis()).isEqualTo(Basis.PROCESS);
        assertThat(own.gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
        assertThat(own.parts())
                .singleElement()
                .satisfies(container -> {
                    assertThat(container.containerId()).hasSize(64);
                    assertThat(container.gpuMicroseconds()).isEqualTo(own.gpuMicroseconds());
                });
        assertThat(bench.use(OTHER, Bench.GPU).gpuMicroseconds())
                .isCloseTo(bench.truth(1), withinPercentage(2));
        assertThat(bench.meter.usage().unattributed())
                .singleElement()
                .satisfies(rest ->
                        assertThat(rest.gpuMicroseconds())
                                .isCloseTo(bench.truth(2), withinPercentage(3)));
    }

    @Test
    @DisplayName("case 21: a process that ended before it was read, on a shared GPU")
    void case21_unresolvedUseIsCountedAsUnattributed() throws IOException {
        Bench bench = Bench.node(DEVICE, "process host=100 busy=100% from=10s to=10.9s");
        delete(bench.proc.resolve("100"));

        bench.play(Duration.ofSeconds(30));

        assertThat(bench.meter.usage().pods()).isEmpty();
        assertThat(bench.meter.usage().unattributed().getFirst().gpuMicroseconds())
                .isCloseTo(900_000, withinPercentage(20));
    }

    @Test
    @DisplayName("case 21: the same on a GPU that kubelet gave to one pod whole")
    void case21_unresolvedUseBelongsToTheOnlyPodOnTheGpu() throws IOException {
        NodeFiles kubelet = kubelet("nvidia.com/gpu", Bench.GPU);
        Bench bench = Bench.node(kubelet, DEVICE, "process host=100 busy=100% from=10s to=11.9s");
        delete(bench.proc.resolve("100"));

        bench.play(Duration.ofSeconds(30));

        assertThat(bench.use().gpuMicroseconds()).isCloseTo(1_900_000, withinPercentage(20));
    }

    @Test
    @DisplayName("case 22: a pid that another pod's process got soon after")
    void case22_aReusedPidIsTheNewPods() throws IOException {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=50% to=60s uid=" + Bench.POD,
                        "process host=100 busy=50% from=65s uid=" + OTHER);
        FakeProc.process(bench.proc, 100, Bench.POD, "100");
        bench.play(Duration.ofSeconds(62));

        FakeProc.process(bench.proc, 100, OTHER, "6500");
        bench.play(Duration.ofSeconds(60));

        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(3));
        assertThat(bench.use(OTHER, Bench.GPU).gpuMicroseconds())
                .isCloseTo(bench.truth(1), withinPercentage(3));
    }

    @Test
    void aPidThatIsUsedAgainWithinASecondIsTheNewPods() throws IOException {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=50% to=60s uid=" + Bench.POD,
                        "process host=100 busy=50% from=60.5s uid=" + OTHER);
        FakeProc.process(bench.proc, 100, Bench.POD, "100");
        bench.play(Duration.ofSeconds(60));

        FakeProc.process(bench.proc, 100, OTHER, "6050");
        bench.play(Duration.ofSeconds(60));

        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(3));
        assertThat(bench.use(OTHER, Bench.GPU).gpuMicroseconds())
                .isCloseTo(bench.truth(1), withinPercentage(3));
    }

    @ParameterizedTest(name = "busy {0} %, and the driver''s own work as process 0")
    @ValueSource(ints = {30, 0})
    void useOfNoPodDoesNotReplaceACorrectBasisByASplit(int busy) {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=%d%% uid=%s".formatted(busy, Bench.POD),
                        "process host=0 busy=60%");

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.events).noneMatch(event -> event.contains("DEVICE_SPLIT"));
        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(3));
    }

    @Test
    @DisplayName("The driver's percents leave out entries of nobody")
    void whatNoRowTellsCountsForWhoIsThereAtMost() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=30% uid=" + Bench.POD,
                        "process host=-1 busy=60%");

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.use().gpuMicroseconds())
                .isCloseTo(bench.truth(0) + bench.truth(1), withinPercentage(2));
    }

    @Test
    @DisplayName("case 23: one process on two GPUs, and two pods on one")
    void case23_eachGpuAndEachPodHasItsOwnCounters() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "device " + SECOND,
                        "process device=0 host=100 busy=40% uid=" + Bench.POD,
                        "process device=1 host=100 busy=70% uid=" + Bench.POD,
                        "process device=1 host=200 busy=20% uid=" + OTHER);

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.use(Bench.POD, Bench.GPU).gpuMicroseconds())
                .isCloseTo(bench.truth(0), withinPercentage(2));
        assertThat(bench.use(Bench.POD, SECOND).gpuMicroseconds())
                .isCloseTo(bench.truth(1), withinPercentage(2));
        assertThat(bench.use(OTHER, SECOND).gpuMicroseconds())
                .isCloseTo(bench.truth(2), withinPercentage(2));
    }

    @Test
    @DisplayName("case 23: two containers of one pod on one GPU, and eight GPUs")
    void case23_containersOfAPodAreDistinguished() throws IOException {
        String[] lines = new String[10];
        for (int gpu = 0; gpu < 8; gpu++) {
            lines[gpu] = "device GPU-" + gpu;
        }
        lines[8] = "process device=0 host=100 busy=40% uid=" + Bench.POD;
        lines[9] = "process device=0 host=101 busy=20% uid=" + Bench.POD;
        Bench bench = Bench.node(lines);
        Files.writeString(
                bench.proc.resolve("101/cgroup"),
                "0::/kubepods/pod" + Bench.POD + "/" + "f".repeat(64) + "\n");

        bench.play(Duration.ofMinutes(10));

        DeviceUse use = bench.use(Bench.POD, "GPU-0");
        assertThat(use.parts()).hasSize(2);
        assertThat(use.parts())
                .filteredOn(container -> container.containerId().startsWith("f"))
                .singleElement()
                .satisfies(container ->
                        assertThat(container.gpuMicroseconds())
                                .isCloseTo(bench.truth(1), withinPercentage(2)));
        assertThat(use.gpuMicroseconds())
                .isCloseTo(bench.truth(0) + bench.truth(1), withinPercentage(2));
    }

    @Test
    @DisplayName("case 38: MPS, where samples carry the server's pid")
    void case38_underMpsTheGpuIsSplitAmongItsClients() throws IOException {
        NodeFiles kubelet = kubelet("tencent.com/vcuda-core", "a", "b", "c");
        Bench bench =
                Bench.node(
                        kubelet,
                        DEVICE,
                        "mps",
                        "process host=100 busy=60% uid=" + Bench.POD,
                        "process host=200 busy=20% uid=" + OTHER);

        bench.play(Duration.ofMinutes(10));

        DeviceUse own = bench.use();
        DeviceUse other = bench.use(OTHER, Bench.GPU);
        assertThat(own.basis()).isEqualTo(Basis.DEVICE_SPLIT);
        assertThat(own.basisReason()).contains("MPS");
        assertThat(own.gpuMicroseconds() + other.gpuMicroseconds())
                .isCloseTo(480_000_000, withinPercentage(2));
        // Three units against the one that every pod has at least.
        assertThat(own.gpuMicroseconds())
                .isCloseTo(3 * other.gpuMicroseconds(), withinPercentage(1));
    }

    @Test
    void withoutHostPidTheAgentAttributesNothing() throws IOException {
        Bench bench = Bench.node(DEVICE, "process host=100 busy=50% uid=" + Bench.POD);
        delete(bench.proc.resolve("100"));

        bench.play(Duration.ofMinutes(2));

        assertThat(bench.meter.devices().getFirst().basis()).isNotEqualTo(Basis.PROCESS);
    }

    @Test
    void aPodThatIsGoneStopsAndIsForgottenInTheEnd() throws IOException {
        Bench bench = Bench.node(DEVICE, "process host=100 busy=50% to=60s uid=" + Bench.POD);

        bench.play(Duration.ofMinutes(1));
        delete(bench.proc.resolve("100"));
        bench.play(Duration.ofMinutes(2));
        long then = bench.use().coveredMicroseconds();
        bench.play(Duration.ofMinutes(2));
        assertThat(bench.use().coveredMicroseconds()).isEqualTo(then);

        bench.play(Duration.ofMinutes(15));

        assertThat(bench.meter.usage().pods()).isEmpty();
    }

    @Test
    void aPodOnAGpuThatKubeletGaveItNoneOfIsNamed() throws IOException {
        Files.createDirectories(directory.resolve("logs/team-a_trainer_" + Bench.POD));
        Files.createDirectories(directory.resolve("logs/team-a_miner_" + OTHER));
        kubelet("tencent.com/vcuda-core", "a", "b");
        NodeFiles kubelet =
                Bench.files(
                        directory.resolve("checkpoint"), directory.resolve("logs"), Bench.NOWHERE);
        Bench bench =
                Bench.node(
                        kubelet,
                        DEVICE,
                        "process host=100 busy=50% uid=" + Bench.POD,
                        "process host=200 busy=30% uid=" + OTHER);

        bench.play(Duration.ofSeconds(30));

        assertThat(bench.meter.usage().unasked())
                .containsExactly(new Usage.Unasked(OTHER, "team-a", "miner", List.of()));
    }

    @Test
    void requestersAreNotGuessedWhereTheKubeletsTableCannotBeRead() throws IOException {
        Files.createDirectories(directory.resolve("logs/team-a_miner_" + OTHER));
        NodeFiles kubelet =
                Bench.files(
                        directory.resolve("checkpoint"), directory.resolve("logs"), Bench.NOWHERE);
        Bench bench = Bench.node(kubelet, DEVICE, "process host=200 busy=30% uid=" + OTHER);

        bench.play(Duration.ofSeconds(30));

        assertThat(bench.meter.usage().pods()).hasSize(1);
        assertThat(bench.meter.usage().unasked()).isEmpty();
    }

    @Test
    void anIdlePodThatHoldsAGpuIsReportedWithNothing() throws IOException {
        Bench bench = Bench.node(kubelet("nvidia.com/gpu", Bench.GPU), DEVICE);

        bench.play(Duration.ofMinutes(1));

        assertThat(bench.use().gpuMicroseconds()).isZero();
        assertThat(bench.use().coveredMicroseconds()).isGreaterThanOrEqualTo(59_000_000);
    }

    private NodeFiles kubelet(String resource, String... ids) throws IOException {
        Path checkpoint = directory.resolve("checkpoint");
        Files.writeString(
                checkpoint,
                """
                {"Data":{"PodDeviceEntries":[{"PodUID":"%s","ContainerName":"main",
                "ResourceName":"%s","DeviceIDs":{"-1":["%s"]},"AllocResp":"CgA="}],
                "RegisteredDevices":{}},"Checksum":18446744073709551615}
                """
                        .formatted(Bench.POD, resource, String.join("\",\"", List.of(ids))));
        return Bench.files(checkpoint, Bench.NOWHERE, Bench.NOWHERE);
    }

    static void delete(Path tree) throws IOException {
        try (Stream<Path> files = Files.walk(tree)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static List<PodProcesses> processes(Bench bench) {
        return bench.meter.usage().running().pods();
    }

    @Test
    void processesAreToldWithTheirMemoryAndHowBusyTheyAre() throws IOException {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=50% memory=2GiB uid=" + Bench.POD,
                        "process host=101 busy=10% memory=3GiB uid=" + Bench.POD,
                        "process host=200 busy=0% memory=1GiB uid=" + OTHER,
                        "process host=300 busy=10%");
        Files.writeString(bench.proc.resolve("101/comm"), "\u001b[2Jgone\u202e\n");

        bench.play(Duration.ofMinutes(1));

        assertThat(processes(bench))
                .containsExactly(
                        new PodProcesses(
                                Bench.POD,
                                Bench.GPU,
                                0,
                                0,
                                2,
                                List.of(
                                        new PodProcesses.GpuProcess(101, "?[2Jgone?", 3L << 30, 10),
                                        new PodProcesses.GpuProcess(
                                                100, "python (x) y", 2L << 30, 50))),
                        new PodProcesses(
                                OTHER,
                                Bench.GPU,
                                0,
                                0,
                                1,
                                List.of(
                                        new PodProcesses.GpuProcess(
                                                200, "python (x) y", 1L << 30, -1))));
    }

    @Test
    void aProcessThatHasEndedIsNotToldAnyMore() throws IOException {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=50% to=60s uid=" + Bench.POD,
                        "process host=200 busy=30% uid=" + OTHER);
        bench.play(Duration.ofSeconds(40));
        assertThat(processes(bench)).extracting(PodProcesses::uid).contains(Bench.POD);

        bench.play(Duration.ofSeconds(40));

        assertThat(processes(bench)).extracting(PodProcesses::uid).containsExactly(OTHER);
    }

    private static boolean isWhole(Bench bench) {
        return bench.meter.usage().running().isWhole();
    }

    @Test
    void whatRunsWhereTheDriverHangsIsNotKnown() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "device " + SECOND,
                        "process host=100 busy=50% uid=" + Bench.POD,
                        "process host=200 device=1 busy=50% uid=" + OTHER);
        bench.play(Duration.ofMinutes(1));
        assertThat(isWhole(bench)).isTrue();

        bench.time.pass(Duration.ofSeconds(45));

        assertThat(isWhole(bench)).as("a call hangs").isFalse();
        assertThat(processes(bench)).isEmpty();
    }

    @Test
    void whatRunsOnAGpuThatIsLostIsNotKnown() {
        Bench bench = Bench.node(DEVICE, "process host=100 busy=50% uid=" + Bench.POD);
        bench.play(Duration.ofMinutes(1));
        assertThat(isWhole(bench)).isTrue();

        bench.fake.lose(0, true);
        bench.play(Duration.ofSeconds(5));

        assertThat(isWhole(bench)).isFalse();
        assertThat(processes(bench)).isEmpty();

        bench.start(null);
        bench.play(Duration.ofSeconds(30));
        assertThat(isWhole(bench)).as("an agent that never saw it").isFalse();
    }

    @Test
    void howBusyAProcessIsNobodySaysAnyMoreWhereTheDriverStopsSayingIt() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=50% memory=1GiB uid=" + Bench.POD,
                        "fail nvmlDeviceGetProcessUtilization 3 after=60",
                        "fail nvmlDeviceGetProcessesUtilizationInfo 3");
        bench.play(Duration.ofSeconds(50));
        assertThat(processes(bench).getFirst().processes().getFirst().busyPercent()).isEqualTo(50);

        bench.play(Duration.ofMinutes(2));
        assertThat(bench.use().basis()).isNotEqualTo(Basis.PROCESS);

        assertThat(processes(bench).getFirst().processes())
                .containsExactly(new PodProcesses.GpuProcess(100, "python (x) y", 1L << 30, -1));
    }

    @Test
    void whatRunsOnPartsOfASplitGpuIsNotKnown() {
        Bench bench = Bench.node("device " + Bench.GPU + " mig=MIG-a", "device " + SECOND);

        bench.play(Duration.ofSeconds(30));

        assertThat(isWhole(bench)).isFalse();
    }

    @Test
    void withoutTheNodesProcessesNobodySaysThatNoneRuns() throws IOException {
        Bench bench = Bench.node(DEVICE, "process host=100 busy=50% uid=" + Bench.POD);
        delete(bench.proc.resolve("100"));

        bench.play(Duration.ofMinutes(1));

        assertThat(isWhole(bench)).isFalse();
    }

    @Test
    void processesThatAreTooManyForTheDriversPercentsShareWhatTheGpuDid() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=60% uid=" + Bench.POD,
                        "process host=200 busy=40% uid=" + OTHER);

        bench.play(Duration.ofMinutes(1));

        assertThat(
                        processes(bench).stream()
                                .flatMap(pod -> pod.processes().stream())
                                .mapToInt(PodProcesses.GpuProcess::busyPercent)
                                .sum())
                .isBetween(99, 101);
    }

    @Test
    void howBusyAProcessIsNobodySaysBeforeItWasWatchedForAWhile() {
        Bench bench = Bench.node(DEVICE, "process host=100 busy=50% uid=" + Bench.POD);

        bench.play(Duration.ofSeconds(3));

        assertThat(processes(bench).getFirst().processes().getFirst().busyPercent()).isEqualTo(-1);
    }

    @Test
    void aSidecarTellsOfNoProcess() {
        Bench bench = Bench.shared(DEVICE, "process busy=50%");

        bench.play(Duration.ofMinutes(1));

        assertThat(processes(bench)).isEmpty();
    }

    @Test
    void aPodThatWasGivenAGpuAndRunsNothingThereIsToldAsWell() throws IOException {
        Bench bench = Bench.node(kubelet("nvidia.com/gpu", Bench.GPU), DEVICE);

        bench.play(Duration.ofSeconds(30));

        assertThat(processes(bench))
                .containsExactly(new PodProcesses(Bench.POD, Bench.GPU, 0, 0, 0, List.of()));
    }
}
