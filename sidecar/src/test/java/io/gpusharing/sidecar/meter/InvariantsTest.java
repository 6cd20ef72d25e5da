package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodUse;
import io.gpusharing.sidecar.usage.Usage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds whatever happens: random loads, faults, stalls, clocks, grants and restarts. */
class InvariantsTest {

    private static final String[] CALLS = {
        "nvmlDeviceGetProcessUtilization",
        "nvmlDeviceGetSamples",
        "nvmlDeviceGetComputeRunningProcesses_v2",
        "nvmlDeviceGetHandleByIndex_v2",
        "nvmlInit_v2",
        "nvmlDeviceGetCount_v2"
    };
    private static final int[] CODES = {1, 2, 3, 4, 6, 7, 10, 15, 16, 17, 999};
    private static final String[] DRIVERS = {
        "470.256.02", "535.104.05", "550.54.14", "565.57.01", "580.159.03"
    };

    @TempDir private Path directory;

    static LongStream seeds() {
        return LongStream.rangeClosed(1, 60);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void countersOnlyGrowAndTimeAddsUp(long seed) throws IOException {
        Random random = new Random(seed);
        FakeGrants grants = new FakeGrants(directory);
        Bench bench = bench(random, grants);
        long started = bench.time.monotonicMicros();
        Map<String, DeviceUse> before = new HashMap<>();

        for (int step = 0; step < 400; step++) {
            bench.time.passMicros(
                    switch (random.nextInt(20)) {
                        case 0 -> random.nextInt(40_000_000);
                        case 1, 2 -> random.nextInt(200_000);
                        default -> 900_000 + random.nextInt(200_000);
                    });
            if (random.nextInt(100) == 0) {
                bench.time.setWallBy(Duration.ofSeconds(random.nextInt(7_200) - 3_600));
            }
            if (random.nextInt(100) == 0) {
                bench.restart(Duration.ofMillis(random.nextInt(20_000)), Bench.BOOT);
            }
            if (random.nextInt(50) == 0) {
                String pod = random.nextBoolean() ? Bench.POD : NodeViewTest.OTHER;
                grants.take(pod);
                grants.give(pod, "pod", "GPU-" + random.nextInt(3), random.nextInt(100));
            }
            bench.meter.tick();
            check(bench, started, before);
        }
    }

    private static void check(Bench bench, long started, Map<String, DeviceUse> before) {
        long wall = bench.time.monotonicMicros() - started;
        Map<String, Long> perDevice = new HashMap<>();
        Usage usage = bench.meter.usage();
        for (PodUse pod : usage.pods()) {
            for (DeviceUse use : pod.devices()) {
                long time = use.coveredMicroseconds() + use.uncoveredMicroseconds();
                assertThat(time).isLessThanOrEqualTo(wall);
                if (bench.view.resident() != null) {
                    // What is not settled yet may still come from the ring, and from nowhere else.
                    assertThat(time).isGreaterThanOrEqualTo(wall - 10_000_000);
                }
                // The timekeeper refuses a report with more.
                assertThat(use.gpuMicroseconds())
                        .isLessThanOrEqualTo(use.coveredMicroseconds() + 10_000_000);
                assertThat(use.atMostMicroseconds())
                        .isBetween(use.gpuMicroseconds(), use.coveredMicroseconds() + 10_000_000);
                perDevice.merge(use.uuid(), use.gpuMicroseconds(), Long::sum);
                DeviceUse last = before.put(pod.uid() + use.uuid(), use);
                if (last != null) {
                    assertThat(use.gpuMicroseconds())
                            .isGreaterThanOrEqualTo(last.gpuMicroseconds());
                    assertThat(use.atMostMicroseconds())
                            .isGreaterThanOrEqualTo(last.atMostMicroseconds());
                    assertThat(use.memoryByteSeconds())
                            .isGreaterThanOrEqualTo(last.memoryByteSeconds());
                    assertThat(use.coveredMicroseconds())
                            .isGreaterThanOrEqualTo(last.coveredMicroseconds());
                    assertThat(use.uncoveredMicroseconds())
                            .isGreaterThanOrEqualTo(last.uncoveredMicroseconds());
                }
            }
        }
        // A set wall clock can make the driver's last window look longer than it was, once.
        perDevice.forEach(
                (uuid, busy) -> assertThat(busy).as(uuid).isLessThanOrEqualTo(wall + 2_000_000));
    }

    private static Bench bench(Random random, FakeGrants grants) {
        List<String> lines = new ArrayList<>();
        lines.add("driver " + DRIVERS[random.nextInt(DRIVERS.length)]);
        int devices = 1 + random.nextInt(3);
        for (int i = 0; i < devices; i++) {
            lines.add("device GPU-" + i);
        }
        for (int i = random.nextInt(6); i > 0; i--) {
            lines.add(
                    "process device=%d busy=%d%% on=%dms off=%dms uid=%s memory=%dGiB pod=%d"
                            .formatted(
                                    random.nextInt(devices),
                                    random.nextInt(33),
                                    1 + random.nextInt(9_000),
                                    random.nextInt(9_000),
                                    random.nextBoolean() ? Bench.POD : NodeViewTest.OTHER,
                                    random.nextInt(80),
                                    random.nextInt(3) == 0 ? 0 : 100 + i));
        }
        for (int i = random.nextInt(6); i > 0; i--) {
            lines.add(
                    "fail %s %d after=%d times=%d"
                            .formatted(
                                    CALLS[random.nextInt(CALLS.length)],
                                    CODES[random.nextInt(CODES.length)],
                                    random.nextInt(300),
                                    1 + random.nextInt(50)));
        }
        if (random.nextInt(4) == 0) {
            lines.add("row pid=" + random.nextInt(200) + " sm=" + random.nextInt(150));
        }
        String[] scenario = lines.toArray(String[]::new);
        return switch (random.nextInt(3)) {
            case 0 -> Bench.shared(scenario);
            case 1 -> Bench.exclusive(devices, scenario);
            default -> Bench.node(grants, scenario);
        };
    }
}
