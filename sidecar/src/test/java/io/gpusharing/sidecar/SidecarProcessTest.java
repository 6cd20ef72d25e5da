package io.gpusharing.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.sidecar.attribution.ProcFs;
import io.gpusharing.sidecar.report.FakeTimekeeper;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sidecar as a process of its own, as a container runtime starts and ends it. */
class SidecarProcessTest {

    private static final String POD = "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10";
    private static final String GPU = "GPU-1f2e3d4c-0000-0000-0000-000000000000";

    /**
     * The program allows itself 150 ms. The rest is for a machine that is busy with other builds.
     */
    private static final Duration PROMPT = Duration.ofSeconds(1);

    @TempDir Path directory;

    @Test
    @DisplayName("case 52, defects 46 and 49: a busy process is reported, and again at SIGTERM")
    void reportsWhatAProcessDidAndAgainAtItsEnd() throws Exception {
        try (FakeTimekeeper timekeeper = new FakeTimekeeper()) {
            Process sidecar = start(timekeeper, "device " + GPU, "process busy=30% memory=4GiB");
            await(() -> timekeeper.received.size() >= 3);

            long asked = System.nanoTime();
            sidecar.destroy();
            boolean ended = sidecar.waitFor(10, TimeUnit.SECONDS);

            assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(PROMPT);
            assertThat(ended).isTrue();
            assertThat(sidecar.exitValue()).isZero();
            assertThat(log()).contains("stopped lastTick=true lastReport=taken");
            Map<?, ?> last = timekeeper.received.getLast().report();
            Map<?, ?> device = device(last);
            assertThat(device.get("basis")).isEqualTo("Process");
            assertThat(device.get("uuid")).isEqualTo(GPU);
            assertThat(number(device, "gpuMicroseconds")).isPositive();
            assertThat(number(last, "sequence")).isEqualTo(timekeeper.received.size());
            assertThat(timekeeper.received.getFirst().token()).isEqualTo("Bearer secret-1");
            assertThat(Files.readString(directory.resolve("state/meter.json"))).contains(POD);
        }
    }

    @Test
    @DisplayName("case 52: SIGTERM while a call hangs in the driver and a report is on its way")
    void endsInTimeWhateverHangs() throws Exception {
        try (FakeTimekeeper timekeeper = new FakeTimekeeper()) {
            Process sidecar =
                    start(
                            timekeeper,
                            "device " + GPU,
                            "process busy=30%",
                            "hang nvmlDeviceGetProcessUtilization after=3");
            await(() -> timekeeper.received.size() >= 5);
            timekeeper.hold();
            await(() -> timekeeper.held() > 0);

            long asked = System.nanoTime();
            sidecar.destroy();
            boolean ended = sidecar.waitFor(10, TimeUnit.SECONDS);
            Duration took = Duration.ofNanos(System.nanoTime() - asked);
            timekeeper.letGo();

            assertThat(ended).isTrue();
            assertThat(took).isLessThan(PROMPT);
            assertThat(sidecar.exitValue()).isZero();
            assertThat(log()).contains("stopped lastTick=false lastReport=\"not taken\"");
            assertThat(Files.readString(directory.resolve("state/meter.json"))).contains(GPU);
        }
    }

    @Test
    @DisplayName("case 44: killed again and again, the run goes on and loses nothing")
    void aKilledSidecarContinuesItsCounters() throws Exception {
        try (FakeTimekeeper timekeeper = new FakeTimekeeper()) {
            for (int life = 0; life < 3; life++) {
                int before = timekeeper.received.size();
                Process sidecar = start(timekeeper, "device " + GPU, "process busy=50%");
                await(() -> timekeeper.received.size() >= before + 2);
                sidecar.destroyForcibly().waitFor();
            }

            List<Map<?, ?>> reports = new ArrayList<>();
            timekeeper.received.forEach(received -> reports.add(received.report()));
            assertThat(reports.stream().map(report -> report.get("run")).distinct()).hasSize(1);
            long sequence = 0;
            long wall = 0;
            long busy = 0;
            for (Map<?, ?> report : reports) {
                assertThat(number(report, "sequence")).isGreaterThan(sequence);
                sequence = number(report, "sequence");
                Map<?, ?> device = device(report);
                long covered = number(device, "coveredMicroseconds");
                long all = covered + number(device, "uncoveredMicroseconds");
                assertThat(all).isGreaterThanOrEqualTo(wall);
                assertThat(number(device, "gpuMicroseconds")).isGreaterThanOrEqualTo(busy);
                wall = all;
                busy = number(device, "gpuMicroseconds");
            }
            assertThat(log()).contains("run goes on");
        }
    }

    @Test
    @DisplayName("defect 48: nothing the timekeeper says makes the sidecar end itself")
    void aRefusedSidecarKeepsRunningAndLogsTheReasonOnce() throws Exception {
        try (FakeTimekeeper timekeeper = new FakeTimekeeper()) {
            timekeeper.replies.set(0, new FakeTimekeeper.Reply(403, "{\"detail\":\"terminate\"}"));
            Process sidecar = start(timekeeper, "device " + GPU);
            await(() -> timekeeper.received.size() >= 3);

            assertThat(sidecar.isAlive()).isTrue();
            assertThat(log()).containsOnlyOnce("report not taken");
            sidecar.destroyForcibly().waitFor();
        }
    }

    @Test
    void theSameJarIsTheNodeAgentAndShowsItsNumbers() throws Exception {
        try (FakeTimekeeper timekeeper = new FakeTimekeeper()) {
            Process agent =
                    start(
                            timekeeper,
                            "view host",
                            "device " + GPU + " name=H100",
                            "process host=100 busy=40% memory=2GiB uid=" + POD,
                            "process host=200 busy=20%");
            await(() -> timekeeper.received.size() >= 3 && log().contains("metrics are served"));
            String port = log().replaceAll("(?s).*metrics are served port=(\\d+).*", "$1");
            String page = get("http://127.0.0.1:" + port + "/metrics");
            String ready = get("http://127.0.0.1:" + port + "/readyz");
            agent.destroy();
            agent.waitFor();

            Map<?, ?> last = timekeeper.received.getLast().report();
            assertThat(last.get("meter")).isEqualTo("Agent");
            assertThat(number(device(last), "gpuMicroseconds")).isPositive();
            assertThat(number(first(last.get("unattributed")), "gpuMicroseconds")).isPositive();
            assertThat(ready).isEqualTo("ok");
            assertThat(page)
                    .contains(
                            "gpusharing_gpu_busy_seconds_total{namespace=\"\",pod=\"\",pod_uid=\"")
                    .contains("basis=\"Process\"} ")
                    .contains("gpusharing_gpu_memory_used_bytes")
                    .contains("gpusharing_reports_total{result=\"taken\"}")
                    .contains("DCGM_FI_DEV_FB_USED{UUID=\"" + GPU + "\",modelName=\"H100\"");
        }
    }

    /** As of a pod whose work took a second. */
    @Test
    void aSidecarThatStillStartsEndsWithoutFailureToo() throws Exception {
        try (FakeTimekeeper timekeeper = new FakeTimekeeper()) {
            Process sidecar = start(timekeeper, Starting.class);
            await(() -> log().contains("meter starts"));

            sidecar.destroy();

            assertThat(sidecar.waitFor(10, TimeUnit.SECONDS)).isTrue();
            assertThat(sidecar.exitValue()).isZero();
        }
    }

    @Test
    void aMistakeWhileItStartsIsNoGoodEnd() throws Exception {
        try (FakeTimekeeper timekeeper = new FakeTimekeeper()) {
            assertThat(start(timekeeper, Broken.class).waitFor()).isOne();
        }
    }

    @Test
    void withoutItsSettingsItSaysWhichAreMissing() throws Exception {
        Process sidecar =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-cp",
                                System.getProperty("java.class.path"),
                                Sidecar.class.getName())
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("log").toFile())
                        .start();

        assertThat(sidecar.waitFor()).isEqualTo(Sidecar.BAD_SETTINGS);
        assertThat(log())
                .contains("GPUSHARING_TIMEKEEPER_URL", "GPUSHARING_CA", "GPUSHARING_POD_UID");
    }

    private static String get(String url) throws IOException {
        try (InputStream in = URI.create(url).toURL().openStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** A sidecar that does not come further than its first line. */
    static final class Starting {

        public static void main(String[] args) {
            run(explicit -> {
                while (true) {
                    LockSupport.park();
                }
            });
        }

        static void run(Sidecar.Library library) {
            ProcFs proc = new ProcFs(Path.of("/proc"));
            End.of(end -> Sidecar.run(end, System.getenv(), library, proc));
        }
    }

    /** One that a mistake of ours ends there. */
    static final class Broken {

        public static void main(String[] args) {
            Starting.run(explicit -> {
                throw new IllegalStateException("broken");
            });
        }
    }

    private Process start(FakeTimekeeper timekeeper, String... scenario) throws IOException {
        return start(timekeeper, FakeNvmlSidecar.class, scenario);
    }

    private Process start(FakeTimekeeper timekeeper, Class<?> program, String... arguments)
            throws IOException {
        Path token = directory.resolve("token");
        Files.writeString(token, "secret-1\n");
        Path state = Files.createDirectories(directory.resolve("state"));
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                program.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment()
                .putAll(
                        Map.of(
                                "GPUSHARING_TIMEKEEPER_URL",
                                timekeeper.url(),
                                "GPUSHARING_CA",
                                timekeeper.ca(),
                                "GPUSHARING_TOKEN_FILE",
                                token.toString(),
                                "GPUSHARING_POD_UID",
                                POD,
                                "GPUSHARING_STATE_DIR",
                                state.toString(),
                                "GPUSHARING_REPORT_PERIOD",
                                "PT1S",
                                "GPUSHARING_METRICS_PORT",
                                "0",
                                "GPUSHARING_DCGM_NAMES",
                                "true"));
        return builder.redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(directory.resolve("log").toFile()))
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

    private static long number(Map<?, ?> object, String key) {
        return object.get(key) instanceof Long number ? number : -1;
    }

    private static Map<?, ?> first(@Nullable Object list) {
        if (list instanceof List<?> items && items.getFirst() instanceof Map<?, ?> item) {
            return item;
        }
        throw new AssertionError("not a list of objects: " + list);
    }

    private interface Condition {
        boolean holds() throws Exception;
    }

    private void await(Condition condition) throws Exception {
        long until = System.nanoTime() + Duration.ofSeconds(90).toNanos();
        while (!condition.holds()) {
            assertThat(System.nanoTime()).as("waited too long; log: %s", log()).isLessThan(until);
            Thread.sleep(20);
        }
    }
}
