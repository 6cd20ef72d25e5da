package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;

/** Pods without our label, which only the sweep over all pods finds. */
class UnlabelledPodsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration A_QUARTER = Duration.ofMinutes(15);

    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "1000", "team-a"));
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN.plusSeconds(60));

    @Test
    void isChargedFromItsBindingNotFromWhenItWasFound() {
        ledger.pass(A_QUARTER);
        ledger.sweepFinds(pod);

        assertThat(ledger.charged(pod)).isEqualTo(GpuTime.ofMinutes("7"));
    }

    @Test
    void isNotChargedFromBeforeTheInstallation() {
        Pods old = Pods.waiting("team-a", 50, 15).boundAt(TEN.minus(Duration.ofDays(30)));

        ledger.pass(Duration.ofMinutes(10));
        ledger.sweepFinds(old);

        assertThat(ledger.charged(old)).isEqualTo(GpuTime.ofMinutes("5"));
    }

    @Test
    void anEndThatCanStillBeSeenIsExact() {
        ledger.pass(A_QUARTER);
        ledger.sweepFinds(pod);
        ledger.pass(A_QUARTER);

        ledger.sweepFinds(pod.finishedAt(TEN.plusSeconds(60 + 1200)));
        ledger.pass(A_QUARTER);
        ledger.sweepFinds(pod.finishedAt(TEN.plusSeconds(60 + 1200)));

        assertThat(ledger.charged(pod)).isEqualTo(GpuTime.ofMinutes("10"));
        assertThat(ledger.allocation(pod).estimated()).isFalse();
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void anEndBetweenTwoSweepsIsEstimatedWithItsBound() {
        ledger.pass(A_QUARTER);
        ledger.sweepFinds(pod);
        ledger.pass(A_QUARTER);

        ledger.sweepFinds();

        assertThat(ledger.allocation(pod).until()).isEqualTo(TEN.plus(A_QUARTER));
        assertThat(ledger.allocation(pod).endBound())
                .isEqualTo(TEN.plus(A_QUARTER).plus(A_QUARTER));
        assertThat(ledger.allocation(pod).estimated()).isTrue();
    }

    @Test
    void anUnobservedEndLiesBetweenTheLastSweepBeforeAndTheFirstAfter() {
        ledger.pass(A_QUARTER);
        ledger.sweepFinds(pod);
        ledger.pass(Duration.ofHours(1));
        ledger.clock.pass(Duration.ofHours(5));

        ledger.restart();
        ledger.pass(Duration.ofMinutes(1));
        ledger.sweepFinds();

        assertThat(ledger.allocation(pod).until()).isEqualTo(TEN.plus(A_QUARTER));
        assertThat(ledger.allocation(pod).endBound()).isEqualTo(ledger.clock.instant());
        assertThat(ledger.used("a")).isEqualTo(GpuTime.ofMinutes("7"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void anEndBetweenTwoSweepsIsTheSameIfTheDatabaseFailsAtTheSecond() {
        ledger.pass(A_QUARTER);
        ledger.sweepFinds(pod);
        ledger.pass(A_QUARTER);
        ledger.database
                .jdbc()
                .sql("alter table pod_allocation add constraint away check (not estimated)")
                .update();
        assertThatThrownBy(ledger::sweepFinds).isInstanceOf(DataAccessException.class);
        ledger.database.jdbc().sql("alter table pod_allocation drop constraint away").update();

        ledger.pass(Duration.ofMinutes(1));
        ledger.sweepFinds();

        assertThat(ledger.allocation(pod).until()).isEqualTo(TEN.plus(A_QUARTER));
    }

    @Test
    void theWatchDoesNotTakeItForGone() {
        ledger.pass(A_QUARTER);
        ledger.sweepFinds(pod);

        ledger.restart();
        ledger.pass(Duration.ofMinutes(1));

        assertThat(ledger.allocation(pod).open()).isTrue();
    }

    @Test
    void theSweepDoesNotTakeWatchedPodsForGone() {
        ledger.onUpdate(pod);

        ledger.sweepFinds();

        assertThat(ledger.allocation(pod).open()).isTrue();
    }

    @Test
    void aPodThatLostItsLabelIsChargedOnAndItsEndIsFoundByTheSweep() {
        ledger.onUpdate(pod);
        ledger.pass(A_QUARTER);

        ledger.unlabelled(pod);
        ledger.pass(A_QUARTER);
        ledger.restart();
        ledger.sweepFinds(pod);

        assertThat(ledger.allocation(pod).open()).isTrue();
        assertThat(ledger.charged(pod)).isEqualTo(GpuTime.ofMinutes("14.5"));
        ledger.sweepFinds(pod.finishedAt(TEN.plusSeconds(60 + 1200)));
        assertThat(ledger.charged(pod)).isEqualTo(GpuTime.ofMinutes("10"));
    }

    @Test
    void theSweepFindsAPodThatLostItsLabelUnobserved() {
        ledger.onUpdate(pod);
        ledger.vanished(pod);
        ledger.pass(A_QUARTER);
        ledger.restart();
        ledger.pass(A_QUARTER);

        ledger.sweepFinds(pod);
        ledger.pass(A_QUARTER);
        ledger.restart();

        assertThat(ledger.allocation(pod).open()).isTrue();
        assertThat(ledger.charged(pod)).isEqualTo(GpuTime.ofMinutes("22"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aPodThatGetsTheLabelIsWatchedFromThenOn() {
        ledger.sweepFinds(pod);
        ledger.onUpdate(pod);

        ledger.sweepFinds();

        assertThat(ledger.allocation(pod).open()).isTrue();
        ledger.removed(pod.removedAt(TEN.plusSeconds(120)));
        assertThat(ledger.charged(pod)).isEqualTo(new GpuTime(60 * 500_000));
    }

    @Test
    void aListThatIsOlderThanTheLabelDoesNotTakeThePodFromTheWatch() {
        ledger.onUpdate(pod);
        ledger.sweepFinds(pod);
        ledger.pass(A_QUARTER);

        ledger.sweepFinds();

        assertThat(ledger.allocation(pod).open()).isTrue();
        ledger.removed(pod.removedAt(TEN.plusSeconds(1800)));
        assertThat(ledger.charged(pod)).isEqualTo(GpuTime.ofMinutes("14.5"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aListThatIsOlderThanTheRemovalBringsNoWatchedPodBack() {
        ledger.onUpdate(pod);
        ledger.removed(pod.removedAt(TEN.plusSeconds(120)));

        ledger.sweepFinds(pod);

        assertThat(ledger.allocation(pod).until()).isEqualTo(TEN.plusSeconds(120));
        assertThat(ledger.allocation(pod).estimated()).isFalse();
    }

    @Test
    void theEndOfAWatchedPodComesFromTheWatch() {
        Pods finished = pod.finishedAt(TEN.plusSeconds(120));
        ledger.onUpdate(pod);

        ledger.sweepFinds(finished);

        assertThat(ledger.allocation(pod).open()).isTrue();
        ledger.onUpdate(finished);
        assertThat(ledger.allocation(pod).until()).isEqualTo(TEN.plusSeconds(120));
    }

    @Test
    void aPodExpectedByTheWatchAndFoundByTheSweepIsPresent() {
        ledger.onUpdate(pod);
        ledger.vanished(pod);
        ledger.takeOver();
        ledger.listedBeforeTheWatchIsOpen();

        ledger.sweepFinds(pod);
        ledger.pass(A_QUARTER);

        assertThat(ledger.allocation(pod).open()).isTrue();
        ledger.sweepFinds();
        assertThat(ledger.allocation(pod).open()).isFalse();
    }

    @Test
    void aPodExpectedByTheWatchAndFoundByTheSweepIsTheSweepsAlsoIfTheDatabaseFails() {
        ledger.onUpdate(pod);
        ledger.vanished(pod);
        ledger.takeOver();
        ledger.listedBeforeTheWatchIsOpen();
        ledger.database
                .jdbc()
                .sql("alter table pod_allocation add constraint away check (watched)")
                .update();
        assertThatThrownBy(() -> ledger.sweepFinds(pod)).isInstanceOf(DataAccessException.class);
        ledger.database.jdbc().sql("alter table pod_allocation drop constraint away").update();

        ledger.pass(A_QUARTER);
        assertThat(ledger.allocation(pod).open()).isTrue();
        ledger.sweepFinds();

        assertThat(ledger.allocation(pod).open()).isFalse();
    }

    @Test
    void aPodExpectedByTheWatchThatLosesItsLabelIsPresent() {
        ledger.onUpdate(pod);
        ledger.vanished(pod);
        ledger.takeOver();
        ledger.listedBeforeTheWatchIsOpen();

        ledger.unlabelled(pod);
        ledger.pass(A_QUARTER);

        assertThat(ledger.allocation(pod).open()).isTrue();
        ledger.sweepFinds(pod.finishedAt(TEN.plusSeconds(60 + 1200)));
        assertThat(ledger.allocation(pod).until()).isEqualTo(TEN.plusSeconds(60 + 1200));
    }
}
