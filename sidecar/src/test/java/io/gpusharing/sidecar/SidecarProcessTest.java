package io.gpusharing.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.sidecar.report.FakeTimekeeper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sidecar as a process of its own, as a container runtime starts and ends it. */
class SidecarProcessTest {

    private static final String POD = "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10";
    private static final String GPU = "GPU-1f2e3d4c-0000-0000-0000-000000000000";

    @TempDir Path directory;

    @Test
    @DisplayName("case 52, defects 46 and 49: a busy process is reported, and again at SIGTERM")
    void reportsWhatAProcessDidAndAgainAtItsEnd() throws Exception {
        try (FakeTimekeeper timekeeper = new FakeTimekeeper()) {
            Process sidecar = start(timekeeper, "device " + GPU, "process busy=30% memory=4GiB");
            await(() -> timekeeper.received.size() >= 3);

            long asked = System.nanoTime();
            sidecar.destroy();
            boolean ended = sidecar.waitFor(5, TimeUnit.SECONDS);

            assertThat(ended).isTrue();
            assertThat(Duration.ofNanos(System.nanoTime() - asked))
                    .isLessThan(Duration.ofSeconds(2));
            assertThat(log()).contains("stopped lastTick=true lastReport=taken");
            Map<?, ?> last = timekeeper.received.getLast().report();
            Map<?, ?> device = device(last);
            assertThat(device.get("basis")).isEqualTo("Process");
            assertThat(device.get("uuid")).isEqualTo(GPU);
            assertThat((Long) device.get("gpuMicroseconds")).isPositive();
            assertThat((Long) last.get("sequence")).isEqualTo(timekeeper.received.size());
            assertThat(timekeeper.received.getFirst().token()).isEqualTo("Bearer secret-1");
            assertThat(Files.readString(directory.resolve("state/meter.json"))).contains(POD);
        }
    }

    private Process start(FakeTimekeeper timekeeper, String... scenario) throws IOException {
        Path token = directory.resolve("token");
        Files.writeString(token, "secret-1\n");
        Path state = Files.createDirectories(directory.resolve("state"));
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                FakeNvmlSidecar.class.getName()));
        command.addAll(List.of(scenario));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment()
                .putAll(
                        Map.of(
                                "GPUSHARING_TIMEKEEPER_URL", timekeeper.url(),
                                "GPUSHARING_CA", timekeeper.ca(),
                                "GPUSHARING_TOKEN_FILE", token.toString(),
                                "GPUSHARING_POD_UID", POD,
                                "GPUSHARING_STATE_DIR", state.toString(),
                                "GPUSHARING_REPORT_PERIOD", "PT1S"));
        return builder.redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
    }

    private String log() throws IOException {
        return Files.readString(directory.resolve("log"));
    }

    private static Map<?, ?> device(Map<?, ?> report) {
        Map<?, ?> pod = first(report.get("pods"));
        assertThat(pod.get("uid")).isEqualTo(POD);
        return first(pod.get("devices"));
    }

    private static Map<?, ?> first(@Nullable Object list) {
        if (list instanceof List<?> items && items.getFirst() instanceof Map<?, ?> item) {
            return item;
        }
        throw new AssertionError("not a list of objects: " + list);
    }

    private interface Condition {
        boolean holds();
    }

    private void await(Condition condition) throws Exception {
        long until = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (!condition.holds()) {
            assertThat(System.nanoTime()).as("waited too long; log: %s", log()).isLessThan(until);
            Thread.sleep(20);
        }
    }
}
