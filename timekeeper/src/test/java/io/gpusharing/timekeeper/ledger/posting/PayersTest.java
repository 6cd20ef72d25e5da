package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.ledger.Payer;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who pays, where budgets change while the timekeeper or its database is away. */
class PayersTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration AN_HOUR = Duration.ofHours(1);

    private final TestLedger ledger = new TestLedger(TEN, ofTheTeam("a", TEN));

    @AfterEach
    void theLedgerIsSound() {
        assertThat(ledger.differences()).isEmpty();
    }

    private Instant now() {
        return ledger.clock.instant();
    }

    private static Pods gpu(Instant from) {
        return Pods.waiting("team-a", 100, 0).boundAt(from);
    }

    /** A pod whose start is seen. */
    private Pods runs(Instant from) {
        Pods pod = gpu(from);
        ledger.onUpdate(pod);
        return pod;
    }

    private void ends(Pods pod) {
        ledger.removed(pod.finishedAt(now()));
    }

    private void startsAgain() {
        ledger.wake();
        ledger.listed();
    }

    private static Written ofTheTeam(String budget, Instant created) {
        return monthly(budget, created, "6000", "team-a");
    }

    /** Budget a, without its namespace since then. */
    private static Written givenAway(Instant at) {
        return monthly("a", TEN, "6000", "team-x").ofGeneration(2).writtenAt(at);
    }

    /** The namespace goes from a to b. */
    private static Written[] move(Instant at) {
        return new Written[] {givenAway(at), ofTheTeam("b", TEN).ofGeneration(2).writtenAt(at)};
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
        Pods running = runs(TEN);
        ledger.pass(AN_HOUR);
        ledger.existUnposted();
        ledger.clock.pass(Duration.ofMinutes(4));
        Pods late = gpu(now());

        ledger.onUpdate(late);
        ledger.clock.pass(Duration.ofMinutes(1));
        ends(late);
        ends(running);

        assertThat(charged()).isEqualTo(Map.of("a", minutes(60), Payer.NOBODY, minutes(6)));
    }

    @Test
    void aBudgetThatMovesTwiceWhileTheDatabaseIsAwayPaysForWhatItHadAtEachTime() {
        runs(TEN);
        ledger.pass(AN_HOUR);
        ledger.existUnposted(ofTheTeam("b", TEN).ofGeneration(2));
        ledger.clock.pass(Duration.ofMinutes(10));
        ledger.existUnposted(ofTheTeam("c", TEN).ofGeneration(2));
        ledger.pass(AN_HOUR);
        ledger.pass(AN_HOUR);

        assertThat(charged())
                .containsEntry("a", minutes(60))
                .containsEntry("b", minutes(10))
                .containsKey("c");
    }

    /**
     * It was charged to nobody: the new budget had not been there, and the old one was forgotten.
     */
    @Test
    void aPodThatEndedBeforeItsNamespaceMovedWhileTheTimekeeperWasDownIsPaidByWhoHadItThen() {
        ledger.pass(AN_HOUR);
        Pods pod = gpu(now());
        Instant end = now().plus(Duration.ofMinutes(9));
        ledger.writtenMeanwhile(ofTheTeam("b", end.plusSeconds(1)));
        ledger.clock.pass(Duration.ofMinutes(20));

        startsAgain();
        ledger.onUpdate(pod.finishedAt(end));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(9)));
        assertThat(ledger.allocation(pod).budget()).isEqualTo("a");
    }

    @Test
    void anEditWhileTheTimekeeperWasDownHoldsFromWhenTheApiServerSaysThatItWasMade() {
        runs(TEN);
        ledger.pass(AN_HOUR);
        Instant moved = now().plus(Duration.ofMinutes(10));
        ledger.writtenMeanwhile(move(moved));
        ledger.clock.pass(Duration.ofMinutes(20));
        Pods late = gpu(now().minus(Duration.ofMinutes(5)));

        startsAgain();
        ledger.onUpdate(late);
        ends(late);

        assertThat(charged()).isEqualTo(Map.of("a", minutes(70), "b", minutes(5)));
    }

    @Test
    void aPodThatEndedAfterItsNamespaceMovedWhileTheTimekeeperWasDownIsPaidByEachForItsTime() {
        Pods pod = runs(TEN);
        ledger.pass(AN_HOUR);
        Instant moved = now().plus(Duration.ofMinutes(10));
        ledger.writtenMeanwhile(move(moved));
        ledger.changedMeanwhile(pod.finishedAt(moved.plus(Duration.ofMinutes(5))));
        ledger.clock.pass(Duration.ofMinutes(20));

        startsAgain();

        assertThat(charged()).isEqualTo(Map.of("a", minutes(70), "b", minutes(5)));
        assertThat(ledger.allocation(pod).budget()).isEqualTo("b");
    }

    /** Its row went on to name the budget that had paid last, and got it all back. */
    @Test
    void aPodThatTurnsOutToHaveEndedBeforeItsNamespaceMovedNamesWhoPaidThen() {
        Pods pod = runs(TEN);
        ledger.pass(AN_HOUR);
        ledger.exist(ofTheTeam("b", now()).fixed(50, 15));
        ledger.pass(Duration.ofMinutes(5));

        ledger.removed(pod.finishedAt(TEN.plus(Duration.ofMinutes(59))));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(59)));
        assertThat(ledger.allocation(pod).budget()).isEqualTo("a");
        assertThat(ledger.allocation(pod).rate()).isEqualTo(1_000_000);
    }

    /** Its row named the budget that should have paid, of which there was no entry. */
    @Test
    void aPodThatEndedAfterAMoveThatWasSeenLateNamesWhoWasCharged() {
        Pods pod = runs(TEN);
        ledger.pass(AN_HOUR);
        ledger.pass(Duration.ofMinutes(1));
        Instant moved = TEN.plus(Duration.ofMinutes(30));
        ledger.exist(move(moved));
        ledger.pass(Duration.ofMinutes(5));

        ledger.removed(pod.finishedAt(TEN.plus(Duration.ofMinutes(45))));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(45)));
        assertThat(ledger.allocation(pod).budget()).isEqualTo("a");
    }

    /** Its row named nobody. */
    @Test
    void aPodThatEndedLongerAgoThanPayersAreKeptStaysWithTheBudgetThatItHas() {
        Pods pod = runs(TEN);
        ledger.pass(Duration.ofDays(1));
        ledger.exist(ofTheTeam("b", now()));
        ledger.pass(Duration.ofDays(9));
        ledger.exist(
                ofTheTeam("b", TEN.plus(Duration.ofDays(1))),
                monthly("c", now(), "6000", "team-c"));
        ledger.pass(AN_HOUR);

        startsAgain();
        ledger.removed(pod.finishedAt(TEN.plus(Duration.ofHours(12))));

        assertThat(charged()).isEqualTo(Map.of("a", minutes(720)));
        assertThat(ledger.allocation(pod).budget()).isEqualTo("b");
    }

    @Test
    void aPodThatEndsInTheSecondInWhichItsNamespaceMovesIsOfWhoHadItUntilThen() {
        Pods pod = runs(TEN);
        ledger.pass(AN_HOUR);
        Instant moved = now();
        ledger.exist(ofTheTeam("b", moved));
        ledger.pass(Duration.ofMinutes(5));

        ledger.removed(pod.finishedAt(moved));

        assertThat(ledger.allocation(pod).budget()).isEqualTo("a");
    }

    @Test
    void aPodThatWasTakenForGoneWhenItsNamespaceMovedIsPaidByEachForItsTime() {
        Pods pod = runs(TEN);
        ledger.pass(Duration.ofMinutes(30));
        ledger.vanished(pod);
        ledger.listedAnew();
        ledger.pass(Duration.ofMinutes(10));
        ledger.exist(ofTheTeam("b", now()));
        ledger.pass(Duration.ofMinutes(10));

        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(10));
        ends(pod);

        assertThat(charged()).isEqualTo(Map.of("a", minutes(40), "b", minutes(20)));
    }

    @Test
    void aBudgetThatWasMadeAnewWhileTheTimekeeperWasDownPaysOn() {
        Pods pod = runs(TEN);
        ledger.pass(AN_HOUR);
        ledger.writtenMeanwhile(ofTheTeam("a", now().plusSeconds(60)));
        ledger.clock.pass(Duration.ofMinutes(20));

        startsAgain();
        ends(pod);

        assertThat(charged()).isEqualTo(Map.of("a", minutes(80)));
    }

    /**
     * It was charged to nobody from the edit before: the API server stamps no edit that only takes
     * items away, and its stamp was believed to be of this one.
     */
    @Test
    void aNamespaceThatIsOnlyTakenAwayIsPaidForUntilThatIsSeen() {
        runs(TEN);
        ledger.pass(Duration.ofMinutes(10));
        Instant edited = now();
        ledger.exist(monthly("a", TEN, "7000", "team-a").ofGeneration(2).writtenAt(edited));
        ledger.pass(Duration.ofMinutes(20));

        ledger.exist(monthly("a", TEN, "7000", "team-x").ofGeneration(3).writtenAt(edited));
        ledger.pass(AN_HOUR);

        assertThat(charged()).isEqualTo(Map.of("a", minutes(30), Payer.NOBODY, minutes(30)));
    }

    /** Its heir was charged from its own creation on, although it had not got the namespace. */
    @Test
    void whatTheTimekeeperSawBeforeItWasKilledDatesNothingThatHappenedAfterwards() {
        Pods pod = runs(TEN);
        ledger.pass(Duration.ofMinutes(10));
        Instant written = now();
        var heir = ofTheTeam("b", written);
        ledger.exist(monthly("a", TEN, "7000", "team-a").ofGeneration(2).writtenAt(written), heir);
        ledger.pass(Duration.ofMinutes(30));
        Instant moved = now().plus(Duration.ofMinutes(10));
        ledger.writtenMeanwhile(
                monthly("a", TEN, "7000", "team-x").ofGeneration(3).writtenAt(moved), heir);
        ledger.clock.pass(Duration.ofMinutes(20));

        startsAgain();
        ends(pod);

        assertThat(charged()).isEqualTo(Map.of("a", minutes(50), "b", minutes(10)));
    }

    @Test
    void aBudgetThatIsDeletedWhileTheTimekeeperIsDownPaysUntilTheNextStart() {
        Pods pod = runs(TEN);
        ledger.pass(Duration.ofMinutes(10));
        var heir = ofTheTeam("b", now());
        ledger.exist(ofTheTeam("a", TEN), heir);
        ledger.pass(Duration.ofMinutes(20));
        ledger.writtenMeanwhile(heir);
        ledger.clock.pass(Duration.ofMinutes(20));

        startsAgain();
        ledger.clock.pass(Duration.ofMinutes(5));
        ends(pod);

        assertThat(charged()).isEqualTo(Map.of("a", minutes(50), "b", minutes(5)));
    }

    /** It was charged from the creation on, in which it had not got the namespace. */
    @Test
    void aNewBudgetThatIsGivenANamespaceByAnEditWhileTheTimekeeperIsDownPaysFromThatEdit() {
        Pods pod = runs(TEN);
        ledger.pass(Duration.ofMinutes(10));
        Instant created = now().plus(Duration.ofMinutes(1));
        Instant moved = created.plus(Duration.ofMinutes(5));
        ledger.writtenMeanwhile(
                givenAway(moved.minusSeconds(60)),
                ofTheTeam("b", created).ofGeneration(2).writtenAt(moved));
        ledger.clock.pass(Duration.ofMinutes(20));

        startsAgain();
        ends(pod);

        assertThat(charged()).isEqualTo(Map.of("a", minutes(16), "b", minutes(14)));
    }

    /** Edits were compared with the clock of the timekeeper that had seen the ones before. */
    @Test
    void aMoveCountsFromItsEditAlsoWhereAClockThatWasAheadHadSeenTheBudgetsBefore() {
        ledger.clock.set(TEN.plus(Duration.ofHours(3)));
        ledger.exist(
                ofTheTeam("a", TEN).ofGeneration(2).writtenAt(TEN),
                monthly("b", TEN, "6000", "team-b"));
        ledger.clock.set(TEN.plusSeconds(60));
        Pods pod = runs(TEN.plusSeconds(60));
        Instant moved = TEN.plus(Duration.ofMinutes(11));
        ledger.writtenMeanwhile(
                monthly("a", TEN, "6000", "team-x").ofGeneration(3).writtenAt(moved),
                ofTheTeam("b", TEN).ofGeneration(2).writtenAt(moved));
        ledger.clock.set(TEN.plus(Duration.ofMinutes(21)));

        startsAgain();
        ends(pod);

        assertThat(charged()).isEqualTo(Map.of("a", minutes(10), "b", minutes(10)));
    }

    /** The budget that gains a namespace may be written before the one that gives it away. */
    @Test
    void aMoveByTwoEditsWhileTheTimekeeperWasDownHoldsFromTheSecond() {
        Pods pod = runs(TEN);
        ledger.pass(Duration.ofMinutes(10));
        Instant gained = now().plus(Duration.ofMinutes(5));
        Instant given = gained.plus(Duration.ofMinutes(1));
        ledger.writtenMeanwhile(givenAway(given), ofTheTeam("b", gained));
        ledger.clock.pass(Duration.ofMinutes(20));

        startsAgain();
        ends(pod);

        assertThat(charged()).isEqualTo(Map.of("a", minutes(16), "b", minutes(14)));
    }
}
