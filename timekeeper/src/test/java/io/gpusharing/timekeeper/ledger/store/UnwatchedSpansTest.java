package io.gpusharing.timekeeper.ledger.store;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.ledger.Unwatched;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class UnwatchedSpansTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Instant ELEVEN = TEN.plus(Duration.ofHours(1));
    private static final Instant NOON = TEN.plus(Duration.ofHours(2));

    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "1000", "team-a"));

    /** The API server reports something, and so that it had nothing else to report until now. */
    private void report() {
        ledger.onUpdate(Pods.waiting("team-a", 50, 15).boundAt(ledger.clock.instant()));
    }

    private List<Unwatched> within(Instant from, Instant to) {
        return new UnwatchedSpans(ledger.database.rows()).within(from, to);
    }

    private List<Unwatched> all() {
        return within(Instant.EPOCH, Instant.MAX);
    }

    @Test
    void beforeTheFirstListNothingWasUnwatched() {
        ledger.pass(Duration.ofHours(1));
        report();

        assertThat(all()).isEmpty();
    }

    @Test
    void whatTheApiServerHasForgottenIsUnwatchedSinceItsLastReport() {
        ledger.pass(Duration.ofHours(1));
        report();
        ledger.pass(Duration.ofHours(1));

        ledger.listedAnew();

        assertThat(all()).containsExactly(new Unwatched(ELEVEN, NOON));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void whereTheApiServerGoesOnNothingWasUnwatched() {
        report();
        ledger.pass(Duration.ofHours(1));

        ledger.wake();
        ledger.listed();
        report();
        ledger.pass(Duration.ofHours(1));
        ledger.listedAnew();

        assertThat(all()).containsExactly(new Unwatched(ELEVEN, NOON));
    }

    /** The list looks as if it resumed, and the watch is opened; only then it is known. */
    @Test
    void aKillBeforeTheApiServerSaysThatItHasForgottenHidesNothing() {
        report();
        ledger.pass(Duration.ofHours(1));
        ledger.wake();
        ledger.listed();
        ledger.pass(Duration.ofHours(1));

        ledger.restart();

        assertThat(all()).containsExactly(new Unwatched(TEN, NOON));
    }

    @Test
    void theShortestSpanIsKeptAsWell() {
        report();

        ledger.restart();
        ledger.restart();

        assertThat(all()).containsExactly(new Unwatched(TEN, TEN));
        ledger.pass(Duration.ofHours(1));
        ledger.restart();
        assertThat(all()).containsExactly(new Unwatched(TEN, ELEVEN));
    }

    @Test
    void spansAreFoundByAnySecondOfThem() {
        ledger.pass(Duration.ofHours(1));
        report();
        ledger.pass(Duration.ofHours(1));
        ledger.listedAnew();

        assertThat(within(TEN, ELEVEN)).isEmpty();
        assertThat(within(TEN, ELEVEN.plusSeconds(1))).hasSize(1);
        assertThat(within(NOON, NOON.plusSeconds(1))).hasSize(1);
        assertThat(within(NOON.plusSeconds(1), Instant.MAX)).isEmpty();
    }

    @Test
    void aClockThatWasAheadLeavesASpanWithoutLength() {
        assertThat(new Unwatched(NOON, TEN)).isEqualTo(new Unwatched(TEN, TEN));
    }
}
