package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.timekeeper.allocation.UseRule;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.database.Timestamps;
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

    private final TestLedger ledger = new TestLedger(TEN, BUDGET);
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);

    private static GpuTime minutes(String minutes) {
        return GpuTime.ofMinutes(minutes);
    }

    @Test
    void anIdlePodCostsTheFloorOnceItsAgentHasSaidSo() {
        ledger.onUpdate(pod);
        ledger.measured(pod, 0, 1200);

        ledger.pass(Duration.ofMinutes(20).plus(A_MINUTE));

        // 20 minutes at a tenth of its half, and one that is not settled yet.
        assertThat(ledger.charged(pod)).isEqualTo(minutes("1.5"));
        assertThat(ledger.used("a")).isEqualTo(minutes("1.5"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void withoutAnAgentItIsChargedByItsAllocationAndTheBudgetSaysSo() {
        ledger.onUpdate(pod);

        ledger.pass(Duration.ofMinutes(21));

        assertThat(ledger.charged(pod)).isEqualTo(minutes("10.5"));
        assertThat(ledger.budget("a").unmeasured()).isEqualTo(1);
    }

    @Test
    void aNewBudgetSaysAfterItsFirstSettlementWhetherItsPodsAreMeasured() {
        TestLedger later = new TestLedger(TEN, monthly("b", TEN, "1000", "team-b"));
        later.pass(A_MINUTE);

        later.exist(BUDGET);
        later.onUpdate(pod);
        later.pass(A_MINUTE);
        assertThat(later.budget("a").unmeasured()).isNull();

        later.pass(Duration.ofMinutes(10));
        assertThat(later.budget("a").unmeasured()).isEqualTo(1);
    }

    @Test
    void noPodIsCalledUnmeasuredOnceAllHaveEnded() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(11));

        ledger.onUpdate(pod.finishedAt(TEN.plus(Duration.ofMinutes(11))));
        ledger.pass(A_MINUTE);

        assertThat(ledger.budget("a").unmeasured()).isZero();
    }

    @Test
    void aPodWhoseAgentCameLaterIsNoLongerCalledUnmeasured() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(11));
        assertThat(ledger.budget("a").unmeasured()).isEqualTo(1);

        ledger.measured(pod, 0, 1200);
        ledger.pass(Duration.ofMinutes(10));
        assertThat(ledger.budget("a").unmeasured()).isZero();
    }

    @Test
    void unmeasuredTimeIsChargedByAllocation() {
        ledger.onUpdate(pod);
        ledger.measured(pod, 0, 600);

        ledger.pass(Duration.ofMinutes(20).plusSeconds(30));

        assertThat(ledger.charged(pod)).isEqualTo(minutes("5.75"));
    }

    /** An agent that goes on after the end would make the seven seconds cost the floor. */
    @Test
    void whatNobodySawOfAShortPodIsChargedInFull() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofSeconds(27));
        ledger.onUpdate(pod.finishedAt(TEN.plusSeconds(27)));
        ledger.measured(pod, 0, 20);

        ledger.pass(Duration.ofMinutes(20));

        // 20 s at a tenth of its half and 7 s of its half, but for what no whole rate gives back.
        assertThat(ledger.charged(pod)).isEqualTo(new GpuTime(4_500_009));
    }

    @Test
    void aReportThatComesAfterThePodHasEndedStillCounts() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(15));
        ledger.onUpdate(pod.finishedAt(TEN.plus(Duration.ofMinutes(15))));
        ledger.pass(Duration.ofMinutes(10));
        assertThat(ledger.charged(pod)).isEqualTo(minutes("7.5"));

        ledger.measured(pod, 0, 900);
        ledger.pass(Duration.ofMinutes(10));

        assertThat(ledger.charged(pod)).isEqualTo(minutes("0.75"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aLateEndCreditsBackWhatWasChargedAndWhatWasMeasured() {
        ledger.onUpdate(pod);
        ledger.measured(pod, 0, 1200);
        ledger.pass(Duration.ofMinutes(21));

        ledger.onUpdate(pod.finishedAt(TEN.plus(Duration.ofMinutes(7))));
        ledger.pass(Duration.ofMinutes(10));

        assertThat(ledger.charged(pod)).isEqualTo(minutes("0.35"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aBudgetThatBeginsToChargeByUseDoesSoFromThenOn() {
        TestLedger later = new TestLedger(TEN, monthly("a", TEN, "1000", "team-a"));
        later.onUpdate(pod);
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
        ledger.onUpdate(two);
        ledger.measured(two, 0, 1200);

        ledger.pass(Duration.ofMinutes(20).plus(A_MINUTE));

        // 10 minutes of both, 10 minutes idle, and one minute that is not settled yet.
        assertThat(ledger.charged(two)).isEqualTo(minutes("24"));
    }

    @Test
    void whatIsMeasuredAfterAPeriodsEdgeChangesNothingBeforeIt() {
        Instant edge = Instant.parse("2026-03-02T18:30:00Z");
        var indian =
                new TestLedger(TEN, BUDGET.every(Unit.Day, "Asia/Kolkata", "2026-01-01T00:00:00"));
        Pods late = Pods.waiting("team-a", 50, 15).boundAt(edge.minusSeconds(900));
        indian.pass(Duration.between(TEN, late.scheduled()));
        indian.onUpdate(late);
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
        ledger.onUpdate(pod);
        ledger.measured(pod, 0, 1200);
        TestLedger twin = ledger.twin();
        ledger.pass(Duration.ofMinutes(21));

        twin.measured(pod, 0, 1200);
        twin.pass(Duration.ZERO);

        ledger.restart();
        assertThat(ledger.charged(pod)).isEqualTo(minutes("1.5"));
        assertThat(ledger.differences()).isEmpty();
    }

    /** However often it is settled, the result is what the counters say. */
    @ParameterizedTest
    @RandomSeeds(8)
    void lateAndRepeatedReportsEndInTheMeasuredUse(long seed) {
        Random random = new Random(seed);
        ledger.onUpdate(pod);
        double busy = 0;
        long covered = 0;
        while (ledger.clock.instant().isBefore(TEN.plus(Duration.ofHours(5)))) {
            ledger.pass(Duration.ofSeconds(random.nextInt(2000)));
            long held = Duration.between(TEN, ledger.clock.instant()).toSeconds();
            if (random.nextInt(3) > 0) {
                covered = Math.max(covered, random.nextLong(held + 1));
                busy = Math.max(busy, random.nextDouble() * covered);
                ledger.measured(pod, busy, covered);
            }
            if (random.nextInt(5) == 0) {
                ledger.restart();
            }
        }
        long held = Duration.between(TEN, ledger.clock.instant()).toSeconds();
        ledger.onUpdate(pod.finishedAt(ledger.clock.instant()));
        ledger.pass(Duration.ofMinutes(11));

        long due =
                new UseRule(10)
                        .due(500_000, 500_000, held, covered * 1_000_000, (long) (busy * 1_000_000))
                        .microGpuSeconds();
        // Less than a micro-GPU over the last entry remains.
        assertThat(ledger.charged(pod).microGpuSeconds()).isBetween(due - 3600, due + 3600);
        assertThat(ledger.differences()).isEmpty();
    }
}
