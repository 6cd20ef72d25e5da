package io.gpusharing.timekeeper.ledger;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.metering.UseRule;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** Budgets that charge by what node agents measure. The idle floor is 10 %. */
class ByUseTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration A_MINUTE = Duration.ofMinutes(1);
    private static final Written BUDGET = monthly("a", TEN, "1000", "team-a").byUse();

    private final Books books = new Books(TEN, BUDGET);
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);

    private static GpuTime minutes(String minutes) {
        return GpuTime.ofMinutes(minutes);
    }

    @Test
    void anIdlePodCostsTheFloorOnceItsAgentHasSaidSo() {
        books.told(pod);
        books.measured(pod, 0, 1200);

        books.pass(Duration.ofMinutes(20).plus(A_MINUTE));

        // 20 minutes at a tenth of its half, and one that is not settled yet.
        assertThat(books.charged(pod)).isEqualTo(minutes("1.5"));
        assertThat(books.used("a")).isEqualTo(minutes("1.5"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void withoutAnAgentItIsChargedByItsAllocationAndTheBudgetSaysSo() {
        books.told(pod);

        books.pass(Duration.ofMinutes(21));

        assertThat(books.charged(pod)).isEqualTo(minutes("10.5"));
        assertThat(books.budget("a").unmeasured()).isEqualTo(1);
    }

    @Test
    void aNewBudgetKnowsWithItsFirstSettlementWhetherItsPodsAreMeasured() {
        Books later = new Books(TEN, monthly("b", TEN, "1000", "team-b"));
        later.pass(A_MINUTE);

        later.exist(BUDGET);
        later.told(pod);
        later.pass(A_MINUTE);
        assertThat(later.budget("a").unmeasured()).isNull();

        later.pass(Duration.ofMinutes(10));
        assertThat(later.budget("a").unmeasured()).isEqualTo(1);
    }

    @Test
    void noPodIsCalledUnmeasuredOnceAllHaveEnded() {
        books.told(pod);
        books.pass(Duration.ofMinutes(11));

        books.told(pod.finishedAt(TEN.plus(Duration.ofMinutes(11))));
        books.pass(A_MINUTE);

        assertThat(books.budget("a").unmeasured()).isZero();
    }

    @Test
    void aPodWhoseAgentCameLaterIsNoLongerCalledUnmeasured() {
        books.told(pod);
        books.pass(Duration.ofMinutes(11));
        assertThat(books.budget("a").unmeasured()).isEqualTo(1);

        books.measured(pod, 0, 1200);
        books.pass(Duration.ofMinutes(10));
        assertThat(books.budget("a").unmeasured()).isZero();
    }

    @Test
    void timeThatNobodyMeasuredIsChargedByAllocation() {
        books.told(pod);
        books.measured(pod, 0, 600);

        books.pass(Duration.ofMinutes(20).plusSeconds(30));

        assertThat(books.charged(pod)).isEqualTo(minutes("5.75"));
    }

    @Test
    void aReportThatComesAfterThePodHasEndedStillCounts() {
        books.told(pod);
        books.pass(Duration.ofMinutes(15));
        books.told(pod.finishedAt(TEN.plus(Duration.ofMinutes(15))));
        books.pass(Duration.ofMinutes(10));
        assertThat(books.charged(pod)).isEqualTo(minutes("7.5"));

        books.measured(pod, 0, 900);
        books.pass(Duration.ofMinutes(10));

        assertThat(books.charged(pod)).isEqualTo(minutes("0.75"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void anEndThatIsToldLateTakesBackWhatWasChargedAndWhatWasMeasuredOfIt() {
        books.told(pod);
        books.measured(pod, 0, 1200);
        books.pass(Duration.ofMinutes(21));

        books.told(pod.finishedAt(TEN.plus(Duration.ofMinutes(7))));
        books.pass(Duration.ofMinutes(10));

        assertThat(books.charged(pod)).isEqualTo(minutes("0.35"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aBudgetThatBeginsToChargeByUseDoesSoFromThenOn() {
        Books later = new Books(TEN, monthly("a", TEN, "1000", "team-a"));
        later.told(pod);
        later.measured(pod, 300, 600);
        later.pass(Duration.ofMinutes(10));

        later.exist(BUDGET);
        later.measured(pod, 300, 1800);
        later.pass(Duration.ofMinutes(20).plusSeconds(30));

        // 10 minutes by allocation, 20 by use, 30 s not settled.
        assertThat(later.charged(pod)).isEqualTo(minutes("6.25"));
    }

    @Test
    void ofTwoGpusOfWhichOneIsMeasuredHalfTheTimeIsMeasured() {
        Pods two = Pods.waiting("team-a", 200, 0).boundAt(TEN);
        books.told(two);
        books.measured(two, 0, 1200);

        books.pass(Duration.ofMinutes(20).plus(A_MINUTE));

        // 10 minutes of both, 10 minutes idle, and one minute that is not settled yet.
        assertThat(books.charged(two)).isEqualTo(minutes("24"));
    }

    @Test
    void whatIsMeasuredAfterAPeriodsEdgeChangesNothingBeforeIt() {
        Instant edge = Instant.parse("2026-03-02T18:30:00Z");
        var indian = new Books(TEN, BUDGET.every(Unit.Day, "Asia/Kolkata", "2026-01-01T00:00:00"));
        Pods late = Pods.waiting("team-a", 50, 15).boundAt(edge.minusSeconds(900));
        indian.pass(Duration.between(TEN, late.scheduled()));
        indian.told(late);
        indian.pass(Duration.ofMinutes(30));

        indian.measured(late, 0, 1800);
        indian.pass(Duration.ofMinutes(10));

        assertThat(
                        indian.database
                                .jdbc()
                                .sql("select charged_from from correction")
                                .query((row, number) -> Timestamps.instant(row, "charged_from"))
                                .list())
                .isNotEmpty()
                .allSatisfy(from -> assertThat(from).isAfterOrEqualTo(edge));
    }

    @Test
    void twoTimekeepersByMistakeSettleOnce() {
        books.told(pod);
        books.measured(pod, 0, 1200);
        Books twin = books.twin();
        books.pass(Duration.ofMinutes(21));

        twin.measured(pod, 0, 1200);
        twin.pass(Duration.ZERO);

        books.restart();
        assertThat(books.charged(pod)).isEqualTo(minutes("1.5"));
        assertThat(books.differences()).isEmpty();
    }

    /** Whenever and how often it is settled, in the end it is what the counters say. */
    @ParameterizedTest
    @RandomSeeds(8)
    void whateverComesLateOrTwiceInTheEndItIsWhatWasMeasured(long seed) {
        Random random = new Random(seed);
        books.told(pod);
        double busy = 0;
        long covered = 0;
        while (books.clock.instant().isBefore(TEN.plus(Duration.ofHours(5)))) {
            books.pass(Duration.ofSeconds(random.nextInt(2000)));
            long held = Duration.between(TEN, books.clock.instant()).toSeconds();
            if (random.nextInt(3) > 0) {
                covered = Math.max(covered, random.nextLong(held + 1));
                busy = Math.max(busy, random.nextDouble() * covered);
                books.measured(pod, busy, covered);
            }
            if (random.nextInt(5) == 0) {
                books.restart();
            }
        }
        long held = Duration.between(TEN, books.clock.instant()).toSeconds();
        books.told(pod.finishedAt(books.clock.instant()));
        books.pass(Duration.ofMinutes(11));

        long due =
                new UseRule(10)
                        .due(500_000, 500_000, held, covered * 1_000_000, (long) (busy * 1_000_000))
                        .microGpuSeconds();
        // Less than a micro-GPU over the last entry stays.
        assertThat(books.charged(pod).microGpuSeconds()).isBetween(due - 3600, due + 3600);
        assertThat(books.differences()).isEmpty();
    }
}
