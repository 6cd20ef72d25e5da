package io.gpusharing.timekeeper.allocation;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.testing.RandomSeeds;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UseRuleTest {

    private static final long HALF = 500_000;
    private static final long SECOND = 1_000_000;

    private final UseRule rule = new UseRule(10);

    @ParameterizedTest(name = "{0} s held, {1} s measured, busy {2} micro-GPU-seconds: {3}")
    @CsvSource({
        // Not measured: the share.
        "100, 0, 0, 50000000",
        // Half busy of its half, all the time.
        "100, 100, 25000000, 25000000",
        // Idle: the floor.
        "100, 100, 0, 5000000",
        // More than its share, because the limit is a soft one: the share.
        "100, 100, 90000000, 50000000",
        // Measured for 40 of 100 s, and idle then: 60 s of the share, 40 s of the floor.
        "100, 40, 0, 32000000",
        // A meter that claims more time than there was.
        "100, 4000, 25000000, 25000000",
    })
    void chargesWhatWasMeasured(long held, long covered, long used, long due) {
        assertThat(rule.due(HALF, HALF, held, covered * SECOND, used)).isEqualTo(new GpuTime(due));
    }

    @Test
    void aSecondThatWasMeasuredInPartCountsAsNotMeasured() {
        assertThat(rule.due(HALF, HALF, 10, 9 * SECOND + 999_999, 0))
                .isEqualTo(rule.due(HALF, HALF, 10, 9 * SECOND, 0));
    }

    @Test
    void theRateMayBeAnotherThanTheShare() {
        // A weight of 3: half of the share busy is half of the rate.
        assertThat(rule.due(3 * HALF, HALF, 100, 100 * SECOND, 25_000_000))
                .isEqualTo(new GpuTime(75_000_000));
    }

    @ParameterizedTest
    @RandomSeeds(300)
    void isNeverBelowTheFloorNorAboveTheShareAndGrowsWithUseAndTime(long seed) {
        Random random = new Random(seed);
        UseRule any = new UseRule(random.nextInt(101));
        long rate = random.nextLong(50_000_000);
        long share = random.nextLong(16_000_000);
        long held = random.nextLong(40_000_000);
        long covered = random.nextLong(50_000_000) * SECOND;
        long used = random.nextLong(1_000_000_000_000L);

        long due = any.due(rate, share, held, covered, used).microGpuSeconds();

        assertThat(due).isBetween(rate * held / 100 * any.idleFloorPercent(), rate * held);
        assertThat(
                        any.due(rate, share, held, covered, used + random.nextLong(SECOND))
                                .microGpuSeconds())
                .isGreaterThanOrEqualTo(due);
        assertThat(any.due(rate, share, held + 1, covered, used).microGpuSeconds())
                .isGreaterThanOrEqualTo(due);
        assertThat(any.due(rate, share, held, 0, used).microGpuSeconds()).isEqualTo(rate * held);
    }
}
