package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.gpusharing.sidecar.usage.Basis;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Under MPS the samples name its server, so that a GPU is divided among its clients. */
class MpsSplitTest {

    private static final String OTHER = NodeViewTest.OTHER;
    private static final String SERVER = "5e4ae400-0000-0000-0000-000000000000";
    private static final String DEVICE = "device " + Bench.GPU;
    private static final String SERVER_PROCESS = "process host=4000 busy=0% uid=" + SERVER;

    @TempDir private Path directory;

    @Test
    void thePodThatServesTheOthersHasNoPart() throws IOException {
        FakeGrants grants = new FakeGrants(directory);
        grants.give(Bench.POD, "trainer", Bench.GPU, 2);
        grants.give(OTHER, "notebook", Bench.GPU, 1);
        Bench bench =
                Bench.node(
                        grants,
                        DEVICE,
                        "mps",
                        SERVER_PROCESS,
                        "process host=100 busy=40% uid=" + Bench.POD,
                        "process host=200 busy=20% uid=" + OTHER);

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.use().basis()).isEqualTo(Basis.DEVICE_SPLIT);
        assertThat(bench.use(SERVER, Bench.GPU).gpuMicroseconds()).isZero();
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(240_000_000, withinPercentage(2));
        assertThat(bench.use(OTHER, Bench.GPU).gpuMicroseconds())
                .isCloseTo(120_000_000, withinPercentage(2));
    }

    @Test
    void noneAlsoWhereNobodyKnowsWhoWasGivenTheGpu() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "mps",
                        SERVER_PROCESS,
                        "process host=100 busy=40% uid=" + Bench.POD,
                        "process host=200 busy=20% uid=" + OTHER);

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.use(SERVER, Bench.GPU).gpuMicroseconds()).isZero();
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(180_000_000, withinPercentage(2));
    }

    @Test
    void aPodThatWasGivenTheGpuAndPassesMpsByHasItsPart() throws IOException {
        FakeGrants grants = new FakeGrants(directory);
        grants.give(SERVER, "past-mps", Bench.GPU, 1);
        grants.give(OTHER, "notebook", Bench.GPU, 1);
        Bench bench =
                Bench.node(
                        grants,
                        DEVICE,
                        "mps",
                        "process host=4000 busy=20% uid=" + SERVER,
                        "process host=200 busy=20% uid=" + OTHER);

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.use(SERVER, Bench.GPU).gpuMicroseconds())
                .isCloseTo(120_000_000, withinPercentage(2));
    }

    @Test
    void aClientOfTwoSecondsIsSeenAndItsNeighbourDoesNotPayForIt() {
        String[] lines = new String[13];
        lines[0] = DEVICE;
        lines[1] = "mps";
        lines[2] = "process host=100 busy=10% uid=" + Bench.POD;
        for (int i = 0; i < 10; i++) {
            lines[3 + i] =
                    "process host=%d busy=80%% from=%ds to=%ds uid=%s"
                            .formatted(200 + i, 15 + 10 * i, 17 + 10 * i, OTHER);
        }
        Bench bench = Bench.node(lines);

        bench.play(Duration.ofSeconds(130));

        // Of the twenty seconds in which both are there each has half of what the GPU did.
        assertThat(bench.use(OTHER, Bench.GPU).gpuMicroseconds())
                .isCloseTo(9_000_000, withinPercentage(25));
        assertThat(bench.use().gpuMicroseconds()).isLessThan(22_500_000);
    }

    /** Clients of seconds, between which the server is listed alone. */
    private Bench comingAndGoing() throws IOException {
        FakeGrants grants = new FakeGrants(directory);
        grants.give(OTHER, "notebook", Bench.GPU, 1);
        grants.runMpsDaemons(SERVER);
        String[] lines = new String[13];
        lines[0] = DEVICE;
        lines[1] = "mps";
        lines[2] = SERVER_PROCESS;
        for (int i = 0; i < 10; i++) {
            lines[3 + i] =
                    "process host=%d busy=80%% from=%d.3s to=%d.3s uid=%s"
                            .formatted(200 + i, 15 + 10 * i, 18 + 10 * i, OTHER);
        }
        return Bench.node(grants, lines);
    }

    @Test
    void theServerHasNoPartAlsoWhileAClientComesOrGoes() throws IOException {
        Bench bench = comingAndGoing();

        bench.play(Duration.ofMinutes(2), Duration.ofMillis(500));

        assertThat(bench.use(SERVER, Bench.GPU).gpuMicroseconds()).isZero();
        assertThat(bench.use(SERVER, Bench.GPU).atMostMicroseconds()).isZero();
        assertThat(bench.use(OTHER, Bench.GPU).gpuMicroseconds())
                .isCloseTo(24_000_000, withinPercentage(5));
    }

    @Test
    void theFirstClientOfAllIsNotTakenForItsServerWhoseNameItsSamplesCarry() throws IOException {
        Bench bench = comingAndGoing();

        bench.play(Duration.ofSeconds(14));
        assertThat(bench.use(SERVER, Bench.GPU).basis()).isEqualTo(Basis.PROCESS);
        bench.play(Duration.ofSeconds(3));

        assertThat(bench.use(SERVER, Bench.GPU).gpuMicroseconds()).isZero();
        assertThat(bench.use(OTHER, Bench.GPU).gpuMicroseconds()).isPositive();
    }

    @Test
    void whatTheServersOwnPodTriesAsAClientIsNobodys() throws IOException {
        FakeGrants grants = new FakeGrants(directory);
        grants.give(Bench.POD, "trainer", Bench.GPU, 1);
        grants.runMpsDaemons(SERVER);
        Bench bench =
                Bench.node(
                        grants,
                        DEVICE,
                        "mps",
                        "process host=100 busy=20% from=60s uid=" + Bench.POD,
                        SERVER_PROCESS,
                        "process host=300 busy=10% uid=" + SERVER);

        bench.play(Duration.ofMinutes(2));

        assertThat(bench.use(SERVER, Bench.GPU).gpuMicroseconds()).isZero();
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(18_000_000, withinPercentage(5));
    }

    @Test
    void aPodThatTakesTheServersNameOnAGpuThatItWasNotGivenHidesNothing() throws IOException {
        FakeGrants grants = new FakeGrants(directory);
        grants.give(Bench.POD, "trainer", Bench.GPU, 1);
        grants.runMpsDaemons(SERVER);
        Bench bench =
                Bench.node(
                        grants,
                        DEVICE,
                        "process host=100 busy=40% uid=" + Bench.POD,
                        "process host=200 busy=20% uid=" + OTHER);
        Files.writeString(bench.proc.resolve("200/comm"), "nvidia-cuda-mps\n");

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.use().basis()).isEqualTo(Basis.PROCESS);
        assertThat(bench.use().gpuMicroseconds()).isCloseTo(240_000_000, withinPercentage(2));
        assertThat(bench.use(OTHER, Bench.GPU).gpuMicroseconds())
                .isCloseTo(120_000_000, withinPercentage(2));
    }

    @Test
    void whoTakesTheServersNameOnAGpuOfItsOwnHidesNothing() throws IOException {
        FakeGrants grants = new FakeGrants(directory);
        grants.give(SERVER, "called-like-it", Bench.GPU, 1);
        Bench bench = Bench.node(grants, DEVICE, "mps", "process host=4000 busy=20% uid=" + SERVER);

        bench.play(Duration.ofMinutes(2));

        assertThat(bench.use(SERVER, Bench.GPU).gpuMicroseconds())
                .isCloseTo(24_000_000, withinPercentage(5));
    }
}
