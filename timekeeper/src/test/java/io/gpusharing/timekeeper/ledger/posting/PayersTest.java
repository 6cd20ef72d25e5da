package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.ledger.Payer;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Who pays, where budgets change while the timekeeper or its database is away. */
class PayersTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration AN_HOUR = Duration.ofHours(1);

    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));

    private Pods gpu(Instant from) {
        return Pods.waiting("team-a", 100, 0).boundAt(from);
    }

    /** What each budget was charged, corrected. */
    private Map<String, GpuTime> charged() {
        return ledger
                .database
                .jdbc()
                .sql("select budget, sum(amount) as amount from pod_charge group by budget")
                .query((row, number) ->
                        Map.entry(row.getString("budget"), new GpuTime(row.getLong("amount"))))
                .list()
                .stream()
                .filter(it -> !it.getValue().equals(GpuTime.ZERO))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    private static GpuTime minutes(int minutes) {
        return GpuTime.ofMinutes(Integer.toString(minutes));
    }

    @Test
    void aBudgetThatIsDeletedWhileTheDatabaseIsAwayPaysForNothingThereafter() {
        Pods running = gpu(TEN);
        ledger.onUpdate(running);
        ledger.pass(AN_HOUR);
        ledger.existUnposted();
        ledger.clock.pass(Duration.ofMinutes(4));
        Pods late = gpu(ledger.clock.instant());

        ledger.onUpdate(late);
        ledger.clock.pass(Duration.ofMinutes(1));
        ledger.removed(late.finishedAt(ledger.clock.instant()));
        ledger.removed(running.finishedAt(ledger.clock.instant()));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(60), Payer.NOBODY, minutes(6)));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aBudgetThatMovesTwiceWhileTheDatabaseIsAwayPaysForWhatItHadAtEachTime() {
        ledger.onUpdate(gpu(TEN));
        ledger.pass(AN_HOUR);
        ledger.existUnposted(monthly("b", TEN, "6000", "team-a").ofGeneration(2));
        ledger.clock.pass(Duration.ofMinutes(10));
        ledger.existUnposted(monthly("c", TEN, "6000", "team-a").ofGeneration(2));
        ledger.pass(AN_HOUR);
        ledger.pass(AN_HOUR);

        assertThat(charged())
                .containsEntry("a", minutes(60))
                .containsEntry("b", minutes(10))
                .containsKey("c");
        assertThat(ledger.differences()).isEmpty();
    }

    /**
     * It was charged to nobody: the new budget had not been there, and the old one was forgotten.
     */
    @Test
    void aPodThatEndedBeforeItsNamespaceMovedWhileTheTimekeeperWasDownIsPaidByWhoHadItThen() {
        ledger.pass(AN_HOUR);
        Pods pod = gpu(ledger.clock.instant());
        Instant end = ledger.clock.instant().plus(Duration.ofMinutes(9));
        ledger.writtenMeanwhile(monthly("b", end.plusSeconds(1), "6000", "team-a"));
        ledger.clock.pass(Duration.ofMinutes(20));

        ledger.wake();
        ledger.listed();
        ledger.onUpdate(pod.finishedAt(end));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(9)));
        assertThat(ledger.allocation(pod).budget()).isEqualTo("a");
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void anEditWhileTheTimekeeperWasDownHoldsFromWhenTheApiServerSaysThatItWasMade() {
        ledger.onUpdate(gpu(TEN));
        ledger.pass(AN_HOUR);
        Instant moved = ledger.clock.instant().plus(Duration.ofMinutes(10));
        ledger.writtenMeanwhile(
                monthly("a", TEN, "6000", "team-x").ofGeneration(2).writtenAt(moved),
                monthly("b", TEN, "6000", "team-a").ofGeneration(2).writtenAt(moved));
        ledger.clock.pass(Duration.ofMinutes(20));
        Pods late = gpu(ledger.clock.instant().minus(Duration.ofMinutes(5)));

        ledger.wake();
        ledger.listed();
        ledger.onUpdate(late);
        ledger.removed(late.finishedAt(ledger.clock.instant()));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(70), "b", minutes(5)));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aPodThatEndedAfterItsNamespaceMovedWhileTheTimekeeperWasDownIsPaidByEachForItsTime() {
        Pods pod = gpu(TEN);
        ledger.onUpdate(pod);
        ledger.pass(AN_HOUR);
        Instant moved = ledger.clock.instant().plus(Duration.ofMinutes(10));
        ledger.writtenMeanwhile(
                monthly("a", TEN, "6000", "team-x").ofGeneration(2).writtenAt(moved),
                monthly("b", TEN, "6000", "team-a").ofGeneration(2).writtenAt(moved));
        ledger.changedMeanwhile(pod.finishedAt(moved.plus(Duration.ofMinutes(5))));
        ledger.clock.pass(Duration.ofMinutes(20));

        ledger.wake();
        ledger.listed();

        assertThat(charged()).isEqualTo(Map.of("a", minutes(70), "b", minutes(5)));
        assertThat(ledger.allocation(pod).budget()).isEqualTo("b");
        assertThat(ledger.differences()).isEmpty();
    }

    /** Its row went on to name the budget that had paid last, and got it all back. */
    @Test
    void aPodThatTurnsOutToHaveEndedBeforeItsNamespaceMovedNamesWhoPaidThen() {
        Pods pod = gpu(TEN);
        ledger.onUpdate(pod);
        ledger.pass(AN_HOUR);
        ledger.exist(monthly("b", ledger.clock.instant(), "6000", "team-a").fixed(50, 15));
        ledger.pass(Duration.ofMinutes(5));

        ledger.removed(pod.finishedAt(TEN.plus(Duration.ofMinutes(59))));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(59)));
        assertThat(ledger.allocation(pod).budget()).isEqualTo("a");
        assertThat(ledger.allocation(pod).rate()).isEqualTo(1_000_000);
        assertThat(ledger.differences()).isEmpty();
    }

    /** Its row named the budget that should have paid, of which there was no entry. */
    @Test
    void aPodThatEndedAfterAMoveThatWasSeenLateNamesWhoWasCharged() {
        Pods pod = gpu(TEN);
        ledger.onUpdate(pod);
        ledger.pass(AN_HOUR);
        ledger.pass(Duration.ofMinutes(1));
        Instant moved = TEN.plus(Duration.ofMinutes(30));
        ledger.exist(
                monthly("a", TEN, "6000", "team-x").ofGeneration(2).writtenAt(moved),
                monthly("b", TEN, "6000", "team-a").ofGeneration(2).writtenAt(moved));
        ledger.pass(Duration.ofMinutes(5));

        ledger.removed(pod.finishedAt(TEN.plus(Duration.ofMinutes(45))));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(45)));
        assertThat(ledger.allocation(pod).budget()).isEqualTo("a");
        assertThat(ledger.differences()).isEmpty();
    }

    /** Its row named nobody. */
    @Test
    void aPodThatEndedLongerAgoThanPayersAreKeptStaysWithTheBudgetThatItHas() {
        Pods pod = gpu(TEN);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofDays(1));
        ledger.exist(monthly("b", ledger.clock.instant(), "6000", "team-a"));
        ledger.pass(Duration.ofDays(9));
        ledger.exist(
                monthly("b", TEN.plus(Duration.ofDays(1)), "6000", "team-a"),
                monthly("c", ledger.clock.instant(), "6000", "team-c"));
        ledger.pass(AN_HOUR);

        ledger.wake();
        ledger.listed();
        ledger.removed(pod.finishedAt(TEN.plus(Duration.ofHours(12))));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(720)));
        assertThat(ledger.allocation(pod).budget()).isEqualTo("b");
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aPodThatEndsInTheSecondInWhichItsNamespaceMovesIsOfWhoHadItUntilThen() {
        Pods pod = gpu(TEN);
        ledger.onUpdate(pod);
        ledger.pass(AN_HOUR);
        Instant moved = ledger.clock.instant();
        ledger.exist(monthly("b", moved, "6000", "team-a"));
        ledger.pass(Duration.ofMinutes(5));

        ledger.removed(pod.finishedAt(moved));

        assertThat(ledger.allocation(pod).budget()).isEqualTo("a");
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aPodThatWasTakenForGoneWhenItsNamespaceMovedIsPaidByEachForItsTime() {
        Pods pod = gpu(TEN);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(30));
        ledger.vanished(pod);
        ledger.listedAnew();
        ledger.pass(Duration.ofMinutes(10));
        ledger.exist(monthly("b", ledger.clock.instant(), "6000", "team-a"));
        ledger.pass(Duration.ofMinutes(10));

        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(10));
        ledger.removed(pod.finishedAt(ledger.clock.instant()));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(40), "b", minutes(20)));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aBudgetThatWasMadeAnewWhileTheTimekeeperWasDownPaysOn() {
        Pods pod = gpu(TEN);
        ledger.onUpdate(pod);
        ledger.pass(AN_HOUR);
        ledger.writtenMeanwhile(
                monthly("a", ledger.clock.instant().plusSeconds(60), "6000", "team-a"));
        ledger.clock.pass(Duration.ofMinutes(20));

        ledger.wake();
        ledger.listed();
        ledger.removed(pod.finishedAt(ledger.clock.instant()));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(80)));
        assertThat(ledger.differences()).isEmpty();
    }

    /**
     * It was charged to nobody from the edit before: the API server stamps no edit that only takes
     * items away, and its stamp was believed to be of this one.
     */
    @Test
    void aNamespaceThatIsOnlyTakenAwayIsPaidForUntilThatIsSeen() {
        ledger.onUpdate(gpu(TEN));
        ledger.pass(Duration.ofMinutes(10));
        Instant edited = ledger.clock.instant();
        ledger.exist(monthly("a", TEN, "7000", "team-a").ofGeneration(2).writtenAt(edited));
        ledger.pass(Duration.ofMinutes(20));

        ledger.exist(monthly("a", TEN, "7000", "team-x").ofGeneration(3).writtenAt(edited));
        ledger.pass(AN_HOUR);

        assertThat(charged()).isEqualTo(Map.of("a", minutes(30), Payer.NOBODY, minutes(30)));
        assertThat(ledger.differences()).isEmpty();
    }

    /** Its heir was charged from its own creation on, although it had not got the namespace. */
    @Test
    void whatTheTimekeeperSawBeforeItWasKilledDatesNothingThatHappenedAfterwards() {
        Pods pod = gpu(TEN);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(10));
        Instant written = ledger.clock.instant();
        var heir = monthly("b", written, "6000", "team-a");
        ledger.exist(monthly("a", TEN, "7000", "team-a").ofGeneration(2).writtenAt(written), heir);
        ledger.pass(Duration.ofMinutes(30));
        Instant moved = ledger.clock.instant().plus(Duration.ofMinutes(10));
        ledger.writtenMeanwhile(
                monthly("a", TEN, "7000", "team-x").ofGeneration(3).writtenAt(moved), heir);
        ledger.clock.pass(Duration.ofMinutes(20));

        ledger.wake();
        ledger.listed();
        ledger.removed(pod.finishedAt(ledger.clock.instant()));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(50), "b", minutes(10)));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aBudgetThatIsDeletedWhileTheTimekeeperIsDownPaysUntilTheNextStart() {
        Pods pod = gpu(TEN);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(10));
        var heir = monthly("b", ledger.clock.instant(), "6000", "team-a");
        ledger.exist(monthly("a", TEN, "6000", "team-a"), heir);
        ledger.pass(Duration.ofMinutes(20));
        ledger.writtenMeanwhile(heir);
        ledger.clock.pass(Duration.ofMinutes(20));

        ledger.wake();
        ledger.listed();
        ledger.clock.pass(Duration.ofMinutes(5));
        ledger.removed(pod.finishedAt(ledger.clock.instant()));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(50), "b", minutes(5)));
        assertThat(ledger.differences()).isEmpty();
    }

    /** It was charged from the creation on, in which it had not got the namespace. */
    @Test
    void aNewBudgetThatIsGivenANamespaceByAnEditWhileTheTimekeeperIsDownPaysFromThatEdit() {
        Pods pod = gpu(TEN);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(10));
        Instant created = ledger.clock.instant().plus(Duration.ofMinutes(1));
        Instant moved = created.plus(Duration.ofMinutes(5));
        ledger.writtenMeanwhile(
                monthly("a", TEN, "6000", "team-x")
                        .ofGeneration(2)
                        .writtenAt(moved.minusSeconds(60)),
                monthly("b", created, "6000", "team-a").ofGeneration(2).writtenAt(moved));
        ledger.clock.pass(Duration.ofMinutes(20));

        ledger.wake();
        ledger.listed();
        ledger.removed(pod.finishedAt(ledger.clock.instant()));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(16), "b", minutes(14)));
        assertThat(ledger.differences()).isEmpty();
    }

    /** Edits were compared with the clock of the timekeeper that had seen the ones before. */
    @Test
    void aMoveCountsFromItsEditAlsoWhereAClockThatWasAheadHadSeenTheBudgetsBefore() {
        ledger.clock.set(TEN.plus(Duration.ofHours(3)));
        ledger.exist(
                monthly("a", TEN, "6000", "team-a").ofGeneration(2).writtenAt(TEN),
                monthly("b", TEN, "6000", "team-b"));
        ledger.clock.set(TEN.plusSeconds(60));
        Pods pod = gpu(TEN.plusSeconds(60));
        ledger.onUpdate(pod);
        Instant moved = TEN.plus(Duration.ofMinutes(11));
        ledger.writtenMeanwhile(
                monthly("a", TEN, "6000", "team-x").ofGeneration(3).writtenAt(moved),
                monthly("b", TEN, "6000", "team-a").ofGeneration(2).writtenAt(moved));
        ledger.clock.set(TEN.plus(Duration.ofMinutes(21)));

        ledger.wake();
        ledger.listed();
        ledger.removed(pod.finishedAt(ledger.clock.instant()));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(10), "b", minutes(10)));
        assertThat(ledger.differences()).isEmpty();
    }

    /** The budget that gains a namespace may be written before the one that gives it away. */
    @Test
    void aMoveByTwoEditsWhileTheTimekeeperWasDownHoldsFromTheSecond() {
        Pods pod = gpu(TEN);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(10));
        Instant gained = ledger.clock.instant().plus(Duration.ofMinutes(5));
        Instant given = gained.plus(Duration.ofMinutes(1));
        ledger.writtenMeanwhile(
                monthly("a", TEN, "6000", "team-x").ofGeneration(2).writtenAt(given),
                monthly("b", gained, "6000", "team-a"));
        ledger.clock.pass(Duration.ofMinutes(20));

        ledger.wake();
        ledger.listed();
        ledger.removed(pod.finishedAt(ledger.clock.instant()));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(16), "b", minutes(14)));
        assertThat(ledger.differences()).isEmpty();
    }
}
