package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.gpusharing.sidecar.attribution.NodeFiles;
import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodName;
import io.gpusharing.sidecar.usage.PodUse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a pod was measured to do ends with the pod, and stays what it was afterwards. */
class EndsOfPodsTest {

    private static final String OTHER = NodeViewTest.OTHER;
    private static final String DEVICE = "device " + Bench.GPU;
    private static final long PAUSE = 50;

    /** Processes cannot be told apart any more after forty seconds. */
    private static final String STOPS = "fail nvmlDeviceGetProcessUtilization 3 after=40";

    private static final String ONLY_ONE = "without nvmlDeviceGetProcessesUtilizationInfo";

    @TempDir private Path directory;
    private FakeGrants grants;

    @BeforeEach
    void giveBothTheirParts() throws IOException {
        grants = new FakeGrants(directory);
        grants.give(Bench.POD, "trainer", Bench.GPU, 50);
        grants.give(OTHER, "notebook", Bench.GPU, 20);
    }

    /** Two pods; the first lives for 27 seconds, the other goes on. */
    private Bench bench(String... more) throws IOException {
        Path logs = Files.createDirectories(directory.resolve("logs"));
        // Its folder stays for as long as its object, for days.
        Files.createDirectories(logs.resolve("team-a_trainer_" + Bench.POD));
        Files.createDirectories(logs.resolve("team-a_notebook_" + OTHER));
        NodeFiles files = Bench.files(Bench.NOWHERE, logs, grants.file);
        String[] lines = new String[3 + more.length];
        lines[0] = DEVICE;
        lines[1] = "process host=100 busy=55% memory=1GiB to=27s uid=" + Bench.POD;
        lines[2] = "process host=200 busy=10% uid=" + OTHER;
        System.arraycopy(more, 0, lines, 3, more.length);
        Bench bench = Bench.node(files, lines);
        FakeProc.process(bench.proc, PAUSE, Bench.POD, "90");
        bench.meter.tick();
        return bench;
    }

    private void end(Bench bench) throws IOException {
        NodeViewTest.delete(bench.proc.resolve("100"));
        NodeViewTest.delete(bench.proc.resolve(Long.toString(PAUSE)));
    }

    @Test
    @DisplayName("27 seconds, also where folder and grant stay for a minute and more")
    void aPodIsCoveredForAsLongAsItLives() throws IOException {
        Bench bench = bench();
        bench.play(Duration.ofSeconds(27));
        end(bench);

        bench.play(Duration.ofSeconds(67));

        DeviceUse use = bench.use();
        assertThat(use.coveredMicroseconds()).isEqualTo(27_000_000);
        assertThat(use.uncoveredMicroseconds()).isZero();
        assertThat(use.memoryByteSeconds()).isEqualTo(27L << 30);
        assertThat(use.gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(4));
        assertThat(bench.use(OTHER, Bench.GPU).coveredMicroseconds()).isEqualTo(94_000_000);
    }

    @Test
    void thePodsContainersMayEndAndAnotherProcessOfItTellsThatItLives() throws IOException {
        Bench bench = bench();
        bench.play(Duration.ofSeconds(27));
        NodeViewTest.delete(bench.proc.resolve("100"));

        bench.play(Duration.ofSeconds(33));

        assertThat(bench.use().coveredMicroseconds()).isEqualTo(60_000_000);
    }

    @Test
    void aProcessThatOnlyWaitsToBeBuriedIsNone() throws IOException {
        Bench bench = bench();
        bench.play(Duration.ofSeconds(27));
        NodeViewTest.delete(bench.proc.resolve("100"));
        Path stat = bench.proc.resolve(PAUSE + "/stat");
        Files.writeString(stat, Files.readString(stat).replace(") S ", ") Z "));

        bench.play(Duration.ofSeconds(60));

        assertThat(bench.use().coveredMicroseconds()).isEqualTo(27_000_000);
    }

    @Test
    @DisplayName("A runtime without a process of its own in each pod, between two tries")
    void whoeverComesBackLivedAllAlong() throws IOException {
        Bench bench = bench();
        bench.play(Duration.ofSeconds(27));
        end(bench);
        bench.play(Duration.ofSeconds(40));
        assertThat(bench.use().coveredMicroseconds()).isEqualTo(27_000_000);

        FakeProc.process(bench.proc, 101, Bench.POD, "6700");
        bench.play(Duration.ofSeconds(33));

        assertThat(bench.use().coveredMicroseconds()).isEqualTo(100_000_000);
        assertThat(bench.use().memoryByteSeconds()).isEqualTo(27L << 30);
    }

    @Test
    void whoeverComesBackLivedAllAlongAlsoIfTheAgentStartedAgainMeanwhile() throws IOException {
        Bench bench = bench();
        bench.play(Duration.ofSeconds(27));
        end(bench);
        bench.play(Duration.ofSeconds(40));

        bench.restart(Duration.ofSeconds(3), Bench.BOOT);
        bench.play(Duration.ofSeconds(10));
        FakeProc.process(bench.proc, 101, Bench.POD, "8000");
        bench.play(Duration.ofSeconds(20));

        assertThat(bench.use().coveredMicroseconds()).isEqualTo(100_000_000);
        assertThat(bench.use().memoryByteSeconds()).isEqualTo(27L << 30);
    }

    @Test
    void anAgentThatStartsAgainAddsNothingToWhoHasEndedMeanwhile() throws IOException {
        Bench bench = bench();
        bench.play(Duration.ofSeconds(27));
        end(bench);

        bench.restart(Duration.ofSeconds(3), Bench.BOOT);
        bench.play(Duration.ofSeconds(60));

        assertThat(bench.use().coveredMicroseconds()).isEqualTo(27_000_000);
        assertThat(bench.use().uncoveredMicroseconds()).isZero();
    }

    @Test
    void howAPodWasMeasuredStaysWhenItsGpuIsMeteredOtherwiseLater() throws IOException {
        Bench bench = bench(STOPS, ONLY_ONE);
        bench.play(Duration.ofSeconds(27));
        end(bench);

        bench.play(Duration.ofSeconds(60));

        assertThat(bench.use(OTHER, Bench.GPU).basis()).isEqualTo(Basis.DEVICE_SPLIT);
        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().basisReason()).isEmpty();
    }

    @Test
    void eachStretchKeepsTheBasisItWasMeasuredBy() throws IOException {
        Bench bench = bench(STOPS, ONLY_ONE);
        bench.play(Duration.ofSeconds(35));
        long byProcess = part(bench.use(OTHER, Bench.GPU), Basis.PROCESS);

        bench.play(Duration.ofSeconds(60));

        DeviceUse use = bench.use(OTHER, Bench.GPU);
        assertThat(part(use, Basis.PROCESS)).isBetween(byProcess, byProcess + 1_000_000);
        assertThat(part(use, Basis.DEVICE_SPLIT)).isPositive();
        assertThat(part(use, Basis.PROCESS) + part(use, Basis.DEVICE_SPLIT))
                .isBetween(use.gpuMicroseconds() - 1, use.gpuMicroseconds());
        bench.restart(Duration.ofSeconds(1), Bench.BOOT);
        assertThat(part(bench.use(OTHER, Bench.GPU), Basis.PROCESS))
                .isEqualTo(part(use, Basis.PROCESS));
    }

    private static long part(DeviceUse use, Basis basis) {
        return use.parts().stream()
                .filter(it -> it.basis() == basis)
                .mapToLong(DeviceUse.Part::gpuMicroseconds)
                .sum();
    }

    @Test
    void aPodKeepsItsNameWhenWhatNamedItIsGone() throws IOException {
        Bench bench =
                Bench.node(
                        grants,
                        DEVICE,
                        "process host=100 busy=55% to=27s uid=" + Bench.POD,
                        "process host=200 busy=10% uid=" + OTHER);
        bench.play(Duration.ofSeconds(27));
        NodeViewTest.delete(bench.proc.resolve("100"));
        grants.take(Bench.POD);
        bench.play(Duration.ofSeconds(60));
        assertThat(names(bench)).contains(new PodName("team-a", "trainer"));

        bench.restart(Duration.ofSeconds(1), Bench.BOOT);
        bench.play(Duration.ofSeconds(5));

        assertThat(names(bench)).contains(new PodName("team-a", "trainer"));
    }

    @Test
    void aPodIsNeverShownWithoutANameThatItsFolderHas() throws IOException {
        Path logs = Files.createDirectories(directory.resolve("logs"));
        Bench bench =
                Bench.node(
                        Bench.files(Bench.NOWHERE, logs, Bench.NOWHERE),
                        DEVICE,
                        "process host=100 busy=50% from=4s uid=" + Bench.POD);
        bench.play(Duration.ofSeconds(4));
        Files.createDirectories(logs.resolve("team-a_trainer_" + Bench.POD));

        for (int second = 0; second < 20; second++) {
            bench.play(Duration.ofSeconds(1));
            assertThat(names(bench)).doesNotContainNull();
        }
        assertThat(names(bench)).containsExactly(new PodName("team-a", "trainer"));
    }

    private static Iterable<PodName> names(Bench bench) {
        return bench.meter.usage().pods().stream().map(PodUse::name).toList();
    }
}
