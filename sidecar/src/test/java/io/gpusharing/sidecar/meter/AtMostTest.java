package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodProcesses;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who is beside others who compute is never said to be idle because it was not caught. */
class AtMostTest {

    private static final String OTHER = NodeViewTest.OTHER;
    private static final String DEVICE = "device " + Bench.GPU;

    @TempDir private Path directory;

    @Test
    void whoeverWasNotCaughtBesideAnotherMayHaveDoneAllOfIt() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=60% uid=" + Bench.POD,
                        "process host=200 busy=0% uid=" + OTHER);

        bench.play(Duration.ofMinutes(10));

        DeviceUse hidden = bench.use(OTHER, Bench.GPU);
        assertThat(hidden.gpuMicroseconds()).isZero();
        assertThat(hidden.atMostMicroseconds())
                .isEqualTo(bench.use().gpuMicroseconds())
                .isCloseTo(bench.truth(0), withinPercentage(2));
        assertThat(bench.use().atMostMicroseconds()).isEqualTo(bench.use().gpuMicroseconds());
    }

    @Test
    void whereNobodyComputesAllAreIdleForCertain() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=60% to=60s uid=" + Bench.POD,
                        "process host=200 busy=0% uid=" + OTHER);
        bench.play(Duration.ofMinutes(2));
        long then = bench.use(OTHER, Bench.GPU).atMostMicroseconds();

        bench.play(Duration.ofMinutes(8));

        assertThat(bench.use(OTHER, Bench.GPU).atMostMicroseconds()).isEqualTo(then);
    }

    @Test
    void aPodThatHasItsGpuAloneDidWhatWasCountedAndNoMore() throws IOException {
        FakeGrants grants = new FakeGrants(directory);
        grants.give(Bench.POD, "trainer", Bench.GPU, 100, 1, true);
        Bench bench =
                Bench.node(
                        grants,
                        DEVICE,
                        "process host=100 busy=30% uid=" + Bench.POD,
                        "process host=0 busy=20%");

        bench.play(Duration.ofMinutes(2));

        assertThat(bench.use().atMostMicroseconds()).isEqualTo(bench.use().gpuMicroseconds());
    }

    @Test
    void underMpsEachMayHaveDoneAllOfIt() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "mps",
                        "process host=100 busy=60% uid=" + Bench.POD,
                        "process host=200 busy=20% uid=" + OTHER);

        bench.play(Duration.ofMinutes(10));

        assertThat(bench.use().atMostMicroseconds()).isCloseTo(480_000_000, withinPercentage(2));
        assertThat(bench.use(OTHER, Bench.GPU).atMostMicroseconds())
                .isEqualTo(bench.use().atMostMicroseconds());
    }

    @Test
    void aSidecarKnowsNoMoreOfItsNeighbours() {
        Bench bench =
                Bench.shared(DEVICE, "process pod=17 busy=0%", "process pod=0 host=77 busy=60%");

        bench.play(Duration.ofMinutes(2));

        assertThat(bench.use().gpuMicroseconds()).isZero();
        assertThat(bench.use().atMostMicroseconds()).isCloseTo(72_000_000, withinPercentage(4));
    }

    @Test
    void anAgentThatStartsAgainRemembersIt() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=60% uid=" + Bench.POD,
                        "process host=200 busy=0% uid=" + OTHER);
        bench.play(Duration.ofMinutes(1));
        long before = bench.use(OTHER, Bench.GPU).atMostMicroseconds();

        bench.restart(Duration.ofSeconds(1), Bench.BOOT);

        assertThat(bench.use(OTHER, Bench.GPU).atMostMicroseconds()).isEqualTo(before);
    }

    @Test
    void ofAProcessThatWasNotCaughtBesideOthersNobodySaysHowBusyItIs() {
        Bench bench =
                Bench.node(
                        DEVICE,
                        "process host=100 busy=60% to=60s uid=" + Bench.POD,
                        "process host=200 busy=0% uid=" + OTHER);
        bench.play(Duration.ofMinutes(1));
        assertThat(busyPercent(bench, OTHER)).isEqualTo(-1);

        bench.play(Duration.ofMinutes(1));

        assertThat(busyPercent(bench, OTHER)).isZero();
    }

    private static int busyPercent(Bench bench, String pod) {
        return bench.meter.usage().running().pods().stream()
                .filter(it -> it.uid().equals(pod))
                .map(PodProcesses::processes)
                .map(it -> it.getFirst().busyPercent())
                .findFirst()
                .orElseThrow();
    }
}
