package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodUse;
import io.gpusharing.sidecar.usage.Usage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The node agent beside our device plugin, whose grants it reads. */
class GrantsTest {

    private static final String OTHER = NodeViewTest.OTHER;
    private static final String SECOND = "GPU-2f2e3d4c-0000-0000-0000-000000000000";
    private static final String[] TWO_GPUS = {"device " + Bench.GPU, "device " + SECOND};

    @TempDir private Path directory;
    private FakeGrants grants;

    @BeforeEach
    void start() {
        grants = new FakeGrants(directory);
    }

    @Test
    void aPodOnAGpuThatItWasNotGivenIsNamedAlsoWhenItWasGivenAnother() throws IOException {
        grants.give(Bench.POD, "trainer", Bench.GPU, 50);
        grants.give(OTHER, "notebook", SECOND, 20);
        Bench bench =
                bench(
                        "process device=0 host=100 busy=50% uid=" + Bench.POD,
                        "process device=0 host=200 busy=30% uid=" + OTHER,
                        "process device=1 host=200 busy=30% uid=" + OTHER);

        bench.play(Duration.ofSeconds(30));

        assertThat(bench.meter.usage().unasked())
                .containsExactly(
                        new Usage.Unasked(OTHER, "team-a", "notebook", List.of(Bench.GPU)));
        assertThat(bench.use(OTHER, Bench.GPU).unasked()).isTrue();
        assertThat(bench.use(OTHER, SECOND).unasked()).isFalse();
        assertThat(bench.use(Bench.POD, Bench.GPU).unasked()).isFalse();
    }

    @Test
    void aPodThatHoldsMoreMemoryThanItWasGivenOverAllItsProcessesIsNamed() throws IOException {
        grants.give(Bench.POD, "trainer", Bench.GPU, 50, 4_096, false);
        grants.give(OTHER, "notebook", Bench.GPU, 20, 4_096, false);
        Bench bench =
                bench(
                        "process host=100 busy=30% memory=3GiB uid=" + Bench.POD,
                        "process host=101 busy=10% memory=2GiB uid=" + Bench.POD,
                        "process host=200 busy=30% memory=4GiB uid=" + OTHER);
        bench.play(Duration.ofSeconds(15));
        // It may have been given more a moment ago, or have given some back.
        assertThat(bench.meter.usage().exceeded()).isEmpty();

        bench.play(Duration.ofSeconds(15));

        long gibibyte = 1L << 30;
        assertThat(bench.meter.usage().exceeded())
                .containsExactly(
                        new Usage.MemoryExceeded(
                                Bench.POD,
                                "team-a",
                                "trainer",
                                Bench.GPU,
                                5 * gibibyte,
                                4 * gibibyte));
        assertThat(bench.use(OTHER, Bench.GPU).memory())
                .isEqualTo(new DeviceUse.Memory(4 * gibibyte, 4 * gibibyte, false));
    }

    @Test
    void whoHasAllOfAGpuOrNoMemoryInParticularHoldsNeverTooMuch() throws IOException {
        grants.give(Bench.POD, "trainer", Bench.GPU, 100, 1, true);
        grants.give(OTHER, "notebook", SECOND, 20, 0, false);
        Bench bench =
                bench(
                        "process device=0 host=100 memory=70GiB uid=" + Bench.POD,
                        "process device=1 host=200 memory=70GiB uid=" + OTHER);

        bench.play(Duration.ofSeconds(60));

        assertThat(bench.meter.usage().exceeded()).isEmpty();
    }

    @Test
    void aPodOfWhichAContainerMayTakeAnyMemoryHoldsNeverTooMuch() throws IOException {
        grants.give(Bench.POD, "trainer", Bench.GPU, 20, 4_096, false);
        grants.give(Bench.POD, "trainer", Bench.GPU, 20, 0, false);
        Bench bench = bench("process host=100 memory=20GiB uid=" + Bench.POD);

        bench.play(Duration.ofSeconds(60));

        assertThat(bench.meter.usage().exceeded()).isEmpty();
    }

    @Test
    void whileTheDriverDoesNotAnswerNobodyIsSaidToHoldTooMuch() throws IOException {
        grants.give(Bench.POD, "trainer", Bench.GPU, 50, 1_024, false);
        Bench bench =
                bench(
                        "process host=100 memory=3GiB uid=" + Bench.POD,
                        "fail nvmlDeviceGetComputeRunningProcesses_v2 999 after=6");
        bench.play(Duration.ofSeconds(30));
        assertThat(bench.meter.usage().exceeded()).hasSize(1);

        bench.play(Duration.ofSeconds(150));

        assertThat(bench.meter.usage().exceeded()).isEmpty();
    }

    @Test
    void whoeverWasGivenMoreMeanwhileHoldsNotTooMuchAnyMore() throws IOException {
        grants.give(Bench.POD, "trainer", Bench.GPU, 50, 1_024, false);
        Bench bench = bench("process host=100 memory=3GiB uid=" + Bench.POD);
        bench.play(Duration.ofSeconds(30));
        assertThat(bench.meter.usage().exceeded()).hasSize(1);

        grants.give(Bench.POD, "trainer", Bench.GPU, 10, 2_048, false);
        bench.play(Duration.ofSeconds(15));

        assertThat(bench.meter.usage().exceeded()).isEmpty();
    }

    @Test
    void aPodThatWasGivenNothingIsSeenAlsoWhereItsNameIsNotKnown() throws IOException {
        grants.give(Bench.POD, "trainer", Bench.GPU, 50);
        Bench bench = bench("process device=1 host=200 busy=30% uid=" + OTHER);

        bench.play(Duration.ofSeconds(30));

        assertThat(bench.use(OTHER, SECOND).unasked()).isTrue();
        assertThat(bench.meter.usage().unasked()).isEmpty();
    }

    @Test
    void aGpuIsSplitByTheCoresThatWereGivenOnIt() throws IOException {
        grants.give(Bench.POD, "trainer", Bench.GPU, 60);
        grants.give(OTHER, "notebook", Bench.GPU, 20);
        grants.give(OTHER, "notebook", SECOND, 80);
        Bench bench =
                bench(
                        "mps",
                        "process host=100 busy=60% uid=" + Bench.POD,
                        "process host=200 busy=20% uid=" + OTHER);

        bench.play(Duration.ofMinutes(10));

        DeviceUse own = bench.use();
        assertThat(own.basis()).isEqualTo(Basis.DEVICE_SPLIT);
        assertThat(own.gpuMicroseconds())
                .isCloseTo(3 * bench.use(OTHER, Bench.GPU).gpuMicroseconds(), withinPercentage(1));
    }

    @Test
    void anIdlePodIsReportedWhereItHoldsAGpuUntilThatIsTakenBack() throws IOException {
        grants.give(Bench.POD, "trainer", SECOND, 50);
        Bench bench = bench();

        bench.play(Duration.ofMinutes(2));

        assertThat(bench.use(SECOND).gpuMicroseconds()).isZero();
        assertThat(bench.use(SECOND).coveredMicroseconds()).isGreaterThan(110_000_000);
        grants.take(Bench.POD);
        bench.play(Duration.ofMinutes(2));
        long ended = bench.use(SECOND).coveredMicroseconds();
        bench.play(Duration.ofMinutes(2));
        assertThat(bench.use(SECOND).coveredMicroseconds()).isEqualTo(ended);
    }

    @Test
    void nobodyIsBlamedWhileTheGrantsCannotBeUnderstood() throws IOException {
        grants.give(Bench.POD, "trainer", Bench.GPU, 50);
        Files.writeString(
                grants.file,
                Files.readString(grants.file).replace("\"version\":1", "\"version\":2"));
        Bench bench = bench("process device=1 host=200 busy=30% uid=" + OTHER);

        bench.play(Duration.ofSeconds(60));

        assertThat(bench.use(OTHER, SECOND).unasked()).isFalse();
    }

    static LongStream seeds() {
        return LongStream.rangeClosed(1, 40);
    }

    /** A pod that holds something while one of its processes may run. */
    private record Life(String uid, String gpu, int given, int from, int to, int taken) {}

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void onlyWhoWasNotGivenAGpuIsBlamedWheneverPodsComeAndGo(long seed) throws IOException {
        Random random = new Random(seed);
        List<Life> lives = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        for (int pod = 0; pod < 12; pod++) {
            String uid = "%08x-0000-0000-0000-000000000000".formatted(pod);
            int given = random.nextInt(200);
            int from = given + random.nextInt(3);
            int to = from + 1 + random.nextInt(90);
            String own = random.nextBoolean() ? Bench.GPU : SECOND;
            lives.add(new Life(uid, own, given, from, to, to + random.nextInt(3)));
            lines.add(process(own, 100 + pod, uid, from, to));
        }
        // From the first second to the last, on a GPU that it was not given.
        String thief = "ffffffff-0000-0000-0000-000000000000";
        lines.add(process(SECOND, 999, thief, 0, 400));
        grants.give(thief, "thief", Bench.GPU, 1);
        Bench bench = bench(lines.toArray(String[]::new));
        Set<String> blamed = new HashSet<>();

        for (int second = 0; second < 320; second++) {
            for (Life life : lives) {
                if (life.given() == second) {
                    grants.give(life.uid(), "pod", life.gpu(), 10);
                }
                if (life.taken() == second) {
                    grants.take(life.uid());
                }
            }
            bench.play(Duration.ofSeconds(1));
            for (PodUse pod : bench.meter.usage().pods()) {
                pod.devices().stream()
                        .filter(DeviceUse::unasked)
                        .forEach(use -> blamed.add(pod.uid() + " on " + use.uuid()));
            }
        }

        assertThat(blamed).containsExactly(thief + " on " + SECOND);
    }

    private static String process(String gpu, int pid, String uid, int from, int to) {
        return "process device=%d host=%d busy=5%% uid=%s from=%ds to=%ds"
                .formatted(gpu.equals(SECOND) ? 1 : 0, pid, uid, from, to);
    }

    private Bench bench(String... more) {
        List<String> lines = new ArrayList<>(List.of(TWO_GPUS));
        lines.addAll(List.of(more));
        return Bench.node(grants, lines.toArray(String[]::new));
    }
}
