package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The meter runs for months beside somebody's work: a tick leaves nothing behind. */
class AllocationOfTicksTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    void aTickAllocatesNothingAfterWarmUp() {
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

        // Once a minute devices are searched for, and each found name is a string.
        assertThat(Arrays.stream(allocated).filter(bytes -> bytes == 0).count())
                .as("bytes per tick: %s", Arrays.toString(allocated))
                .isGreaterThanOrEqualTo(98);
        assertThat(Arrays.stream(allocated).sum()).isLessThan(2_048);
    }
}
