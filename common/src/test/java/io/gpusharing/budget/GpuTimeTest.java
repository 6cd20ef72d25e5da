package io.gpusharing.budget;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.request.GpuShare;
import io.gpusharing.testing.RandomSeeds;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GpuTimeTest {

    private static final Instant NOON = Instant.parse("2026-03-10T12:00:00Z");

    @ParameterizedTest
    @CsvSource({
        "0.25, 15000000, 0.250",
        "1200, 72000000000, 1200.000",
        "0, 0, 0.000",
        "-1, -60000000, -1.000"
    })
    void readsAndWritesGpuMinutes(String minutes, long microGpuSeconds, String written) {
        assertThat(GpuTime.ofMinutes(minutes)).isEqualTo(new GpuTime(microGpuSeconds));
        assertThat(new GpuTime(microGpuSeconds).minutes()).isEqualTo(written);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ten", "0.000000001", "1e30", "1 h"})
    void refusesWhatIsNoNumberOfMinutes(String minutes) {
        assertThatThrownBy(() -> GpuTime.ofMinutes(minutes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + minutes + "\"");
    }

    @Test
    void timeDoesNotRunBackwards() {
        assertThatThrownBy(() -> GpuTime.accrued(1, NOON, NOON.minusSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void sumsBeyondTheRangeOfALongSaturateInsteadOfWrapping() {
        GpuTime most = new GpuTime(Long.MAX_VALUE);
        GpuTime least = new GpuTime(Long.MIN_VALUE);
        GpuTime one = new GpuTime(1);

        assertThat(most.plus(one)).isEqualTo(most);
        assertThat(least.minus(one)).isEqualTo(least);
        assertThat(GpuTime.ZERO.minus(least)).isEqualTo(most);
        assertThat(GpuTime.accrued(Long.MAX_VALUE, NOON, NOON.plusSeconds(2))).isEqualTo(most);
    }

    @ParameterizedTest
    @RandomSeeds(300)
    void splittingAnIntervalAtASecondNeverChangesItsCharge(long seed) {
        Random random = new Random(seed);
        long rate = random.nextLong(16 * GpuShare.WHOLE);
        Instant between = NOON.plusSeconds(random.nextInt(100_000));
        Instant to = between.plusSeconds(random.nextInt(100_000));

        assertThat(GpuTime.accrued(rate, NOON, between).plus(GpuTime.accrued(rate, between, to)))
                .isEqualTo(GpuTime.accrued(rate, NOON, to));
    }

    @ParameterizedTest
    @RandomSeeds(100)
    void percentIsExactAndNeverOverflows(long seed) {
        Random random = new Random(seed);
        long amount = random.nextLong(Long.MAX_VALUE);
        int percent = random.nextInt(101);

        assertThat(new GpuTime(amount).percent(percent).microGpuSeconds())
                .isEqualTo(
                        java.math.BigInteger.valueOf(amount)
                                .multiply(java.math.BigInteger.valueOf(percent))
                                .divide(java.math.BigInteger.valueOf(100))
                                .longValueExact());
    }
}
