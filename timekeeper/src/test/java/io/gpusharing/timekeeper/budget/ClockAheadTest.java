package io.gpusharing.timekeeper.budget;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A leader whose clock was ahead for a while. One whole GPU is held from ten o'clock on. */
class ClockAheadTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Instant ELEVEN = TEN.plus(Duration.ofHours(1));

    private final TestLedger ledger =
            new TestLedger(
                    TEN, TestBudgets.budget("a", TEN, "100", Unit.Day, "UTC", "0", 25, "team-a"));
    private final Pods pod = Pods.waiting("team-a", 100, 0).boundAt(TEN);

    /** From ten o'clock on the clock runs ahead by so much, until it is set right at eleven. */
    private void isAheadBy(Duration time, boolean anotherLeads) {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofHours(1).plus(time));
        ledger.clock.set(ELEVEN);
        if (anotherLeads) {
            ledger.restart();
        } else {
            ledger.pass(Duration.ZERO);
        }
    }

    private static GpuTime minutes(String minutes) {
        return GpuTime.ofMinutes(minutes);
    }

    @ParameterizedTest(name = "another leads then: {0}")
    @ValueSource(booleans = {true, false})
    void nothingIsShownAsOfTheFutureOnceTheClockIsRight(boolean anotherLeads) {
        isAheadBy(Duration.ofHours(3), anotherLeads);

        BudgetState state = ledger.budget("a");
        assertThat(state.asOf()).isEqualTo(ELEVEN);
        assertThat(state.used(ELEVEN)).isEqualTo(minutes("60"));
        assertThat(state.standing(ELEVEN).word()).isEqualTo("InBudget");
        assertThat(state.exhaustedAt()).isEqualTo(ELEVEN.plus(Duration.ofMinutes(40)));
        assertThat(ledger.differences()).isEmpty();
    }

    @ParameterizedTest(name = "another leads then: {0}")
    @ValueSource(booleans = {true, false})
    void aPeriodThatWasOpenedTooEarlyHasItsTurnWhenItBegins(boolean anotherLeads) {
        isAheadBy(Duration.ofHours(15), anotherLeads);
        assertThat(ledger.budget("a").asOf()).isEqualTo(ELEVEN);
        assertThat(ledger.used("a")).isEqualTo(minutes("60"));

        ledger.pass(Duration.ofHours(14));

        BudgetState state = ledger.budget("a");
        assertThat(state.period().start()).isEqualTo(Instant.parse("2026-03-03T00:00:00Z"));
        assertThat(ledger.used("a")).isEqualTo(minutes("60"));
        assertThat(ledger.charged(pod)).isEqualTo(minutes("900"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aGrantThatAClockHasEndedTooEarlyCountsUntilItEnds() {
        Instant noon = TEN.plus(Duration.ofHours(2));
        ledger.grants(new TestBudgets.Given("g", "a", "300", TEN, noon));
        isAheadBy(Duration.ofHours(3), false);

        assertThat(ledger.budget("a").remaining(ELEVEN)).contains(minutes("340"));
    }
}
