package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IntegralTest {

    private static final String DEVICE = "device " + Bench.GPU;

    @Test
    void aSteadyLoadIsItsShareOfTheTime() {
        Bench bench = Bench.shared(DEVICE, "process busy=30% memory=4GiB");

        bench.play(Duration.ofMinutes(10));

        DeviceUse use = bench.use();
        assertThat(use.basis()).isEqualTo(Basis.PROCESS);
        assertThat(use.basisReason()).isEmpty();
        assertThat(use.gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(2));
        assertThat(use.memoryByteSeconds()).isCloseTo((4L << 30) * 600, withinPercentage(2));
        assertThat(use.coveredMicroseconds()).isEqualTo(600_000_000);
        assertThat(use.uncoveredMicroseconds()).isZero();
    }

    @ParameterizedTest(name = "case 17: poll every {0} ms, {1}")
    @DisplayName("case 17: the poll period does not change the integral")
    @CsvSource({
        "500,newest", "1000,newest", "3000,newest", "8000,newest",
        "500,own", "1000,own", "3000,own", "8000,own"
    })
    void thePollPeriodDoesNotChangeTheIntegral(int millis, String stamp) {
        Bench bench = Bench.shared(DEVICE, "stamp " + stamp, "process busy=100% on=1.7s off=2.3s");

        bench.play(Duration.ofMinutes(10), Duration.ofMillis(millis));

        assertThat(bench.use().gpuMicroseconds()).isCloseTo(bench.truth(0), withinPercentage(3));
    }
}
