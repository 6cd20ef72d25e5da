package io.gpusharing.timekeeper.budget;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A leader whose clock was ahead for a while. One whole GPU is held from ten o'clock on, on a day
 * that the database's clock has still to come to.
 */
class ClockAheadTest {

    private static final Instant TEN = Instant.parse("2126-03-02T10:00:00Z");
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
        assertThat(state.period().start()).isEqualTo(Instant.parse("2126-03-03T00:00:00Z"));
        assertThat(ledger.used("a")).isEqualTo(minutes("60"));
        assertThat(ledger.charged(pod)).isEqualTo(minutes("900"));
        assertThat(ledger.differences()).isEmpty();
    }

    /** All that it used before midnight was late usage of the next day, too. */
    @ParameterizedTest(name = "another leads then: {0}")
    @ValueSource(booleans = {true, false})
    void whatIsPostedUntilAPeriodReallyBeginsCountsOnceThatWasOpenedTooEarly(boolean anotherLeads) {
        isAheadBy(Duration.ofHours(15), anotherLeads);
        Pods later = Pods.waiting("team-a", 100, 0).boundAt(ELEVEN);
        ledger.onUpdate(later);
        ledger.pass(Duration.ofHours(2));
        ledger.removed(later.finishedAt(ELEVEN.plus(Duration.ofHours(2))));
        assertThat(ledger.used("a")).isEqualTo(minutes("300"));

        ledger.pass(Duration.ofHours(13));

        assertThat(ledger.used("a")).isEqualTo(minutes("120"));
        // It overran its allowance of 100, and owes the most that it can: a quarter of that.
        assertThat(ledger.budget("a").granted(ledger.clock.instant())).contains(minutes("75"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void whatWasAnnouncedOfAPeriodThatWasOpenedTooEarlyIsTakenBackWithIt() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofHours(16));
        ledger.database
                .jdbc()
                .sql(
                        """
                        insert into budget_notification (cluster, budget, period_start, kind, granted, due_at, message)
                        select id, 'a', unnest('{2126-03-02T00:00:00Z,2126-03-03T00:00:00Z}'::timestamptz[]),
                            'BudgetExhausted', 1, now(), ''
                        from cluster
                        """)
                .update();

        ledger.clock.set(ELEVEN);
        ledger.pass(Duration.ZERO);

        assertThat(periodsOf("budget_period")).containsExactly(2);
        assertThat(periodsOf("budget_notification")).containsExactly(2);
    }

    /** The days of March whose periods a table has rows of. */
    private List<Integer> periodsOf(String table) {
        return ledger.database
                .jdbc()
                .sql("select extract(day from period_start at time zone 'UTC') from " + table)
                .query((row, number) -> row.getInt(1))
                .list();
    }

    @Test
    void aGrantThatAClockHasEndedTooEarlyCountsUntilItEnds() {
        Instant noon = TEN.plus(Duration.ofHours(2));
        ledger.grants(new TestBudgets.Given("g", "a", "300", TEN, noon));
        isAheadBy(Duration.ofHours(3), false);

        assertThat(ledger.budget("a").remaining(ELEVEN)).contains(minutes("340"));
    }
}
