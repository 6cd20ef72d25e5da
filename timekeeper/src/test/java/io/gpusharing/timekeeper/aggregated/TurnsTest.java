package io.gpusharing.timekeeper.aggregated;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whoever waits here waits for an hour, so a test that ends has not waited. */
@Timeout(60)
class TurnsTest {

    private final Turns turns = new Turns(4, 2, 3, Duration.ofHours(1));

    private void begin(String... callers) {
        for (String caller : callers) {
            assertThat(turns.begin(caller)).as(caller).isTrue();
        }
    }

    @Test
    void nobodyHasAllTurns() {
        begin("ada", "ada", "ada");

        assertThat(turns.begin("ada")).isFalse();
        begin("nina");
        turns.end("ada");
        begin("ada");
    }

    @Test
    void whoWaitsIsServedWhenAnotherTurnEnds() throws Exception {
        begin("ada", "ada", "ada", "nina");

        try (var people = Executors.newVirtualThreadPerTaskExecutor()) {
            var waiting = people.submit(() -> turns.begin("rita"));
            turns.end("nina");
            assertThat(waiting.get()).isTrue();
        }
    }

    @Test
    void beyondThoseWhoWaitEverybodyIsRefusedAtOnce() throws Exception {
        begin("ada", "ada", "nina", "nina");

        try (var people = Executors.newVirtualThreadPerTaskExecutor()) {
            var waiting =
                    List.of("rita", "rita", "rita", "olga", "olga").stream()
                            .map(caller -> people.submit(() -> turns.begin(caller)))
                            .toList();
            // Two of them wait; which, only threads know.
            while (waiting.stream().filter(it -> it.isDone()).count() < 3) {
                Thread.onSpinWait();
            }
            for (var one : waiting) {
                if (one.isDone()) {
                    assertThat(one.get()).isFalse();
                }
            }
            turns.end("ada");
            turns.end("ada");
            int served = 0;
            for (var one : waiting) {
                served += one.get() ? 1 : 0;
            }
            assertThat(served).isEqualTo(2);
        }
    }

    @Test
    void whoLosesPatienceLeavesNothingBehind() {
        var impatient = new Turns(1, 1, 1, Duration.ZERO);
        assertThat(impatient.begin("ada")).isTrue();
        for (int i = 0; i < 10; i++) {
            assertThat(impatient.begin("nina")).isFalse();
        }
        impatient.end("ada");

        assertThat(impatient.begin("nina")).isTrue();
        impatient.end("nina");
        assertThat(impatient.begin("ada")).isTrue();
    }
}
