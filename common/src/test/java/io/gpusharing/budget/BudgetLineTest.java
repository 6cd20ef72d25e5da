package io.gpusharing.budget;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.testing.RandomSeeds;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

class BudgetLineTest {

    private static final Instant NOON = Instant.parse("2026-03-10T12:00:00Z");
    private static final Instant MIDNIGHT = Instant.parse("2026-03-11T00:00:00Z");
    private static final long HALF_A_GPU = 500_000;

    @Test
    void usesShareTimesTimeAndEndsAtThePredictedSecond() {
        BudgetLine line = line(HALF_A_GPU, terms("0.25"), allowance("0.25"));

        Instant end = NOON.plusSeconds(30);

        assertThat(line.exhaustedAt()).isEqualTo(end);
        assertThat(line.standingAt(NOON)).isEqualTo(new InBudget(minutes("0.25"), end));
        assertThat(line.standingAt(end.minusMillis(1))).isInstanceOf(InBudget.class);
        assertThat(line.standingAt(end)).isEqualTo(new OverBudget(GpuTime.ZERO));
        assertThat(line.standingAt(end.plusSeconds(10)))
                .isEqualTo(new OverBudget(new GpuTime(5_000_000)));
    }

    @Test
    void roundsTheEndUpToTheMicrosecondWhereTheRateDoesNotDivideIt() {
        BudgetLine line =
                line(3, terms("1"), credit(Credit.ALLOWANCE, new GpuTime(10), NOON, MIDNIGHT));

        Instant end = NOON.plusSeconds(3).plus(333_334, ChronoUnit.MICROS);

        assertThat(line.exhaustedAt()).isEqualTo(end);
        assertThat(line.standingAt(end)).isInstanceOf(OverBudget.class);
        assertThat(line.standingAt(end.minus(1, ChronoUnit.MICROS))).isInstanceOf(InBudget.class);
    }

    @Test
    void neverEndsWhereNothingIsHeld() {
        assertThat(line(0, terms("1"), allowance("1")).exhaustedAt()).isNull();
    }

    @Test
    void doesNotEndInThisPeriodWhereThePeriodEndsFirst() {
        BudgetLine line = line(HALF_A_GPU, terms("360"), allowance("361"));

        assertThat(line.exhaustedAt()).isNull();
        assertThat(line.standingAt(MIDNIGHT)).isInstanceOf(InBudget.class);
    }

    @Test
    void aBudgetOfNothingIsOverFromTheStart() {
        assertThat(BudgetLine.unused(NOON, terms("0")).standingAt(NOON))
                .isEqualTo(new OverBudget(GpuTime.ZERO));
    }

    @Test
    void theNextPeriodBringsItsAllowanceAndPaysTheCappedDebt() {
        BudgetLine line = line(1_000_000, terms("100"), allowance("10"));

        // 12 h of a whole GPU are 720 minutes: 710 over, of which 25 % of 100 are carried.
        assertThat(line.at(MIDNIGHT).remaining()).isEqualTo(minutes("75"));
        assertThat(line.at(MIDNIGHT).periodEnd()).isEqualTo(MIDNIGHT.plus(Duration.ofDays(1)));
        assertThat(line.standingAt(MIDNIGHT.minusSeconds(1))).isInstanceOf(OverBudget.class);
        assertThat(line.standingAt(MIDNIGHT.plus(Duration.ofMinutes(75))))
                .isEqualTo(new OverBudget(GpuTime.ZERO));
    }

    @Test
    void whatIsUnusedRollsOverUpToTheMaximumForOnePeriod() {
        Terms terms = new Terms(daily(), minutes("100"), minutes("30"), 25);
        BudgetLine line = line(0, terms, allowance("80"));

        BudgetLine next = line.at(MIDNIGHT);
        BudgetLine afterNext = line.at(MIDNIGHT.plus(Duration.ofDays(1)));

        assertThat(next.remaining()).isEqualTo(minutes("130"));
        assertThat(afterNext.remaining()).isEqualTo(minutes("130"));
        assertThat(afterNext.credits())
                .extracting(Credit::source)
                .containsOnlyOnce(Credit.ROLLOVER);
    }

    @Test
    void whatIsLeftOfAGrantThatEndsWithThePeriodDoesNotRollOver() {
        Terms terms = new Terms(daily(), minutes("100"), minutes("300"), 25);
        BudgetLine line =
                line(0, terms, allowance("80"), credit("paper", minutes("50"), NOON, MIDNIGHT));

        assertThat(line.at(MIDNIGHT).remaining()).isEqualTo(minutes("180"));
    }

    @Test
    void aCreditIsAvailableFromItsBeginUntilJustBeforeItsEnd() {
        BudgetLine line =
                line(
                        0,
                        terms("0"),
                        credit("over", new GpuTime(1), NOON.minusSeconds(9), NOON),
                        credit("present", new GpuTime(20), NOON, NOON.plusNanos(1_000)),
                        credit("to come", new GpuTime(300), NOON.plusNanos(1_000), MIDNIGHT));

        assertThat(line.remaining()).isEqualTo(new GpuTime(20));
    }

    @Test
    void stepsInBetweenRoundNothing() {
        Instant half = NOON.plusMillis(500);
        BudgetLine line =
                new BudgetLine(
                        half,
                        1,
                        List.of(
                                credit(Credit.ALLOWANCE, new GpuTime(10), NOON, MIDNIGHT),
                                credit("paper", new GpuTime(10), NOON.plusSeconds(1), MIDNIGHT)),
                        GpuTime.ZERO,
                        terms("1"),
                        MIDNIGHT);

        assertThat(line.at(half.plusSeconds(1)).remaining()).isEqualTo(new GpuTime(19));
    }

    @Test
    void aGrantBeginsPaysAnOverrunAndExpires() {
        Instant begins = NOON.plusSeconds(60);
        Instant expires = NOON.plusSeconds(120);
        BudgetLine line =
                line(
                        1_000_000,
                        terms("1000"),
                        credit(Credit.ALLOWANCE, new GpuTime(30_000_000), NOON, MIDNIGHT),
                        credit("paper", new GpuTime(50_000_000), begins, expires));

        assertThat(line.exhaustedAt()).isEqualTo(NOON.plusSeconds(30));
        assertThat(line.at(begins).remaining()).isEqualTo(new GpuTime(20_000_000));
        assertThat(line.standingAt(NOON.plusSeconds(79))).isInstanceOf(InBudget.class);
        assertThat(line.standingAt(NOON.plusSeconds(80))).isInstanceOf(OverBudget.class);
    }

    @Test
    void theCreditThatExpiresFirstIsUsedFirstAndItsRestIsLost() {
        Instant expires = NOON.plusSeconds(10);
        BudgetLine line =
                line(
                        1_000_000,
                        terms("1000"),
                        credit(Credit.ALLOWANCE, new GpuTime(100_000_000), NOON, MIDNIGHT),
                        credit("short", new GpuTime(15_000_000), NOON, expires));

        assertThat(line.remaining()).isEqualTo(new GpuTime(115_000_000));
        assertThat(line.at(expires).remaining()).isEqualTo(new GpuTime(100_000_000));
        assertThat(line.exhaustedAt()).isEqualTo(NOON.plusSeconds(110));
    }

    @Test
    void aGrantThatOutlivesThePeriodIsKept() {
        BudgetLine line =
                line(0, terms("10"), allowance("10"), credit("gift", minutes("5"), NOON, null));

        assertThat(line.at(MIDNIGHT).remaining()).isEqualTo(minutes("15"));
    }

    @Test
    void predictsWhenAThresholdIsReached() {
        BudgetLine line = line(HALF_A_GPU, terms("1"), allowance("1"));

        assertThat(line.whenRemaining(minutes("0.2"))).isEqualTo(NOON.plusSeconds(96));
        assertThat(line.whenRemaining(minutes("2"))).isEqualTo(NOON);
    }

    @Test
    void beforeItsOwnInstantALineAnswersAsOfThatInstant() {
        BudgetLine line = line(HALF_A_GPU, terms("1"), allowance("1"));

        assertThat(line.standingAt(NOON.minusSeconds(1))).isEqualTo(line.standingAt(NOON));
    }

    @ParameterizedTest
    @RandomSeeds(300)
    void advancingInStepsEqualsAdvancingAtOnce(long seed) {
        Random random = new Random(seed);
        BudgetLine line = anyLine(random);
        Instant there = NOON.plus(random.nextInt(60 * 24 * 5), ChronoUnit.MINUTES);
        // Whole seconds, so that nothing is rounded on the way.
        Instant between =
                NOON.plusSeconds(random.nextLong(Duration.between(NOON, there).toSeconds() + 1));

        BudgetLine inSteps = line.at(between).at(there);

        assertThat(inSteps.remaining()).isEqualTo(line.at(there).remaining());
        assertThat(inSteps.credits()).isEqualTo(line.at(there).credits());
    }

    @ParameterizedTest
    @RandomSeeds(300)
    void thePredictedExhaustionIsTheFirstInstantOverBudget(long seed) {
        BudgetLine line = anyLine(new Random(seed));

        Instant end = line.exhaustedAt();

        if (end == null) {
            assertThat(line.standingAt(MIDNIGHT.minusNanos(1_000))).isInstanceOf(InBudget.class);
        } else {
            assertThat(line.standingAt(end)).isInstanceOf(OverBudget.class);
            if (end.isAfter(NOON)) {
                assertThat(line.standingAt(end.minus(1, ChronoUnit.MICROS)))
                        .isInstanceOf(InBudget.class);
            }
        }
    }

    @ParameterizedTest
    @RandomSeeds(200)
    void anOverrunMeansThatNoActiveCreditHasAnythingLeft(long seed) {
        Random random = new Random(seed);
        BudgetLine line =
                anyLine(random).at(NOON.plus(random.nextInt(60 * 24 * 5), ChronoUnit.MINUTES));

        if (line.overrun().isPositive()) {
            assertThat(line.credits())
                    .filteredOn(credit -> credit.activeAt(line.asOf()))
                    .allMatch(credit -> !credit.remaining().isPositive());
        }
    }

    /** A standing does not flap: an exhausted budget is over until a credit or a period begins. */
    @ParameterizedTest
    @RandomSeeds(200)
    void betweenTwoStepsTheStandingNeverImproves(long seed) {
        Random random = new Random(seed);
        BudgetLine line = anyLine(random);
        Instant before = NOON;
        for (int i = 0; i < 100; i++) {
            Instant later = before.plusSeconds(1 + random.nextInt(7_000));
            if (line.standingAt(before) instanceof OverBudget
                    && line.standingAt(later) instanceof InBudget) {
                assertThat(line.at(before).nextStep()).isBeforeOrEqualTo(later);
            }
            before = later;
        }
    }

    private static BudgetLine anyLine(Random random) {
        var credits = new ArrayList<Credit>();
        credits.add(
                credit(
                        Credit.ALLOWANCE,
                        new GpuTime(random.nextLong(20_000_000_000L)),
                        NOON.minusSeconds(1),
                        MIDNIGHT));
        for (int i = random.nextInt(4); i > 0; i--) {
            Instant from = NOON.plusSeconds(random.nextInt(100_000) - 50_000);
            Instant until =
                    random.nextInt(4) == 0 ? null : NOON.plusSeconds(1 + random.nextInt(200_000));
            if (until == null || from.isBefore(until)) {
                credits.add(
                        credit(
                                "g" + i,
                                new GpuTime(random.nextLong(10_000_000_000L)),
                                from,
                                until));
            }
        }
        Terms terms =
                new Terms(
                        daily(),
                        new GpuTime(random.nextLong(20_000_000_000L)),
                        new GpuTime(random.nextLong(5_000_000_000L)),
                        random.nextInt(101));
        return line(random.nextInt(2_000_000), terms, credits.toArray(Credit[]::new));
    }

    private static BudgetLine line(long rate, Terms terms, Credit... credits) {
        return new BudgetLine(NOON, rate, List.of(credits), GpuTime.ZERO, terms, MIDNIGHT);
    }

    private static Credit allowance(String minutes) {
        return credit(Credit.ALLOWANCE, minutes(minutes), NOON, MIDNIGHT);
    }

    private static Credit credit(
            String source,
            GpuTime amount,
            Instant from,
            @org.jspecify.annotations.Nullable Instant until) {
        return new Credit(source, amount, from, until);
    }

    private static Terms terms(String minutes) {
        return new Terms(daily(), minutes(minutes), GpuTime.ZERO, 25);
    }

    private static PeriodRule daily() {
        return new PeriodRule(Unit.Day, ZoneOffset.UTC, LocalDateTime.parse("2026-01-01T00:00:00"));
    }

    private static GpuTime minutes(String minutes) {
        return GpuTime.ofMinutes(minutes);
    }
}
