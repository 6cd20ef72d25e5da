package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.budget;
import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.timekeeper.audit.Verification.Difference;
import io.gpusharing.timekeeper.budget.TestBudgets.Given;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * What verification finds in periods that were closed. In a sound ledger, budget a uses all of its
 * hundred minutes and half of a grant on Friday, and fifty on Saturday; budget b overruns its
 * hundred by as many on Friday, and rests.
 */
class ClosedPeriodsTest {

    private static final Instant FRIDAY = Instant.parse("2026-03-27T00:00:00Z");
    private static final Instant TEN = FRIDAY.plus(Duration.ofHours(10));
    private static final Duration DAY = Duration.ofDays(1);

    private @Nullable TestLedger kept;

    private static Written daily(String name, String minutes, int generation) {
        return budget(name, FRIDAY, minutes, Unit.Day, "UTC", "30", 25, "team-" + name)
                .ofGeneration(generation);
    }

    private TestLedger ledger() {
        if (kept == null) {
            kept = new TestLedger(FRIDAY, daily("a", "100", 1), daily("b", "100", 1));
        }
        return kept;
    }

    private static Given grant(String name, Instant from, Instant expires) {
        return new Given(name, "a", "60", from, expires);
    }

    private void used(String namespace, Instant from, long minutes) {
        ledger().clock.set(from);
        Pods pod = Pods.waiting(namespace, 100, 0).boundAt(from);
        ledger().onUpdate(pod);
        ledger().pass(Duration.ofMinutes(minutes));
        ledger().onUpdate(pod.finishedAt(from.plus(Duration.ofMinutes(minutes))));
    }

    private void until(Instant instant) {
        ledger().clock.set(instant);
        ledger().pass(Duration.ZERO);
    }

    /** Three days, posted once for all tests that roll their changes back. */
    private static final class Sound {

        private static final ClosedPeriodsTest LEDGER = new ClosedPeriodsTest();

        static {
            LEDGER.threeDays();
        }
    }

    private void threeDays() {
        until(TEN);
        ledger().grants(grant("more", TEN, FRIDAY.plus(DAY.multipliedBy(5))));
        used("team-a", TEN, 130);
        used("team-b", TEN.plusSeconds(10_000), 200);
        until(FRIDAY.plus(DAY).plusSeconds(7_200));
        used("team-a", TEN.plus(DAY), 50);
        until(FRIDAY.plus(DAY.multipliedBy(2)).plusSeconds(7_200));
    }

    private List<Difference> after(String change) {
        return new TransactionTemplate(ledger().database.transactions())
                .execute(status -> {
                    ledger().database.jdbc().sql(change).update();
                    List<Difference> found = ledger().differences();
                    status.setRollbackOnly();
                    return found;
                });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            textBlock =
                    """
                    update budget_period set rolled_over = 0 where budget = 'a' and rolled_over > 0        | a 2026-03-29T00:00:00Z rolled_over
                    update budget_period set rolled_over = 7 where budget = 'a' and period_start < '2026-03-28' | a 2026-03-27T00:00:00Z rolled_over
                    update budget_period set debt = debt - 1 where budget = 'b' and debt > 0               | b 2026-03-28T00:00:00Z debt
                    update budget_period set debt = 1 where budget = 'b' and period_start < '2026-03-28'   | b 2026-03-27T00:00:00Z debt
                    update budget_period set written_off = written_off + 1 where written_off > 0           | b 2026-03-28T00:00:00Z written_off
                    update budget_period set period_end = '2026-03-29T12:00Z' where period_start >= '2026-03-29' and budget = 'a' | a 2026-03-29T00:00:00Z period_end
                    update budget_period set period_end = '2026-03-27T23:00Z' where period_start < '2026-03-28' and budget = 'a' | a 2026-03-27T00:00:00Z period_end
                    update budget_period set counted_from = '2026-03-28T01:00Z' where budget = 'a' and period_start = '2026-03-28T00:00Z' | a 2026-03-28T00:00:00Z counted_from
                    update budget_period set period_start = '2026-03-28T01:00Z' where budget = 'b' and period_start = '2026-03-28T00:00Z' | b 2026-03-28T01:00:00Z period_start
                    delete from budget_period where budget = 'b' and period_start = '2026-03-28T00:00Z'    | b 2026-03-29T00:00:00Z period_start
                    update grant_carried set remaining = remaining + 1 where period_start < '2026-03-29'   | a 2026-03-28T00:00:00Z grant_carried uid-more
                    update grant_carried set remaining = remaining + 1 where period_start >= '2026-03-29'  | a 2026-03-29T00:00:00Z grant_carried uid-more
                    delete from grant_carried where period_start >= '2026-03-29'                           | a 2026-03-29T00:00:00Z grant_carried uid-more
                    update budget_grant set amount = amount - 1                                            | a 2026-03-28T00:00:00Z grant_carried uid-more
                    update budget_terms set allowance = allowance + 60000000 where budget = 'b'            | b 2026-03-28T00:00:00Z debt
                    """)
    void everyNumberOfAPeriodThatIsChangedLostOrInventedIsNamed(String change, String where) {
        assertThat(Sound.LEDGER.ledger().differences()).isEmpty();

        assertThat(Sound.LEDGER.after(change))
                .extracting(Difference::kind, Difference::where)
                .contains(tuple("period", where));
    }

    @Test
    void aDifferenceShowsTheStoredAndTheRecomputedValue() {
        assertThat(
                        Sound.LEDGER.after(
                                "update budget_period set written_off = 1 where written_off > 0"))
                .containsExactly(
                        new Difference(
                                "period",
                                "b 2026-03-28T00:00:00Z written_off",
                                "1",
                                Long.toString(75L * 60 * 1_000_000)));
    }

    @Test
    void anEntryThatIsTakenOutWithItsHourIsMissedByThePeriodItPaidFor() {
        assertThat(
                        Sound.LEDGER.after(
                                """
                                delete from usage_hour where budget = 'b';
                                delete from charge where budget = 'b'
                                """))
                .extracting(Difference::kind)
                .contains("allocation", "period");
    }

    @Test
    void lateUsageCountsInThePeriodThatWasOpenThen() {
        until(TEN);
        Pods pod = Pods.waiting("team-a", 100, 0).boundAt(TEN);
        ledger().onUpdate(pod);
        until(FRIDAY.plus(DAY).plusSeconds(7_200));
        ledger().onUpdate(pod.finishedAt(TEN.plusSeconds(600)));
        until(FRIDAY.plus(DAY.multipliedBy(3)));

        assertThat(ledger().differences()).isEmpty();
    }

    @Test
    void termsThatWereSeenAfterTheClosingDoNotCount() {
        threeDays();
        ledger().exist(daily("a", "7", 2), daily("b", "500", 2));
        ledger().pass(Duration.ofHours(1));

        assertThat(ledger().differences()).isEmpty();
        // By the new terms nothing would be owed.
        assertThat(
                        after(
                                "update budget_period set debt = 0, written_off = 0, rolled_over = 1800000000 where debt > 0"))
                .extracting(Difference::where)
                .contains("b 2026-03-28T00:00:00Z debt", "b 2026-03-28T00:00:00Z written_off");
    }

    @Test
    void aGrantThatIsTakenBackAfterTheClosingWasThereBefore() {
        until(TEN);
        Given sooner = grant("sooner", TEN, FRIDAY.plus(DAY.multipliedBy(4)));
        Given later = grant("later", TEN, FRIDAY.plus(DAY.multipliedBy(9)));
        ledger().grants(sooner, later);
        used("team-a", TEN, 130);
        until(FRIDAY.plus(DAY).plusSeconds(7_200));
        assertThat(ledger().differences()).isEmpty();

        // Now it would have been used before the other.
        ledger().grants(sooner);
        ledger().pass(Duration.ofHours(1));

        assertThat(ledger().differences()).isEmpty();
    }

    @Test
    void aGrantThatWasSeenAfterTheClosingWasNotThereBefore() {
        used("team-a", TEN, 130);
        until(FRIDAY.plus(DAY).plusSeconds(7_200));

        ledger().grants(grant("unseen", TEN, FRIDAY.plus(DAY.multipliedBy(4))));
        ledger().pass(DAY);

        assertThat(ledger().differences()).isEmpty();
    }

    @Test
    void aBudgetThatIsRecreatedAfterDaysClosesItsPeriodsByItsOldTerms() {
        used("team-a", TEN, 30);
        ledger().exist(daily("b", "100", 1));
        until(FRIDAY.plus(DAY.multipliedBy(3)));

        ledger().exist(
                        daily("b", "100", 1),
                        budget(
                                        "a",
                                        ledger().clock.instant(),
                                        "9",
                                        Unit.Week,
                                        "UTC",
                                        "0",
                                        0,
                                        "team-a")
                                .ofGeneration(2));
        ledger().pass(Duration.ofHours(3));

        assertThat(ledger().differences()).isEmpty();
        assertThat(ledger().budget("a").period().end()).isEqualTo(FRIDAY.plus(DAY.multipliedBy(4)));
    }

    @Test
    void termsThatChangedTwiceWithoutALeaderCloseTheirOwnPeriods() {
        used("team-b", TEN, 300);
        TestLedger other = ledger().twin();
        until(FRIDAY.plus(DAY.minusHours(1)));
        ledger().clock.set(FRIDAY.plus(DAY).plus(Duration.ofHours(5)));
        other.sees(daily("a", "100", 1), daily("b", "200", 2));
        ledger().clock.set(FRIDAY.plus(DAY.multipliedBy(2)).plus(Duration.ofHours(5)));

        ledger().writtenMeanwhile(daily("a", "100", 1), daily("b", "100", 3));
        ledger().restart();
        ledger().pass(Duration.ofHours(2));

        assertThat(ledger().differences()).isEmpty();
        // By 200 minutes, what is left of Saturday's allowance after its debt is rolled over.
        assertThat(
                        ledger().database
                                .jdbc()
                                .sql(
                                        "select debt, rolled_over from budget_period where budget = 'b' order by period_start")
                                .query((row, number) -> row.getLong(1) + " " + row.getLong(2))
                                .list())
                .containsExactly("0 0", "1500000000 0", "0 1800000000");
    }

    @Test
    void anUnlimitedBudgetWhosePeriodRuleChangedInAnOutageIsNoDifference() {
        Written unlimited = monthly("c", FRIDAY, null, "team-c");
        ledger().exist(unlimited);
        ledger().pass(Duration.ofHours(1));

        ledger().clock.set(Instant.parse("2026-04-01T05:00:00Z"));
        ledger().writtenMeanwhile(unlimited.every(Unit.Day, "Asia/Tokyo", "2026-01-01T00:00:00"));
        ledger().restart();
        until(Instant.parse("2026-05-02T00:00:00Z"));

        assertThat(ledger().differences()).isEmpty();
    }

    @Test
    void whatRetentionDroppedCannotBeRecomputedAndIsNoDifference() {
        used("team-a", TEN.plusSeconds(1), 130);
        until(Instant.parse("2026-05-31T00:00:00Z"));
        ledger().database
                .jdbc()
                .sql(
                        """
                        delete from charge where charged_from < '2026-04-01T00:00Z';
                        insert into charge_kept (since) values ('2026-04-01T00:00Z')
                        """)
                .update();

        assertThat(ledger().differences()).isEmpty();
    }
}
