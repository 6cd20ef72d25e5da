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
}
