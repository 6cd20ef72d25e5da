package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.budget.Credit;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.budget.TestBudgets.Given;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;

/** Days on which other accounting systems went wrong. */
class ScenariosTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration AN_HOUR = Duration.ofHours(1);

    private static Pods gpu(String namespace, Instant from) {
        return Pods.waiting(namespace, 100, 0).boundAt(from);
    }

    private static GpuTime hours(long hours) {
        return new GpuTime(hours * 3600 * 1_000_000);
    }

    /** Used of a budget in [from, to), from the entries. */
    private static GpuTime used(TestLedger ledger, String from, String to) {
        return new UsageRepository(ledger.database.rows())
                .used("a", Instant.parse(from), Instant.parse(to)).values().stream()
                        .reduce(GpuTime.ZERO, GpuTime::plus);
    }

    @Test
    void aMidnightAtWhichManyPeriodsBeginHoldsNoPostingUp() {
        Instant midnight = Instant.parse("2026-03-03T00:00:00Z");
        var ledger =
                new TestLedger(
                        TEN,
                        IntStream.range(0, 25)
                                .mapToObj(i ->
                                        monthly("team-" + i, TEN, "600", "team-" + i)
                                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"))
                                .toArray(Written[]::new));

        ledger.pass(Duration.between(TEN, midnight.plus(Duration.ofHours(2))));
        assertThat(opened(ledger, midnight)).isEqualTo(10);
        assertThat(ledger.nextDue()).isBefore(ledger.clock.instant());
        ledger.pass(Duration.ZERO);
        ledger.pass(Duration.ZERO);

        assertThat(opened(ledger, midnight)).isEqualTo(25);
        assertThat(ledger.nextDue()).isAfter(ledger.clock.instant());
        assertThat(ledger.differences()).isEmpty();
    }

    private static long opened(TestLedger ledger, Instant start) {
        return ledger.database
                .jdbc()
                .sql(
                        "select count(*) from budget_period where period_start = '%s'"
                                .formatted(start))
                .query(Long.class)
                .single();
    }

    @Test
    void aMonthThatBeginsOnThe31stBeginsThereAgainAfterFebruary() {
        Instant start = Instant.parse("2026-01-31T00:00:00Z");
        var ledger =
                new TestLedger(
                        start,
                        monthly("a", start, "60000", "team-a")
                                .every(Unit.Month, "UTC", "2026-01-31T00:00:00"));
        ledger.onUpdate(gpu("team-a", start));

        ledger.pass(Duration.ofDays(27));
        assertThat(ledger.used("a")).isEqualTo(hours(27 * 24));
        ledger.pass(Duration.ofDays(2));
        assertThat(ledger.budget("a").period().start())
                .isEqualTo(Instant.parse("2026-02-28T00:00:00Z"));
        assertThat(ledger.used("a")).isEqualTo(hours(24));
        ledger.pass(Duration.ofDays(31));

        assertThat(ledger.budget("a").period().start())
                .isEqualTo(Instant.parse("2026-03-31T00:00:00Z"));
        assertThat(ledger.used("a")).isEqualTo(hours(24));
        assertThat(ledger.differences()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"2026-01-01T00:00:00", "2027-01-01T00:00:00"})
    void anAllowanceWithoutAnEndIsGivenOnceAlsoIfItsAnchorIsStillToCome(String anchor) {
        var ledger =
                new TestLedger(
                        TEN, monthly("a", TEN, "6000", "team-a").every(Unit.Never, "UTC", anchor));
        Pods pod = gpu("team-a", TEN);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofHours(30));
        ledger.onUpdate(pod.finishedAt(ledger.clock.instant()));
        ledger.pass(Duration.ofDays(400));
        ledger.restart();

        Instant now = ledger.clock.instant();
        assertThat(ledger.budget("a").remaining(now)).contains(hours(70));
        assertThat(ledger.balances().at("a", now))
                .hasValueSatisfying(balance -> {
                    assertThat(balance.granted()).isEqualTo(hours(100));
                    assertThat(balance.used()).isEqualTo(hours(30));
                });
        Instant start = ledger.budget("a").period().start();
        assertThat(ledger.balances().stretch("a", start, now))
                .hasValueSatisfying(all -> assertThat(all.total()).isEqualTo(hours(30)));
    }

    @Test
    void aGrantThatIsWrittenWithPartsOfSecondsCountsInWholeOnes() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "10", "team-a"));
        Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);
        ledger.onUpdate(pod);
        ledger.grants(
                new Given(
                        "odd",
                        "a",
                        "30",
                        TEN.plusMillis(5_500),
                        TEN.plusSeconds(9).plusNanos(123_456_789)),
                new Given(
                        "for ever",
                        "a",
                        "1",
                        TEN,
                        Instant.parse("9999-12-31T23:59:59.999999999Z")));
        ledger.pass(Duration.ofSeconds(20));
        ledger.onUpdate(pod.finishedAt(ledger.clock.instant()));

        Instant now = ledger.clock.instant();
        // Of the odd one, what was used in the four seconds in which it counted.
        assertThat(ledger.budget("a").granted(now)).contains(new GpuTime(662_000_000));
        assertThat(ledger.balances().at("a", now))
                .hasValueSatisfying(balance ->
                        assertThat(balance.remaining()).isEqualTo(new GpuTime(652_000_000)));
        assertThat(ledger.budget("a").line().orElseThrow().credits())
                .extracting(Credit::until)
                .contains(Instant.parse("9999-12-31T23:59:59Z"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void inBerlinTheDayOfTheSpringChangeHasTwentyThreeHoursAndThatOfAutumnTwentyFive() {
        for (String[] change :
                new String[][] {
                    // 02:30 does not exist on the 29th of March, so that day begins at 03:30.
                    {
                        "2026-03-28T01:30:00Z",
                        "2026-03-29T01:30:00Z",
                        "2026-03-30T00:30:00Z",
                        "24",
                        "23"
                    },
                    // It exists twice on the 25th of October, and the first one counts.
                    {
                        "2026-10-24T00:30:00Z",
                        "2026-10-25T00:30:00Z",
                        "2026-10-26T01:30:00Z",
                        "24",
                        "25"
                    }
                }) {
            Instant start = Instant.parse(change[0]);
            var ledger =
                    new TestLedger(
                            start,
                            monthly("a", start, "6000", "team-a")
                                    .every(Unit.Day, "Europe/Berlin", "2026-01-01T02:30:00"));
            ledger.onUpdate(gpu("team-a", start));
            for (int hour = 0; hour < 50; hour++) {
                ledger.pass(AN_HOUR);
            }

            assertThat(used(ledger, change[0], change[1]))
                    .isEqualTo(hours(Long.parseLong(change[3])));
            assertThat(used(ledger, change[1], change[2]))
                    .isEqualTo(hours(Long.parseLong(change[4])));
            assertThat(ledger.budget("a").period().start()).isEqualTo(Instant.parse(change[2]));
            assertThat(ledger.used("a")).isEqualTo(hours(26 - Long.parseLong(change[4])));
        }
    }

    @Test
    void aPodOverTheMonthsEndIsSplitThereAndOneOnALostNodeEndsWhereTheClusterGaveItUp() {
        Instant start = Instant.parse("2026-03-31T20:00:00Z");
        var ledger = new TestLedger(start, monthly("a", start, "6000", "team-a"));
        Pods pod = gpu("team-a", start);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofHours(10));

        ledger.onUpdate(pod.lostAt(Instant.parse("2026-04-01T05:00:00Z")));
        ledger.pass(Duration.ofMinutes(1));

        assertThat(used(ledger, "2026-03-31T00:00:00Z", "2026-04-01T00:00:00Z"))
                .isEqualTo(hours(4));
        assertThat(ledger.used("a")).isEqualTo(hours(5));
        assertThat(ledger.allocation(pod).estimated()).isTrue();
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aForgedWriteTimeAfterAPodsEndCreditsNothingBack() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
        Pods pod = gpu("team-a", TEN);
        ledger.onUpdate(pod);
        ledger.pass(AN_HOUR);
        Pods ended = pod.finishedAt(TEN.plus(AN_HOUR)).writtenAt(TEN.plus(AN_HOUR));
        ledger.onUpdate(ended);

        ledger.onUpdate(ended.writtenAt(TEN.plusSeconds(60)));

        assertThat(ledger.used("a")).isEqualTo(hours(1));
        assertThat(ledger.allocation(pod).estimated()).isFalse();
    }

    @Test
    void aChangeOfWhatAnEndWasEstimatedFromCreditsNothingBack() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
        Pods pod = gpu("team-a", TEN);
        ledger.onUpdate(pod);
        ledger.pass(AN_HOUR);
        ledger.onUpdate(pod.lostAt(TEN.plus(AN_HOUR)));

        ledger.onUpdate(pod.lostAt(TEN.plusSeconds(60)));

        assertThat(ledger.used("a")).isEqualTo(hours(1));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aPodThatVanishedWhileTheTimekeeperWasDownIsFlaggedWithItsBound() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
        Pods pod = gpu("team-a", TEN);
        ledger.onUpdate(pod);
        Instant lastSeen = TEN.plus(AN_HOUR);
        ledger.clock.pass(AN_HOUR);
        ledger.onUpdate(pod);
        ledger.vanished(pod);
        ledger.clock.pass(Duration.ofHours(5));

        ledger.restart();

        PodAllocation allocation = ledger.allocation(pod);
        assertThat(allocation.until()).isEqualTo(lastSeen);
        assertThat(allocation.endBound()).isEqualTo(lastSeen.plus(Duration.ofHours(5)));
        assertThat(allocation.estimated()).isTrue();
        assertThat(ledger.used("a")).isEqualTo(hours(1));
    }

    /**
     * The bound: what runs at the end of a budget goes on until somebody needs its GPU, and every
     * second of it is on the account; a pod that comes later finds the new line a second after the
     * rate has changed, at the latest.
     */
    @Test
    void fiveHundredPodsWithOneMinuteLeftOverrunByExactlyWhatTheyHoldAndNotASecondMore() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "1", "team-a"));
        List<Pods> storm = Stream.generate(() -> gpu("team-a", TEN)).limit(500).toList();
        storm.forEach(ledger::onUpdate);

        ledger.pass(Duration.ofSeconds(1));

        // 60 GPU-seconds, used by 500 GPUs in 0.12 s.
        assertThat(ledger.budget("a").exhaustedAt()).isEqualTo(TEN.plusMillis(120));
        assertThat(ledger.budget("a").standing(TEN.plusSeconds(1)).word()).isEqualTo("OverBudget");
        ledger.pass(Duration.ofSeconds(59));
        storm.forEach(pod -> ledger.onUpdate(pod.finishedAt(TEN.plusSeconds(60))));
        assertThat(ledger.budget("a").remaining(ledger.clock.instant()))
                .contains(GpuTime.ofMinutes("-499"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aRestoredBackupComesRightForWhatIsStillThereAndFlagsTheRest() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
        Pods runsOn = gpu("team-a", TEN);
        Pods endedSince = gpu("team-a", TEN);
        ledger.onUpdate(runsOn);
        ledger.onUpdate(endedSince);
        ledger.clock.pass(AN_HOUR);
        ledger.onUpdate(runsOn);
        TestDatabase backup = ledger.database.backup();
        Pods cameSince = gpu("team-a", TEN.plus(Duration.ofHours(2)));
        Pods cameAndWent = gpu("team-a", TEN.plus(Duration.ofHours(2)));
        ledger.clock.pass(Duration.ofHours(2));
        ledger.onUpdate(cameSince);
        ledger.onUpdate(cameAndWent);
        ledger.removed(cameAndWent.removedAt(ledger.clock.instant()));
        ledger.removed(endedSince.removedAt(ledger.clock.instant()));

        TestLedger restored = ledger.on(backup);
        restored.pass(AN_HOUR);

        assertThat(restored.charged(runsOn)).isEqualTo(hours(4));
        assertThat(restored.charged(cameSince)).isEqualTo(hours(2));
        assertThat(restored.charged(endedSince)).isEqualTo(hours(1));
        // Of this one only the audit log knows.
        assertThat(restored.charged(cameAndWent)).isEqualTo(GpuTime.ZERO);
        PodAllocation lost = restored.allocation(endedSince);
        assertThat(lost.estimated()).isTrue();
        assertThat(lost.endBound()).isEqualTo(TEN.plus(Duration.ofHours(3)));
        assertThat(restored.differences()).isEmpty();
    }

    @Test
    void installingOnAClusterFullOfMonthOldPodsExhaustsNoBudget() {
        List<Pods> old =
                Stream.generate(() -> gpu("team-a", TEN.minus(Duration.ofDays(31))))
                        .limit(20)
                        .toList();
        var ledger =
                new TestLedger(TEN, monthly("a", TEN.minus(Duration.ofDays(2)), "60", "team-a"));
        old.forEach(ledger::onUpdate);

        ledger.pass(Duration.ofMinutes(1));

        assertThat(ledger.used("a")).isEqualTo(GpuTime.ofMinutes("20"));
        assertThat(ledger.budget("a").standing(ledger.clock.instant()).word())
                .isEqualTo("InBudget");
    }

    @Test
    void aBudgetThatIsRecreatedGetsNoNewMinutes() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "60", "team-a"));
        ledger.onUpdate(gpu("team-a", TEN));
        ledger.pass(Duration.ofMinutes(50));

        ledger.exist();
        ledger.pass(Duration.ofMinutes(1));
        ledger.exist(monthly("a", ledger.clock.instant(), "60", "team-a"));
        ledger.pass(Duration.ofMinutes(10));

        assertThat(ledger.used("a")).isEqualTo(GpuTime.ofMinutes("60"));
        assertThat(ledger.budget("a").standing(ledger.clock.instant()).word())
                .isEqualTo("OverBudget");
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aBudgetLoweredBelowWhatIsUsedIsOverFromThenOn() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "60", "team-a"));
        ledger.onUpdate(gpu("team-a", TEN));
        ledger.pass(Duration.ofMinutes(50));

        ledger.exist(monthly("a", TEN, "40", "team-a"));
        ledger.pass(Duration.ofSeconds(1));

        assertThat(ledger.budget("a").standing(ledger.clock.instant()).word())
                .isEqualTo("OverBudget");
        assertThat(ledger.budget("a").remaining(TEN.plus(Duration.ofMinutes(50))).orElseThrow())
                .isLessThan(GpuTime.ofMinutes("-9"));
    }

    @Test
    void anotherTimeZoneDoesNotMoveTheOpenPeriod() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "60", "team-a"));
        ledger.onUpdate(gpu("team-a", TEN));
        ledger.pass(AN_HOUR);
        Instant end = ledger.budget("a").period().end();

        ledger.exist(
                monthly("a", TEN, "60", "team-a")
                        .every(Unit.Month, "Pacific/Auckland", "2026-01-01T00:00:00"));
        ledger.pass(AN_HOUR);
        ledger.restart();

        assertThat(ledger.budget("a").period().end()).isEqualTo(end);
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void equalPartsOfOneGpuCostOneGpuTogether() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "60", "team-a"));
        Stream.generate(() -> Pods.waiting("team-a", 25, 15).boundAt(TEN))
                .limit(4)
                .forEach(ledger::onUpdate);

        ledger.pass(Duration.ofMinutes(10));

        assertThat(ledger.used("a")).isEqualTo(GpuTime.ofMinutes("10"));
        assertThat(
                        ledger.database
                                .jdbc()
                                .sql("select sum(memory_part) from pod_allocation")
                                .query(Long.class)
                                .single())
                .isEqualTo(1_000_000);
        assertThat(ledger.budget("a").rate()).isEqualTo(1_000_000);
    }

    @Test
    void aNamespaceThatMovesWhileTheTimekeeperIsDownPaysItsNewBudgetFromWhenThatIsSeen() {
        var ledger =
                new TestLedger(
                        TEN,
                        monthly("a", TEN, "6000", "team-a"),
                        monthly("b", TEN, "6000", "team-b"));
        ledger.onUpdate(gpu("team-a", TEN));
        ledger.pass(Duration.ofMinutes(90));

        ledger.writtenMeanwhile(
                monthly("a", TEN, "6000", "nobody"), monthly("b", TEN, "6000", "team-a", "team-b"));
        ledger.clock.pass(Duration.ofMinutes(2));
        ledger.restart();
        ledger.pass(Duration.ofMinutes(8));

        assertThat(ledger.used("a")).isEqualTo(GpuTime.ofMinutes("92"));
        assertThat(ledger.used("b")).isEqualTo(GpuTime.ofMinutes("8"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aBudgetThatIsDeletedWhileTheTimekeeperIsDownPaidUntilThen() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
        Pods pod = gpu("team-a", TEN);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(90));

        ledger.writtenMeanwhile();
        ledger.restart();
        ledger.pass(Duration.ofMinutes(10));
        ledger.onUpdate(pod.finishedAt(ledger.clock.instant()));

        assertThat(used(ledger, "2026-03-02T10:00:00Z", "2026-03-02T12:00:00Z"))
                .isEqualTo(GpuTime.ofMinutes("90"));
        assertThat(ledger.charged(pod)).isEqualTo(GpuTime.ofMinutes("100"));
    }

    @Test
    void aPeriodClosesAnHourAfterItsEndAndLateUsageCountsInTheOpenOne() {
        Instant midnight = Instant.parse("2026-03-03T00:00:00Z");
        var ledger =
                new TestLedger(
                        TEN,
                        monthly("a", TEN, "600", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        Pods pod = gpu("team-a", TEN);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofHours(14));
        ledger.pass(AN_HOUR);
        ledger.pass(Duration.ofSeconds(1));

        // It ended an hour before midnight, and that is observed only now.
        ledger.onUpdate(pod.finishedAt(midnight.minus(AN_HOUR)));

        // Its fourteen hours had overrun the day's ten: 25 % of those are owed, and remain owed.
        assertThat(ledger.budget("a").remaining(ledger.clock.instant()))
                .contains(GpuTime.ofMinutes("600").minus(GpuTime.ofMinutes("150")).plus(hours(1)));
        GpuTime live = ledger.used("a");
        ledger.restart();
        assertThat(ledger.used("a"))
                .isEqualTo(live)
                .isEqualTo(new GpuTime(-hours(1).microGpuSeconds()));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void lateUsageAcrossAnEdgeWithinAnHourCountsOnceInEachPeriod() {
        var ledger =
                new TestLedger(
                        TEN,
                        monthly("a", TEN, "600", "team-a")
                                .every(Unit.Day, "Asia/Kolkata", "2026-01-01T00:00:00"));
        Instant edge = Instant.parse("2026-03-02T18:30:00Z");
        ledger.pass(Duration.ofHours(10));
        assertThat(ledger.budget("a").period().start()).isEqualTo(edge);

        ledger.onUpdate(gpu("team-a", edge.minusSeconds(600)).finishedAt(edge.plusSeconds(300)));

        assertThat(ledger.used("a")).isEqualTo(new GpuTime(900 * 1_000_000L));
        ledger.restart();
        assertThat(ledger.used("a")).isEqualTo(new GpuTime(900 * 1_000_000L));
        assertThat(used(ledger, "2026-03-02T10:00:00Z", "2026-03-02T18:30:00Z"))
                .isEqualTo(new GpuTime(600 * 1_000_000L));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aPeriodThatTwoTimekeepersCloseIsWrittenDownOnce() {
        var ledger =
                new TestLedger(
                        TEN,
                        monthly("a", TEN, "60", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        ledger.onUpdate(gpu("team-a", TEN).finishedAt(TEN.plus(Duration.ofHours(2))));
        TestLedger twin = ledger.twin();
        ledger.pass(Duration.ofHours(14));
        twin.pass(Duration.ZERO);
        ledger.pass(AN_HOUR);
        List<String> written = periods(ledger);

        twin.pass(Duration.ofSeconds(1));

        assertThat(periods(ledger)).isEqualTo(written).hasSize(2);
        assertThat(ledger.differences()).isEmpty();
    }

    private static List<String> periods(TestLedger ledger) {
        return ledger.database
                .jdbc()
                .sql("select budget_period::text from budget_period order by period_start")
                .query((row, number) -> row.getString(1))
                .list();
    }

    @Test
    void aGrantThatBeginsWithThePeriodPaysTheDebtOnce() {
        Instant midnight = Instant.parse("2026-03-03T00:00:00Z");
        var ledger =
                new TestLedger(
                        TEN,
                        monthly("a", TEN, "600", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        ledger.grants(
                new Given("early", "a", "200", midnight, midnight.plus(Duration.ofHours(12))));
        Pods pod = gpu("team-a", TEN);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofHours(14));
        ledger.onUpdate(pod.finishedAt(midnight));
        ledger.pass(Duration.ofHours(2));
        assertThat(ledger.budget("a").remaining(ledger.clock.instant()))
                .contains(GpuTime.ofMinutes("650"));

        ledger.restart();

        assertThat(ledger.budget("a").remaining(ledger.clock.instant()))
                .contains(GpuTime.ofMinutes("650"));
        // At noon what is left of the grant is gone, and the allowance is whole.
        ledger.pass(Duration.ofHours(10));
        assertThat(ledger.budget("a").remaining(ledger.clock.instant()))
                .contains(GpuTime.ofMinutes("600"));
        assertThat(ledger.differences()).isEmpty();
    }

    /** A crash between two statements would restore grants that were used. */
    @Test
    void noPeriodIsOpenedWithoutWhatItsGrantsHadLeft() {
        var ledger =
                new TestLedger(
                        TEN,
                        monthly("a", TEN, "600", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        ledger.grants(new Given("long", "a", "60", TEN, TEN.plus(Duration.ofDays(3))));
        ledger.onUpdate(gpu("team-a", TEN));
        ledger.pass(Duration.ofHours(14));
        ledger.database
                .jdbc()
                .sql("alter table grant_carried add constraint away check (remaining < 0)")
                .update();

        assertThatThrownBy(() -> ledger.pass(Duration.ofHours(1)))
                .isInstanceOf(DataAccessException.class);

        assertThat(
                        ledger.database
                                .jdbc()
                                .sql("select count(*) from budget_period")
                                .query(Long.class)
                                .single())
                .isEqualTo(1);
    }

    @Test
    void theRemainderOfAPastPeriodFollowsTheTermsOfThatPeriod() {
        var ledger =
                new TestLedger(
                        TEN,
                        monthly("a", TEN, "600", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        Pods pod = gpu("team-a", TEN);
        var balances = ledger.balances();
        ledger.onUpdate(pod);
        ledger.pass(AN_HOUR);
        ledger.onUpdate(pod.finishedAt(TEN.plus(AN_HOUR)));
        ledger.pass(Duration.ofDays(1));

        ledger.exist(
                monthly("a", TEN, "1200", "team-a")
                        .every(Unit.Day, "UTC", "2026-01-01T00:00:00")
                        .ofGeneration(3));
        ledger.pass(Duration.ofHours(2));

        assertThat(balances.at("a", TEN.plus(Duration.ofHours(2))).orElseThrow().remaining())
                .isEqualTo(GpuTime.ofMinutes("540"));
        assertThat(balances.at("a", ledger.clock.instant()).orElseThrow().remaining())
                .isEqualTo(GpuTime.ofMinutes("1200"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aNamespaceThatABudgetTookOnWhileTheTimekeeperWasDownPaysFromWhenThatIsSeen() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-b"));
        ledger.onUpdate(gpu("team-a", TEN));
        ledger.pass(Duration.ofMinutes(90));

        ledger.writtenMeanwhile(monthly("a", TEN, "6000", "team-a", "team-b").ofGeneration(2));
        ledger.clock.pass(Duration.ofMinutes(2));
        ledger.restart();
        ledger.pass(Duration.ofMinutes(8));

        assertThat(ledger.used("a")).isEqualTo(GpuTime.ofMinutes("8"));
    }

    @Test
    void aNamespaceThatIsAddedToABudgetPaysFromThenOnAndNotFromTheLastFullHour() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-b"));
        ledger.onUpdate(gpu("team-a", TEN));
        ledger.pass(Duration.ofMinutes(90));

        ledger.exist(monthly("a", TEN, "6000", "team-a", "team-b").ofGeneration(2));
        ledger.pass(Duration.ofMinutes(8));

        assertThat(ledger.used("a")).isEqualTo(GpuTime.ofMinutes("8"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aClockThatWasAheadOverAPeriodsEndAndIsRightAgainStopsNoAccounts() {
        var ledger =
                new TestLedger(
                        TEN,
                        monthly("a", TEN, "6000", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        Pods pod = gpu("team-a", TEN);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofHours(16));
        ledger.clock.set(TEN.plus(AN_HOUR));

        ledger.onUpdate(gpu("team-a", ledger.clock.instant().plusSeconds(5)));
        ledger.pass(Duration.ofHours(14));

        assertThat(ledger.charged(pod)).isEqualTo(hours(15));
        assertThat(ledger.budget("a").remaining(ledger.clock.instant())).isPresent();
        assertThat(ledger.differences()).isEmpty();
    }

    @ParameterizedTest(name = "noticed before: {0}")
    @ValueSource(booleans = {true, false})
    void otherMinutesWithinTheHourAfterAPeriodDoNotChangeHowThatPeriodWent(boolean noticed) {
        var daily =
                monthly("a", TEN, "600", "team-a").every(Unit.Day, "UTC", "2026-01-01T00:00:00");
        var ledger = new TestLedger(TEN, daily);
        ledger.onUpdate(gpu("team-a", TEN));
        ledger.clock.pass(Duration.ofHours(14).plusMinutes(10));
        if (noticed) {
            ledger.pass(Duration.ZERO);
        }

        ledger.exist(
                monthly("a", TEN, "2000", "team-a")
                        .every(Unit.Day, "UTC", "2026-01-01T00:00:00")
                        .ofGeneration(3));
        ledger.pass(Duration.ZERO);

        // The day had 600 and took 840; 150 of the 240 are owed, whatever the next day has.
        assertThat(ledger.budget("a").remaining(ledger.clock.instant()))
                .contains(GpuTime.ofMinutes("1840"));
        assertThat(ledger.differences()).isEmpty();
    }

    @ParameterizedTest(name = "noticed before: {0}")
    @ValueSource(booleans = {true, false})
    void otherMinutesWhileTheTimekeeperIsDownOverAPeriodsEndDoNotChangeHowThatPeriodWent(
            boolean noticed) {
        var daily =
                monthly("a", TEN, "600", "team-a").every(Unit.Day, "UTC", "2026-01-01T00:00:00");
        var ledger = new TestLedger(TEN, daily);
        ledger.onUpdate(gpu("team-a", TEN));
        ledger.pass(AN_HOUR);
        ledger.clock.pass(Duration.ofHours(13).plusMinutes(10));
        if (noticed) {
            ledger.pass(Duration.ZERO);
        }

        ledger.writtenMeanwhile(
                monthly("a", TEN, "2000", "team-a")
                        .every(Unit.Day, "UTC", "2026-01-01T00:00:00")
                        .ofGeneration(3));
        ledger.clock.pass(Duration.ofMinutes(20));
        ledger.restart();
        ledger.pass(AN_HOUR);

        // The day had 600 and took 840; 150 of the 240 are owed, whatever the next day has.
        assertThat(ledger.budget("a").remaining(ledger.clock.instant()))
                .contains(GpuTime.ofMinutes("1760"));
        assertThat(ledger.balances().at("a", ledger.clock.instant()).orElseThrow().remaining())
                .isEqualTo(GpuTime.ofMinutes("1760"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aNewLeaderCompletesAnEditDuringWhichTheLastOneDied() {
        var leader = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
        leader.onUpdate(gpu("team-a", TEN));
        TestLedger next = leader.follower();
        leader.pass(Duration.ofMinutes(10));
        next.follow();

        next.sees(
                monthly("a", TEN, "6000").ofGeneration(2),
                monthly("b", TEN, "6000", "team-a").ofGeneration(2));
        next.clock.pass(Duration.ofMinutes(5));
        next.takeOver();
        next.listed();
        next.pass(Duration.ofMinutes(5));

        assertThat(next.used("a")).isEqualTo(GpuTime.ofMinutes("10"));
        assertThat(next.used("b")).isEqualTo(GpuTime.ofMinutes("10"));
    }

    @Test
    void aNamespaceThatIsRecreatedGetsNoNewMinutes() {
        TestLedger ledger = TestLedger.withDefault("PerNamespace", TEN);
        Pods first = gpu("team-a", TEN);
        ledger.onUpdate(first);
        ledger.exist(monthly("team-a", TEN.plusSeconds(2), "60", "team-a").byDefaultItself());
        ledger.pass(Duration.ofMinutes(50));

        ledger.removed(first.removedAt(ledger.clock.instant()));
        ledger.pass(AN_HOUR);
        ledger.onUpdate(gpu("team-a", ledger.clock.instant()));
        ledger.pass(Duration.ofMinutes(10));

        assertThat(ledger.used("team-a")).isEqualTo(GpuTime.ofMinutes("60"));
        assertThat(ledger.budget("team-a").standing(ledger.clock.instant()).word())
                .isEqualTo("OverBudget");
    }

    /** Its end lies between the last event before the first start and the second list. */
    @Test
    void aPodThatVanishedIsNotChargedForAnOutageAfterWhichTheTimekeeperWasKilledOnceMore() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
        Pods pod = gpu("team-a", TEN);
        ledger.onUpdate(pod);
        ledger.clock.pass(AN_HOUR);
        ledger.onUpdate(pod);
        ledger.vanished(pod);
        ledger.clock.pass(Duration.ofHours(5));

        // It would go on where it was, but it is killed before the pod's end is observed. When it
        // is
        // back, the API server has forgotten.
        ledger.wake();
        ledger.listed();
        ledger.onUpdate(gpu("team-b", ledger.clock.instant()));
        ledger.clock.pass(Duration.ofMinutes(5));
        ledger.restart();

        PodAllocation allocation = ledger.allocation(pod);
        assertThat(allocation.until()).isEqualTo(TEN.plus(AN_HOUR));
        assertThat(allocation.endBound()).isEqualTo(ledger.clock.instant());
        assertThat(ledger.used("a")).isEqualTo(hours(1));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aClockThatWasAheadBeforeAKillEndsNoVanishedPodInTheFuture() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
        Pods pod = gpu("team-a", TEN);
        ledger.onUpdate(pod);
        ledger.clock.set(TEN.plus(Duration.ofHours(9)));
        ledger.onUpdate(pod);
        ledger.vanished(pod);

        ledger.clock.set(TEN.plus(AN_HOUR));
        ledger.restart();

        assertThat(ledger.allocation(pod).until()).isEqualTo(TEN.plus(AN_HOUR));
        assertThat(ledger.used("a")).isEqualTo(hours(1));
        assertThat(ledger.differences()).isEmpty();
    }

    /** A conclusion from pods that appear to run is never changed again. */
    @Test
    void aPeriodThatEndedWhileTheTimekeeperWasDownIsNotClosedBeforeItsPodsAreListed() {
        var ledger =
                new TestLedger(
                        TEN,
                        monthly("a", TEN, "600", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        Pods pod = gpu("team-a", TEN);
        ledger.onUpdate(pod);
        ledger.pass(AN_HOUR);
        ledger.vanished(pod);
        ledger.clock.pass(Duration.ofHours(15));

        ledger.wake();
        ledger.pass(Duration.ofSeconds(1));
        assertThat(ledger.settled()).isFalse();
        ledger.listed();
        ledger.removed(pod.finishedAt(TEN.plus(Duration.ofHours(9))));
        ledger.pass(Duration.ofMinutes(1));

        // Nine of its ten hours were used, so nothing is owed.
        assertThat(ledger.budget("a").remaining(ledger.clock.instant()))
                .contains(GpuTime.ofMinutes("600"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aPeriodIsNotClosedWhileTheApiServersEventsAreLate() {
        var ledger =
                new TestLedger(
                        TEN,
                        monthly("a", TEN, "600", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        Pods pod = gpu("team-a", TEN);
        ledger.onUpdate(pod);
        ledger.pass(AN_HOUR);
        ledger.vanished(pod);
        ledger.clock.pass(Duration.ofHours(15));

        ledger.wake();
        ledger.listedBeforeTheWatchIsOpen();
        ledger.pass(Duration.ofSeconds(5));
        ledger.removed(pod.finishedAt(TEN.plus(Duration.ofHours(9))));
        ledger.pass(Duration.ofMinutes(1));

        // Nine of its ten hours were used, so nothing is owed.
        assertThat(ledger.budget("a").remaining(ledger.clock.instant()))
                .contains(GpuTime.ofMinutes("600"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aNodeWithoutLabelsAtARestartChangesNoRate() {
        var quarter = monthly("a", TEN, "6000", "team-a").fixed(50, 15);
        var ledger = new TestLedger(TEN, quarter);
        Pods pod = Pods.waiting("team-a", 10, 15).boundAt(TEN);
        ledger.onUpdate(pod);
        ledger.pass(AN_HOUR);
        assertThat(ledger.used("a")).isEqualTo(hours(1));

        ledger.node(NodeFacts.UNKNOWN);
        ledger.restart();
        ledger.pass(AN_HOUR);

        assertThat(ledger.used("a")).isEqualTo(hours(2));
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(
            strings = {
                "charge add constraint away check (amount < 0) not valid",
                "pod_allocation add constraint away check (budget <> 'b') not valid"
            })
    void anEditHoldsFromWhenItWasSeenWhereverTheDatabaseFailsWhileItIsCarriedOut(String fails) {
        var ledger =
                new TestLedger(
                        TEN,
                        monthly("a", TEN, "6000", "team-a"),
                        monthly("b", TEN, "6000", "team-b"));
        ledger.onUpdate(gpu("team-a", TEN));
        ledger.pass(Duration.ofMinutes(50));

        ledger.database.jdbc().sql("alter table " + fails).update();
        assertThatThrownBy(() ->
                        ledger.exist(
                                monthly("a", TEN, "6000").ofGeneration(2),
                                monthly("b", TEN, "6000", "team-a", "team-b").ofGeneration(2)))
                .isInstanceOf(DataAccessException.class);
        String table = fails.substring(0, fails.indexOf(' '));
        ledger.database.jdbc().sql("alter table " + table + " drop constraint away").update();
        ledger.pass(Duration.ofMinutes(20));

        assertThat(ledger.used("a")).isEqualTo(GpuTime.ofMinutes("50"));
        assertThat(ledger.used("b")).isEqualTo(GpuTime.ofMinutes("20"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aPodThatWasCreatedAndRemovedWhileTheTimekeeperWasDownIsNotCharged() {
        var ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
        ledger.clock.pass(AN_HOUR);
        Pods unseen = gpu("team-a", TEN.plusSeconds(60));
        ledger.vanished(unseen);

        ledger.restart();
        ledger.pass(Duration.ofMinutes(1));

        // Only the API server's audit log shows that it existed.
        assertThat(ledger.charged(unseen)).isEqualTo(GpuTime.ZERO);
        assertThat(ledger.used("a")).isEqualTo(GpuTime.ZERO);
    }
}
