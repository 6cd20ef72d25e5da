package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Two GPUs with 20 processes, a tick a second, under the flags that the image has: its compiler
 * saves no allocation that the code asks for.
 */
class AllocationOfTicksTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    void aTickAllocatesNothingAfterWarmUp() throws Exception {
        Process ticks =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "@image/jvm.options",
                                // The test's own classes do not fit into the image's heap.
                                "-Xmx64m",
                                "-XX:MaxMetaspaceSize=64m",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                AllocationOfTicksTest.class.getName())
                        .redirectErrorStream(true)
                        .start();
        String said =
                new String(ticks.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assertThat(ticks.waitFor()).as(said).isZero();
        long[] allocated = Arrays.stream(said.split(" ")).mapToLong(Long::parseLong).toArray();

        // Once a minute devices are searched for, and each found name is a string.
        assertThat(allocated).hasSize(100);
        assertThat(Arrays.stream(allocated).filter(bytes -> bytes == 0).count())
                .as("bytes per tick: %s", said)
                .isGreaterThanOrEqualTo(98);
        assertThat(Arrays.stream(allocated).sum()).isLessThan(2_048);
    }

    /** Prints what each of a hundred ticks allocated, in bytes. */
    public static void main(String[] args) {
        String[] lines =
                Stream.concat(
                                Stream.of("device GPU-1", "device GPU-2"),
                                IntStream.range(0, 20)
                                        .mapToObj(i -> "process device=" + i % 2 + " busy=4%"))
                        .toArray(String[]::new);
        Bench bench = Bench.shared(lines);
        bench.play(Duration.ofHours(2));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[] allocated = new long[100];
        for (int i = 0; i < allocated.length; i++) {
            bench.time.passMicros(SECOND.toNanos() / 1_000);
            long before = threads.getCurrentThreadAllocatedBytes();
            bench.meter.tick();
            allocated[i] = threads.getCurrentThreadAllocatedBytes() - before;
        }
        for (long bytes : allocated) {
            System.out.print(bytes + " ");
        }
    }
}
