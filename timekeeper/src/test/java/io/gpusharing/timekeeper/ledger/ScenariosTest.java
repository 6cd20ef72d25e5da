package io.gpusharing.timekeeper.ledger;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Lot;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.budget.TestBudgets.Given;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;

/** Days on which accounts have gone wrong elsewhere. */
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
    private static GpuTime used(Books books, String from, String to) {
        return new UsageBook(books.database.jdbc(), Books.CLUSTER)
                .used("a", Instant.parse(from), Instant.parse(to)).values().stream()
                        .reduce(GpuTime.ZERO, GpuTime::plus);
    }

    @Test
    void aMonthThatBeginsOnThe31stBeginsThereAgainAfterFebruary() {
        Instant start = Instant.parse("2026-01-31T00:00:00Z");
        var books =
                new Books(
                        start,
                        monthly("a", start, "60000", "team-a")
                                .every(Unit.Month, "UTC", "2026-01-31T00:00:00"));
        books.told(gpu("team-a", start));

        books.pass(Duration.ofDays(27));
        assertThat(books.used("a")).isEqualTo(hours(27 * 24));
        books.pass(Duration.ofDays(2));
        assertThat(books.budget("a").period().start())
                .isEqualTo(Instant.parse("2026-02-28T00:00:00Z"));
        assertThat(books.used("a")).isEqualTo(hours(24));
        books.pass(Duration.ofDays(31));

        assertThat(books.budget("a").period().start())
                .isEqualTo(Instant.parse("2026-03-31T00:00:00Z"));
        assertThat(books.used("a")).isEqualTo(hours(24));
        assertThat(books.differences()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"2026-01-01T00:00:00", "2027-01-01T00:00:00"})
    void anAllowanceWithoutAnEndIsGivenOnceAlsoIfItsAnchorIsStillToCome(String anchor) {
        var books =
                new Books(
                        TEN, monthly("a", TEN, "6000", "team-a").every(Unit.Never, "UTC", anchor));
        Pods pod = gpu("team-a", TEN);
        books.told(pod);
        books.pass(Duration.ofHours(30));
        books.told(pod.finishedAt(books.clock.instant()));
        books.pass(Duration.ofDays(400));
        books.restart();

        Instant now = books.clock.instant();
        assertThat(books.budget("a").remaining(now)).contains(hours(70));
        assertThat(books.balances().at("a", now))
                .hasValueSatisfying(balance -> {
                    assertThat(balance.granted()).isEqualTo(hours(100));
                    assertThat(balance.used()).isEqualTo(hours(30));
                });
        Instant start = books.budget("a").period().start();
        assertThat(books.balances().stretch("a", start, now))
                .hasValueSatisfying(all -> assertThat(all.total()).isEqualTo(hours(30)));
    }

    @Test
    void aGrantThatIsWrittenWithPartsOfSecondsCountsInWholeOnes() {
        var books = new Books(TEN, monthly("a", TEN, "10", "team-a"));
        Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);
        books.told(pod);
        books.grants(
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
        books.pass(Duration.ofSeconds(20));
        books.told(pod.finishedAt(books.clock.instant()));

        Instant now = books.clock.instant();
        // Of the odd one, what was used in the four seconds in which it counted.
        assertThat(books.budget("a").granted(now)).contains(new GpuTime(662_000_000));
        assertThat(books.balances().at("a", now))
                .hasValueSatisfying(balance ->
                        assertThat(balance.remaining()).isEqualTo(new GpuTime(652_000_000)));
        assertThat(books.budget("a").line().orElseThrow().lots())
                .extracting(Lot::until)
                .contains(Instant.parse("9999-12-31T23:59:59Z"));
        assertThat(books.differences()).isEmpty();
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
            var books =
                    new Books(
                            start,
                            monthly("a", start, "6000", "team-a")
                                    .every(Unit.Day, "Europe/Berlin", "2026-01-01T02:30:00"));
            books.told(gpu("team-a", start));
            for (int hour = 0; hour < 50; hour++) {
                books.pass(AN_HOUR);
            }

            assertThat(used(books, change[0], change[1]))
                    .isEqualTo(hours(Long.parseLong(change[3])));
            assertThat(used(books, change[1], change[2]))
                    .isEqualTo(hours(Long.parseLong(change[4])));
            assertThat(books.budget("a").period().start()).isEqualTo(Instant.parse(change[2]));
            assertThat(books.used("a")).isEqualTo(hours(26 - Long.parseLong(change[4])));
        }
    }

    @Test
    void aPodOverTheMonthsEndIsSplitThereAndOneOnALostNodeEndsWhereTheClusterGaveItUp() {
        Instant start = Instant.parse("2026-03-31T20:00:00Z");
        var books = new Books(start, monthly("a", start, "6000", "team-a"));
        Pods pod = gpu("team-a", start);
        books.told(pod);
        books.pass(Duration.ofHours(10));

        books.told(pod.lostAt(Instant.parse("2026-04-01T05:00:00Z")));
        books.pass(Duration.ofMinutes(1));

        assertThat(used(books, "2026-03-31T00:00:00Z", "2026-04-01T00:00:00Z")).isEqualTo(hours(4));
        assertThat(books.used("a")).isEqualTo(hours(5));
        assertThat(books.stay(pod).estimated()).isTrue();
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void whoForgesWhenAPodsStatusWasWrittenAfterItsEndGetsNothingBack() {
        var books = new Books(TEN, monthly("a", TEN, "6000", "team-a"));
        Pods pod = gpu("team-a", TEN);
        books.told(pod);
        books.pass(AN_HOUR);
        Pods ended = pod.finishedAt(TEN.plus(AN_HOUR)).writtenAt(TEN.plus(AN_HOUR));
        books.told(ended);

        books.told(ended.writtenAt(TEN.plusSeconds(60)));

        assertThat(books.used("a")).isEqualTo(hours(1));
        assertThat(books.stay(pod).estimated()).isFalse();
    }

    @Test
    void whoChangesWhatAnEndWasEstimatedFromGetsNothingBack() {
        var books = new Books(TEN, monthly("a", TEN, "6000", "team-a"));
        Pods pod = gpu("team-a", TEN);
        books.told(pod);
        books.pass(AN_HOUR);
        books.told(pod.lostAt(TEN.plus(AN_HOUR)));

        books.told(pod.lostAt(TEN.plusSeconds(60)));

        assertThat(books.used("a")).isEqualTo(hours(1));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aPodThatVanishedWhileTheTimekeeperWasDownIsFlaggedWithItsBound() {
        var books = new Books(TEN, monthly("a", TEN, "6000", "team-a"));
        Pods pod = gpu("team-a", TEN);
        books.told(pod);
        Instant lastSeen = TEN.plus(AN_HOUR);
        books.clock.pass(AN_HOUR);
        books.told(pod);
        books.vanished(pod);
        books.clock.pass(Duration.ofHours(5));

        books.restart();

        PodStay stay = books.stay(pod);
        assertThat(stay.until()).isEqualTo(lastSeen);
        assertThat(stay.endBound()).isEqualTo(lastSeen.plus(Duration.ofHours(5)));
        assertThat(stay.estimated()).isTrue();
        assertThat(books.used("a")).isEqualTo(hours(1));
    }

    /**
     * The bound: what runs at the end of a budget goes on until somebody needs its GPU, and every
     * second of it is on the account; a pod that comes later finds the new line a second after the
     * rate has changed, at the latest.
     */
    @Test
    void fiveHundredPodsWithOneMinuteLeftOverrunByExactlyWhatTheyHoldAndNotASecondMore() {
        var books = new Books(TEN, monthly("a", TEN, "1", "team-a"));
        List<Pods> storm = Stream.generate(() -> gpu("team-a", TEN)).limit(500).toList();
        storm.forEach(books::told);

        books.pass(Duration.ofSeconds(1));

        // 60 GPU-seconds, used by 500 GPUs in 0.12 s.
        assertThat(books.budget("a").exhaustedAt()).isEqualTo(TEN.plusMillis(120));
        assertThat(books.budget("a").standing(TEN.plusSeconds(1)).word()).isEqualTo("OverBudget");
        books.pass(Duration.ofSeconds(59));
        storm.forEach(pod -> books.told(pod.finishedAt(TEN.plusSeconds(60))));
        assertThat(books.budget("a").remaining(books.clock.instant()))
                .contains(GpuTime.ofMinutes("-499"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aRestoredBackupComesRightForWhatIsStillThereAndFlagsTheRest() {
        var books = new Books(TEN, monthly("a", TEN, "6000", "team-a"));
        Pods runsOn = gpu("team-a", TEN);
        Pods endedSince = gpu("team-a", TEN);
        books.told(runsOn);
        books.told(endedSince);
        books.clock.pass(AN_HOUR);
        books.told(runsOn);
        TestDatabase backup = books.database.backup();
        Pods cameSince = gpu("team-a", TEN.plus(Duration.ofHours(2)));
        Pods cameAndWent = gpu("team-a", TEN.plus(Duration.ofHours(2)));
        books.clock.pass(Duration.ofHours(2));
        books.told(cameSince);
        books.told(cameAndWent);
        books.removed(cameAndWent.removedAt(books.clock.instant()));
        books.removed(endedSince.removedAt(books.clock.instant()));

        Books restored = books.on(backup);
        restored.pass(AN_HOUR);

        assertThat(restored.charged(runsOn)).isEqualTo(hours(4));
        assertThat(restored.charged(cameSince)).isEqualTo(hours(2));
        assertThat(restored.charged(endedSince)).isEqualTo(hours(1));
        // Of this one only the audit log knows.
        assertThat(restored.charged(cameAndWent)).isEqualTo(GpuTime.ZERO);
        PodStay lost = restored.stay(endedSince);
        assertThat(lost.estimated()).isTrue();
        assertThat(lost.endBound()).isEqualTo(TEN.plus(Duration.ofHours(3)));
        assertThat(restored.differences()).isEmpty();
    }

    @Test
    void anInstallationOnAClusterFullOfMonthOldPodsPutsNobodyOverBudget() {
        List<Pods> old =
                Stream.generate(() -> gpu("team-a", TEN.minus(Duration.ofDays(31))))
                        .limit(20)
                        .toList();
        var books = new Books(TEN, monthly("a", TEN.minus(Duration.ofDays(2)), "60", "team-a"));
        old.forEach(books::told);

        books.pass(Duration.ofMinutes(1));

        assertThat(books.used("a")).isEqualTo(GpuTime.ofMinutes("20"));
        assertThat(books.budget("a").standing(books.clock.instant()).word()).isEqualTo("InBudget");
    }

    @Test
    void aBudgetThatIsDeletedAndMadeAnewIsNoWayToNewMinutes() {
        var books = new Books(TEN, monthly("a", TEN, "60", "team-a"));
        books.told(gpu("team-a", TEN));
        books.pass(Duration.ofMinutes(50));

        books.exist();
        books.pass(Duration.ofMinutes(1));
        books.exist(monthly("a", books.clock.instant(), "60", "team-a"));
        books.pass(Duration.ofMinutes(10));

        assertThat(books.used("a")).isEqualTo(GpuTime.ofMinutes("60"));
        assertThat(books.budget("a").standing(books.clock.instant()).word())
                .isEqualTo("OverBudget");
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aBudgetLoweredBelowWhatIsUsedIsOverFromThenOn() {
        var books = new Books(TEN, monthly("a", TEN, "60", "team-a"));
        books.told(gpu("team-a", TEN));
        books.pass(Duration.ofMinutes(50));

        books.exist(monthly("a", TEN, "40", "team-a"));
        books.pass(Duration.ofSeconds(1));

        assertThat(books.budget("a").standing(books.clock.instant()).word())
                .isEqualTo("OverBudget");
        assertThat(books.budget("a").remaining(TEN.plus(Duration.ofMinutes(50))).orElseThrow())
                .isLessThan(GpuTime.ofMinutes("-9"));
    }

    @Test
    void anotherTimeZoneDoesNotMoveThePeriodThatIsOpen() {
        var books = new Books(TEN, monthly("a", TEN, "60", "team-a"));
        books.told(gpu("team-a", TEN));
        books.pass(AN_HOUR);
        Instant end = books.budget("a").period().end();

        books.exist(
                monthly("a", TEN, "60", "team-a")
                        .every(Unit.Month, "Pacific/Auckland", "2026-01-01T00:00:00"));
        books.pass(AN_HOUR);
        books.restart();

        assertThat(books.budget("a").period().end()).isEqualTo(end);
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void equalPartsOfOneGpuCostOneGpuTogether() {
        var books = new Books(TEN, monthly("a", TEN, "60", "team-a"));
        Stream.generate(() -> Pods.waiting("team-a", 25, 15).boundAt(TEN))
                .limit(4)
                .forEach(books::told);

        books.pass(Duration.ofMinutes(10));

        assertThat(books.used("a")).isEqualTo(GpuTime.ofMinutes("10"));
        assertThat(
                        books.database
                                .jdbc()
                                .sql("select sum(memory_part) from pod_stay")
                                .query(Long.class)
                                .single())
                .isEqualTo(1_000_000);
        assertThat(books.budget("a").rate()).isEqualTo(1_000_000);
    }

    @Test
    void aNamespaceThatMovesWhileTheTimekeeperIsDownPaysItsNewBudgetFromWhenThatIsSeen() {
        var books =
                new Books(
                        TEN,
                        monthly("a", TEN, "6000", "team-a"),
                        monthly("b", TEN, "6000", "team-b"));
        books.told(gpu("team-a", TEN));
        books.pass(Duration.ofMinutes(90));

        books.writtenMeanwhile(
                monthly("a", TEN, "6000", "nobody"), monthly("b", TEN, "6000", "team-a", "team-b"));
        books.clock.pass(Duration.ofMinutes(2));
        books.restart();
        books.pass(Duration.ofMinutes(8));

        assertThat(books.used("a")).isEqualTo(GpuTime.ofMinutes("92"));
        assertThat(books.used("b")).isEqualTo(GpuTime.ofMinutes("8"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aBudgetThatIsDeletedWhileTheTimekeeperIsDownPaidUntilThen() {
        var books = new Books(TEN, monthly("a", TEN, "6000", "team-a"));
        Pods pod = gpu("team-a", TEN);
        books.told(pod);
        books.pass(Duration.ofMinutes(90));

        books.writtenMeanwhile();
        books.restart();
        books.pass(Duration.ofMinutes(10));
        books.told(pod.finishedAt(books.clock.instant()));

        assertThat(used(books, "2026-03-02T10:00:00Z", "2026-03-02T12:00:00Z"))
                .isEqualTo(GpuTime.ofMinutes("90"));
        assertThat(books.charged(pod)).isEqualTo(GpuTime.ofMinutes("100"));
    }

    @Test
    void aPeriodsResultIsWrittenDownAnHourAfterItsEndAndWhatIsToldLaterCountsInTheOpenOne() {
        Instant midnight = Instant.parse("2026-03-03T00:00:00Z");
        var books =
                new Books(
                        TEN,
                        monthly("a", TEN, "600", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        Pods pod = gpu("team-a", TEN);
        books.told(pod);
        books.pass(Duration.ofHours(14));
        books.pass(AN_HOUR);
        books.pass(Duration.ofSeconds(1));

        // It ended an hour before midnight, and only now somebody says so.
        books.told(pod.finishedAt(midnight.minus(AN_HOUR)));

        // Its fourteen hours had overrun the day's ten: 25 % of those are owed, and stay so.
        assertThat(books.budget("a").remaining(books.clock.instant()))
                .contains(GpuTime.ofMinutes("600").minus(GpuTime.ofMinutes("150")).plus(hours(1)));
        GpuTime live = books.used("a");
        books.restart();
        assertThat(books.used("a"))
                .isEqualTo(live)
                .isEqualTo(new GpuTime(-hours(1).microGpuSeconds()));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void whatIsToldLateOverAnEdgeThatIsNoFullHourCountsOnceInEachPeriod() {
        var books =
                new Books(
                        TEN,
                        monthly("a", TEN, "600", "team-a")
                                .every(Unit.Day, "Asia/Kolkata", "2026-01-01T00:00:00"));
        Instant edge = Instant.parse("2026-03-02T18:30:00Z");
        books.pass(Duration.ofHours(10));
        assertThat(books.budget("a").period().start()).isEqualTo(edge);

        books.told(gpu("team-a", edge.minusSeconds(600)).finishedAt(edge.plusSeconds(300)));

        assertThat(books.used("a")).isEqualTo(new GpuTime(900 * 1_000_000L));
        books.restart();
        assertThat(books.used("a")).isEqualTo(new GpuTime(900 * 1_000_000L));
        assertThat(used(books, "2026-03-02T10:00:00Z", "2026-03-02T18:30:00Z"))
                .isEqualTo(new GpuTime(600 * 1_000_000L));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aPeriodThatTwoTimekeepersCloseIsWrittenDownOnce() {
        var books =
                new Books(
                        TEN,
                        monthly("a", TEN, "60", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        books.told(gpu("team-a", TEN).finishedAt(TEN.plus(Duration.ofHours(2))));
        Books twin = books.twin();
        books.pass(Duration.ofHours(14));
        twin.pass(Duration.ZERO);
        books.pass(AN_HOUR);
        List<String> written = periods(books);

        twin.pass(Duration.ofSeconds(1));

        assertThat(periods(books)).isEqualTo(written).hasSize(2);
        assertThat(books.differences()).isEmpty();
    }

    private static List<String> periods(Books books) {
        return books.database
                .jdbc()
                .sql("select budget_period::text from budget_period order by period_start")
                .query((row, number) -> row.getString(1))
                .list();
    }

    @Test
    void aGrantThatBeginsWithThePeriodPaysTheDebtOnce() {
        Instant midnight = Instant.parse("2026-03-03T00:00:00Z");
        var books =
                new Books(
                        TEN,
                        monthly("a", TEN, "600", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        books.grants(new Given("early", "a", "200", midnight, midnight.plus(Duration.ofHours(12))));
        Pods pod = gpu("team-a", TEN);
        books.told(pod);
        books.pass(Duration.ofHours(14));
        books.told(pod.finishedAt(midnight));
        books.pass(Duration.ofHours(2));
        assertThat(books.budget("a").remaining(books.clock.instant()))
                .contains(GpuTime.ofMinutes("650"));

        books.restart();

        assertThat(books.budget("a").remaining(books.clock.instant()))
                .contains(GpuTime.ofMinutes("650"));
        // At noon what is left of the grant is gone, and the allowance is whole.
        books.pass(Duration.ofHours(10));
        assertThat(books.budget("a").remaining(books.clock.instant()))
                .contains(GpuTime.ofMinutes("600"));
        assertThat(books.differences()).isEmpty();
    }

    /** A crash between two statements would give grants back to who has used them. */
    @Test
    void noPeriodIsOpenedWithoutWhatItsGrantsHadLeft() {
        var books =
                new Books(
                        TEN,
                        monthly("a", TEN, "600", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        books.grants(new Given("long", "a", "60", TEN, TEN.plus(Duration.ofDays(3))));
        books.told(gpu("team-a", TEN));
        books.pass(Duration.ofHours(14));
        books.database
                .jdbc()
                .sql("alter table grant_carried add constraint away check (remaining < 0)")
                .update();

        assertThatThrownBy(() -> books.pass(Duration.ofHours(1)))
                .isInstanceOf(DataAccessException.class);

        assertThat(
                        books.database
                                .jdbc()
                                .sql("select count(*) from budget_period")
                                .query(Long.class)
                                .single())
                .isEqualTo(1);
    }

    @Test
    void whatWasLeftInAPastPeriodIsToldByTheTermsOfThatPeriod() {
        var books =
                new Books(
                        TEN,
                        monthly("a", TEN, "600", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        Pods pod = gpu("team-a", TEN);
        var balances = books.balances();
        books.told(pod);
        books.pass(AN_HOUR);
        books.told(pod.finishedAt(TEN.plus(AN_HOUR)));
        books.pass(Duration.ofDays(1));

        books.exist(
                monthly("a", TEN, "1200", "team-a")
                        .every(Unit.Day, "UTC", "2026-01-01T00:00:00")
                        .ofGeneration(3));
        books.pass(Duration.ofHours(2));

        assertThat(balances.at("a", TEN.plus(Duration.ofHours(2))).orElseThrow().remaining())
                .isEqualTo(GpuTime.ofMinutes("540"));
        assertThat(balances.at("a", books.clock.instant()).orElseThrow().remaining())
                .isEqualTo(GpuTime.ofMinutes("1200"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aNamespaceThatABudgetTookOnWhileTheTimekeeperWasDownPaysFromWhenThatIsSeen() {
        var books = new Books(TEN, monthly("a", TEN, "6000", "team-b"));
        books.told(gpu("team-a", TEN));
        books.pass(Duration.ofMinutes(90));

        books.writtenMeanwhile(monthly("a", TEN, "6000", "team-a", "team-b").ofGeneration(2));
        books.clock.pass(Duration.ofMinutes(2));
        books.restart();
        books.pass(Duration.ofMinutes(8));

        assertThat(books.used("a")).isEqualTo(GpuTime.ofMinutes("8"));
    }

    @Test
    void aNamespaceThatIsAddedToABudgetPaysFromThenOnAndNotFromTheLastFullHour() {
        var books = new Books(TEN, monthly("a", TEN, "6000", "team-b"));
        books.told(gpu("team-a", TEN));
        books.pass(Duration.ofMinutes(90));

        books.exist(monthly("a", TEN, "6000", "team-a", "team-b").ofGeneration(2));
        books.pass(Duration.ofMinutes(8));

        assertThat(books.used("a")).isEqualTo(GpuTime.ofMinutes("8"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aClockThatWasAheadOverAPeriodsEndAndIsRightAgainStopsNoAccounts() {
        var books =
                new Books(
                        TEN,
                        monthly("a", TEN, "6000", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        Pods pod = gpu("team-a", TEN);
        books.told(pod);
        books.pass(Duration.ofHours(16));
        books.clock.set(TEN.plus(AN_HOUR));

        books.told(gpu("team-a", books.clock.instant().plusSeconds(5)));
        books.pass(Duration.ofHours(14));

        assertThat(books.charged(pod)).isEqualTo(hours(15));
        assertThat(books.budget("a").remaining(books.clock.instant())).isPresent();
        assertThat(books.differences()).isEmpty();
    }

    @ParameterizedTest(name = "noticed before: {0}")
    @ValueSource(booleans = {true, false})
    void otherMinutesWithinTheHourAfterAPeriodDoNotChangeHowThatPeriodWent(boolean noticed) {
        var daily =
                monthly("a", TEN, "600", "team-a").every(Unit.Day, "UTC", "2026-01-01T00:00:00");
        var books = new Books(TEN, daily);
        books.told(gpu("team-a", TEN));
        books.clock.pass(Duration.ofHours(14).plusMinutes(10));
        if (noticed) {
            books.pass(Duration.ZERO);
        }

        books.exist(
                monthly("a", TEN, "2000", "team-a")
                        .every(Unit.Day, "UTC", "2026-01-01T00:00:00")
                        .ofGeneration(3));
        books.pass(Duration.ZERO);

        // The day had 600 and took 840; 150 of the 240 are owed, whatever the next day has.
        assertThat(books.budget("a").remaining(books.clock.instant()))
                .contains(GpuTime.ofMinutes("1840"));
        assertThat(books.differences()).isEmpty();
    }

    @ParameterizedTest(name = "noticed before: {0}")
    @ValueSource(booleans = {true, false})
    void otherMinutesWhileTheTimekeeperIsDownOverAPeriodsEndDoNotChangeHowThatPeriodWent(
            boolean noticed) {
        var daily =
                monthly("a", TEN, "600", "team-a").every(Unit.Day, "UTC", "2026-01-01T00:00:00");
        var books = new Books(TEN, daily);
        books.told(gpu("team-a", TEN));
        books.pass(AN_HOUR);
        books.clock.pass(Duration.ofHours(13).plusMinutes(10));
        if (noticed) {
            books.pass(Duration.ZERO);
        }

        books.writtenMeanwhile(
                monthly("a", TEN, "2000", "team-a")
                        .every(Unit.Day, "UTC", "2026-01-01T00:00:00")
                        .ofGeneration(3));
        books.clock.pass(Duration.ofMinutes(20));
        books.restart();
        books.pass(AN_HOUR);

        // The day had 600 and took 840; 150 of the 240 are owed, whatever the next day has.
        assertThat(books.budget("a").remaining(books.clock.instant()))
                .contains(GpuTime.ofMinutes("1760"));
        assertThat(books.balances().at("a", books.clock.instant()).orElseThrow().remaining())
                .isEqualTo(GpuTime.ofMinutes("1760"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void whoTakesOverFromALeaderThatDiedOverAnEditCarriesItOut() {
        var leader = new Books(TEN, monthly("a", TEN, "6000", "team-a"));
        leader.told(gpu("team-a", TEN));
        Books next = leader.follower();
        leader.pass(Duration.ofMinutes(10));
        next.look();

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
    void aNamespaceThatIsDeletedAndMadeAnewIsNoWayToNewMinutes() {
        Books books = Books.withDefault("PerNamespace", TEN);
        Pods first = gpu("team-a", TEN);
        books.told(first);
        books.exist(monthly("team-a", TEN.plusSeconds(2), "60", "team-a").byDefaultItself());
        books.pass(Duration.ofMinutes(50));

        books.removed(first.removedAt(books.clock.instant()));
        books.pass(AN_HOUR);
        books.told(gpu("team-a", books.clock.instant()));
        books.pass(Duration.ofMinutes(10));

        assertThat(books.used("team-a")).isEqualTo(GpuTime.ofMinutes("60"));
        assertThat(books.budget("team-a").standing(books.clock.instant()).word())
                .isEqualTo("OverBudget");
    }

    /** Its end lies between the last word before the first start and the second list. */
    @Test
    void aPodThatVanishedIsNotChargedForAnOutageAfterWhichTheTimekeeperWasKilledOnceMore() {
        var books = new Books(TEN, monthly("a", TEN, "6000", "team-a"));
        Pods pod = gpu("team-a", TEN);
        books.told(pod);
        books.clock.pass(AN_HOUR);
        books.told(pod);
        books.vanished(pod);
        books.clock.pass(Duration.ofHours(5));

        // It would go on where it was, but it is killed before the pod's end is told. When it is
        // back, the API server has forgotten.
        books.wake();
        books.listed();
        books.told(gpu("team-b", books.clock.instant()));
        books.clock.pass(Duration.ofMinutes(5));
        books.restart();

        PodStay stay = books.stay(pod);
        assertThat(stay.until()).isEqualTo(TEN.plus(AN_HOUR));
        assertThat(stay.endBound()).isEqualTo(books.clock.instant());
        assertThat(books.used("a")).isEqualTo(hours(1));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aClockThatWasAheadBeforeAKillEndsNoVanishedPodInTheFuture() {
        var books = new Books(TEN, monthly("a", TEN, "6000", "team-a"));
        Pods pod = gpu("team-a", TEN);
        books.told(pod);
        books.clock.set(TEN.plus(Duration.ofHours(9)));
        books.told(pod);
        books.vanished(pod);

        books.clock.set(TEN.plus(AN_HOUR));
        books.restart();

        assertThat(books.stay(pod).until()).isEqualTo(TEN.plus(AN_HOUR));
        assertThat(books.used("a")).isEqualTo(hours(1));
        assertThat(books.differences()).isEmpty();
    }

    /** What is concluded from pods that look as if they still ran is written down for good. */
    @Test
    void aPeriodThatEndedWhileTheTimekeeperWasDownIsNotClosedBeforeItsPodsAreListed() {
        var books =
                new Books(
                        TEN,
                        monthly("a", TEN, "600", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        Pods pod = gpu("team-a", TEN);
        books.told(pod);
        books.pass(AN_HOUR);
        books.vanished(pod);
        books.clock.pass(Duration.ofHours(15));

        books.wake();
        books.pass(Duration.ofSeconds(1));
        assertThat(books.settled()).isFalse();
        books.listed();
        books.removed(pod.finishedAt(TEN.plus(Duration.ofHours(9))));
        books.pass(Duration.ofMinutes(1));

        // Nine of its ten hours were used, so nothing is owed.
        assertThat(books.budget("a").remaining(books.clock.instant()))
                .contains(GpuTime.ofMinutes("600"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aPeriodIsNotClosedWhileTheApiServerIsSlowToTellWhatHappenedMeanwhile() {
        var books =
                new Books(
                        TEN,
                        monthly("a", TEN, "600", "team-a")
                                .every(Unit.Day, "UTC", "2026-01-01T00:00:00"));
        Pods pod = gpu("team-a", TEN);
        books.told(pod);
        books.pass(AN_HOUR);
        books.vanished(pod);
        books.clock.pass(Duration.ofHours(15));

        books.wake();
        books.listedBeforeTheWatchIsOpen();
        books.pass(Duration.ofSeconds(5));
        books.removed(pod.finishedAt(TEN.plus(Duration.ofHours(9))));
        books.pass(Duration.ofMinutes(1));

        // Nine of its ten hours were used, so nothing is owed.
        assertThat(books.budget("a").remaining(books.clock.instant()))
                .contains(GpuTime.ofMinutes("600"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aNodeThatTellsNothingAtARestartChangesNoRate() {
        var quarter = monthly("a", TEN, "6000", "team-a").fixed(50, 15);
        var books = new Books(TEN, quarter);
        Pods pod = Pods.waiting("team-a", 10, 15).boundAt(TEN);
        books.told(pod);
        books.pass(AN_HOUR);
        assertThat(books.used("a")).isEqualTo(hours(1));

        books.node(NodeFacts.UNKNOWN);
        books.restart();
        books.pass(AN_HOUR);

        assertThat(books.used("a")).isEqualTo(hours(2));
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(
            strings = {
                "charge add constraint away check (amount < 0) not valid",
                "pod_stay add constraint away check (budget <> 'b') not valid"
            })
    void anEditHoldsFromWhenItWasSeenWhereverTheDatabaseFailsWhileItIsCarriedOut(String fails) {
        var books =
                new Books(
                        TEN,
                        monthly("a", TEN, "6000", "team-a"),
                        monthly("b", TEN, "6000", "team-b"));
        books.told(gpu("team-a", TEN));
        books.pass(Duration.ofMinutes(50));

        books.database.jdbc().sql("alter table " + fails).update();
        assertThatThrownBy(() ->
                        books.exist(
                                monthly("a", TEN, "6000").ofGeneration(2),
                                monthly("b", TEN, "6000", "team-a", "team-b").ofGeneration(2)))
                .isInstanceOf(DataAccessException.class);
        String table = fails.substring(0, fails.indexOf(' '));
        books.database.jdbc().sql("alter table " + table + " drop constraint away").update();
        books.pass(Duration.ofMinutes(20));

        assertThat(books.used("a")).isEqualTo(GpuTime.ofMinutes("50"));
        assertThat(books.used("b")).isEqualTo(GpuTime.ofMinutes("20"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aPodThatCameAndVanishedWhileTheTimekeeperWasDownIsChargedToNobody() {
        var books = new Books(TEN, monthly("a", TEN, "6000", "team-a"));
        books.clock.pass(AN_HOUR);
        Pods unseen = gpu("team-a", TEN.plusSeconds(60));
        books.vanished(unseen);

        books.restart();
        books.pass(Duration.ofMinutes(1));

        // Nothing anywhere says that it was there but the API server's audit log.
        assertThat(books.charged(unseen)).isEqualTo(GpuTime.ZERO);
        assertThat(books.used("a")).isEqualTo(GpuTime.ZERO);
    }
}
