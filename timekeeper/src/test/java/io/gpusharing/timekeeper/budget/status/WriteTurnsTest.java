package io.gpusharing.timekeeper.budget.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WriteTurnsTest {

    private static final Instant NOON = Instant.parse("2026-03-02T12:00:00Z");

    private final WriteTurns turns = new WriteTurns();

    private void tried(String name, int at) {
        turns.tried(name, NOON.plusSeconds(at), NOON.plusSeconds(at), true);
    }

    /** Finding: after a restart a budget that was used up was published 64 seconds late. */
    @Test
    void whoCannotWaitComesBeforeWhoeverWasNeverWritten() {
        tried("used-up", 5);

        assertThat(turns.inOrder(List.of("a", "b", "used-up"), name -> !name.equals("used-up")))
                .containsExactly("used-up", "a", "b");
    }

    @Test
    void ofThoseWhoCanWaitEachHasItsTurn() {
        tried("a", 3);
        tried("b", 1);
        tried("c", 2);

        assertThat(turns.inOrder(List.of("a", "b", "c", "fresh"), _ -> true))
                .containsExactly("fresh", "b", "c", "a");
    }

    @ParameterizedTest
    @CsvSource({
        "PT0.04S, true,  PT0S",
        "PT1S,    false, PT0S",
        "PT2S,    true,  PT40S",
        "PT20S,   true,  PT5M",
        "PT5S,    false, PT10S",
        "PT20S,   false, PT30S"
    })
    void aLongWriteIsFollowedByARestThatIsShortAfterAnOutage(
            Duration took, boolean written, Duration rest) {
        Instant ended = NOON.plus(took);

        turns.tried("large", NOON, ended, written);

        assertThat(turns.restsUntil("large"))
                .isEqualTo(rest.isZero() ? Instant.MIN : ended.plus(rest));
    }

    @Test
    void aQuickWriteEndsTheRest() {
        turns.tried("large", NOON, NOON.plusSeconds(9), true);
        tried("large", 400);

        assertThat(turns.restsUntil("large")).isEqualTo(Instant.MIN);
    }

    @Test
    void whoHasGoneIsForgottenAndANewLeaderRemembersNobody() {
        turns.tried("large", NOON, NOON.plusSeconds(9), true);
        turns.tried("other", NOON, NOON.plusSeconds(9), true);

        turns.forget("large");
        assertThat(turns.restsUntil("large")).isEqualTo(Instant.MIN);
        assertThat(turns.restsUntil("other")).isAfter(NOON);

        turns.clear();
        assertThat(turns.restsUntil("other")).isEqualTo(Instant.MIN);
    }
}
