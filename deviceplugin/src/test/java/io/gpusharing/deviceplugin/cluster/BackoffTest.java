package io.gpusharing.deviceplugin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class BackoffTest {

    private final List<Duration> pauses = new ArrayList<>();

    @Test
    void waitsTwiceAsLongAfterEachFailureUpToHalfAMinute() throws InterruptedException {
        var backoff = new Backoff(() -> 0, pauses::add);
        for (int i = 0; i < 9; i++) {
            backoff.pause();
        }
        assertThat(pauses)
                .extracting(Duration::toMillis)
                .containsExactly(
                        500L, 1_000L, 2_000L, 4_000L, 8_000L, 16_000L, 30_000L, 30_000L, 30_000L);
    }

    @Test
    void beginsAnewAfterASuccess() throws InterruptedException {
        var backoff = new Backoff(() -> 0, pauses::add);
        backoff.pause();
        backoff.pause();
        backoff.reset();
        backoff.pause();
        assertThat(pauses).last().isEqualTo(Duration.ofMillis(500));
    }

    @Test
    void leavesOutUpToHalfByDice() throws InterruptedException {
        for (int seed = 0; seed < 200; seed++) {
            new Backoff(new SplittableRandom(seed), pauses::add).pause();
        }
        assertThat(pauses)
                .allSatisfy(pause ->
                        assertThat(pause).isBetween(Duration.ofMillis(250), Duration.ofMillis(500)))
                .doesNotHaveDuplicates();
    }
}
