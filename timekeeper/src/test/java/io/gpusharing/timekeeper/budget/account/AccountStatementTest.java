package io.gpusharing.timekeeper.budget.account;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import io.gpusharing.budget.PeriodRule;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.budget.Terms;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.timekeeper.budget.account.AccountStatement.BalanceChange;
import io.gpusharing.timekeeper.budget.account.AccountStatement.Kind;
import io.gpusharing.timekeeper.budget.account.AccountStatement.StatementPeriod;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** A hundred minutes a day, of which two hundred are used from six o'clock on. */
class AccountStatementTest {

    private static final Instant MONDAY = Instant.parse("2026-03-02T00:00:00Z");
    private static final Instant TUESDAY = MONDAY.plus(Duration.ofDays(1));
    private static final Instant WEDNESDAY = MONDAY.plus(Duration.ofDays(2));
    private static final Terms TERMS =
            new Terms(
                    new PeriodRule(
                            Unit.Day, ZoneOffset.UTC, LocalDateTime.parse("2026-01-01T00:00:00")),
                    minutes(100),
                    minutes(30),
                    25);
    private static final StatementPeriod FIRST = statementPeriod(MONDAY, 0, 0);

    /** As it was written down when Monday was closed. */
    private static final StatementPeriod SECOND = statementPeriod(TUESDAY, 25, 75);

    private static final Grant GRANT =
            new Grant(
                    "u",
                    "more",
                    "a",
                    minutes(50),
                    "paper deadline",
                    null,
                    TUESDAY.plus(Duration.ofHours(4)),
                    TUESDAY.plus(Duration.ofHours(5)));

    private static GpuTime minutes(long minutes) {
        return new GpuTime(minutes * 60_000_000);
    }

    private static StatementPeriod statementPeriod(Instant start, long debt, long writtenOff) {
        return new StatementPeriod(
                new CarryOver(
                        new Period(start, start.plus(Duration.ofDays(1))),
                        start,
                        GpuTime.ZERO,
                        minutes(debt),
                        minutes(writtenOff),
                        Map.of(),
                        Instant.MAX),
                TERMS,
                GpuTime.ZERO);
    }

    private static GpuTime used(Instant from, Instant to) {
        GpuTime used = GpuTime.ZERO;
        for (Instant day : List.of(MONDAY, TUESDAY, WEDNESDAY)) {
            Instant begin = day.plus(Duration.ofHours(6));
            Instant end = begin.plus(Duration.ofMinutes(200));
            Instant first = begin.isBefore(from) ? from : begin;
            Instant last = end.isAfter(to) ? to : end;
            if (first.isBefore(last)) {
                used = used.plus(GpuTime.accrued(1_000_000, first, last));
            }
        }
        return used;
    }

    private static AccountStatement statement(
            List<StatementPeriod> statementPeriods, Instant from, Instant to) {
        return AccountStatement.walk(
                statementPeriods, false, List.of(GRANT), AccountStatementTest::used, from, to);
    }

    @Test
    void anOverrunAboveTheCapIsWrittenOffBeforeAndAfterThePeriodCloses() {
        Instant noon = MONDAY.plus(Duration.ofHours(12));
        Instant late = TUESDAY.plus(Duration.ofHours(3));

        AccountStatement stored = statement(List.of(FIRST, SECOND), noon, late);

        assertThat(stored).isEqualTo(statement(List.of(FIRST), noon, late));
        assertThat(stored.opening()).isEqualTo(minutes(-100));
        assertThat(stored.changes())
                .extracting(BalanceChange::at, BalanceChange::kind, it -> new GpuTime(it.amount()))
                .containsExactly(
                        tuple(TUESDAY, Kind.WrittenOff, minutes(75)),
                        tuple(TUESDAY, Kind.Allowance, minutes(100)));
        assertThat(stored.closing()).isEqualTo(minutes(75)).isEqualTo(stored.balance());
    }

    @Test
    void aCreditThatBeginsAtTheBeginningCountsAndOneAtTheEndDoesNot() {
        AccountStatement day = statement(List.of(FIRST, SECOND), TUESDAY, WEDNESDAY);

        assertThat(day.opening()).isEqualTo(minutes(-100));
        assertThat(day.changes())
                .extracting(BalanceChange::kind)
                .containsExactly(Kind.WrittenOff, Kind.Allowance, Kind.Grant, Kind.Expired);
        assertThat(day.closing()).isEqualTo(minutes(-125));
        assertThat(day.balance()).as("with Wednesday's allowance").isEqualTo(minutes(75));
    }

    @ParameterizedTest
    @RandomSeeds(100)
    void everySpanAddsUpAndContinuesTheLastOne(long seed) {
        Random random = new Random(seed);
        Instant from = MONDAY.plus(Duration.ofMinutes(30L * (1 + random.nextInt(60))));
        Instant to = from.plus(Duration.ofMinutes(30L * (1 + random.nextInt(40))));
        List<StatementPeriod> statementPeriods =
                random.nextBoolean() ? List.of(FIRST) : List.of(FIRST, SECOND);

        AccountStatement statement = statement(statementPeriods, from, to);

        GpuTime changes =
                new GpuTime(statement.changes().stream().mapToLong(BalanceChange::amount).sum());
        assertThat(statement.opening().plus(changes).minus(used(from, to)))
                .isEqualTo(statement.closing());
        assertThat(statement(statementPeriods, to, to.plusSeconds(1)).opening())
                .isEqualTo(statement.closing());
    }
}
