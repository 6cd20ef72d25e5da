package io.gpusharing.timekeeper.budget.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class WritePaceTest {

    private static final Instant NOON = Instant.parse("2026-03-27T12:00:00Z");

    private final WritePace pace = new WritePace(2, Duration.ofSeconds(3));

    @Test
    void soManyAreWrittenInASecondHoweverOftenTheyAreAsked() {
        pace.beginRound(NOON);
        assertThat(turns(1)).containsExactly(true);
        pace.beginRound(NOON.plusMillis(300));
        assertThat(turns(3)).containsExactly(true, false, false);

        pace.beginRound(NOON.plusMillis(1_100));
        assertThat(turns(3)).containsExactly(true, true, false);
    }

    @Test
    void whoWaitsIsLookedAtWhenItsTurnComesAndNoLaterThanItMayWait() {
        pace.beginRound(NOON.plusMillis(700));

        assertThat(Stream.generate(pace::nextTurn).limit(7))
                .as("two in each second, and the rest after three")
                .containsExactlyElementsOf(
                        IntStream.of(1, 1, 2, 2, 3, 3, 3).mapToObj(NOON::plusSeconds).toList());
        pace.beginRound(NOON.plusMillis(800));
        assertThat(pace.nextTurn()).isEqualTo(NOON.plusSeconds(1));
    }

    private Stream<Boolean> turns(int asked) {
        return Stream.generate(pace::takesTurn).limit(asked);
    }
}
