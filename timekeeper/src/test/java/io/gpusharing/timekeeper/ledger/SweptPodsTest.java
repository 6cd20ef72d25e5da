package io.gpusharing.timekeeper.ledger;

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
class SweptPodsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration A_QUARTER = Duration.ofMinutes(15);

    private final Books books = new Books(TEN, monthly("a", TEN, "1000", "team-a"));
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN.plusSeconds(60));

    @Test
    void isChargedFromItsBindingNotFromWhenItWasFound() {
        books.pass(A_QUARTER);
        books.swept(pod);

        assertThat(books.charged(pod)).isEqualTo(GpuTime.ofMinutes("7"));
    }

    @Test
    void isNotChargedFromBeforeOurInstallation() {
        Pods old = Pods.waiting("team-a", 50, 15).boundAt(TEN.minus(Duration.ofDays(30)));

        books.pass(Duration.ofMinutes(10));
        books.swept(old);

        assertThat(books.charged(old)).isEqualTo(GpuTime.ofMinutes("5"));
    }

    @Test
    void anEndThatCanStillBeSeenIsExact() {
        books.pass(A_QUARTER);
        books.swept(pod);
        books.pass(A_QUARTER);

        books.swept(pod.finishedAt(TEN.plusSeconds(60 + 1200)));
        books.pass(A_QUARTER);
        books.swept(pod.finishedAt(TEN.plusSeconds(60 + 1200)));

        assertThat(books.charged(pod)).isEqualTo(GpuTime.ofMinutes("10"));
        assertThat(books.stay(pod).estimated()).isFalse();
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void anEndBetweenTwoSweepsIsEstimatedWithItsBound() {
        books.pass(A_QUARTER);
        books.swept(pod);
        books.pass(A_QUARTER);

        books.swept();

        assertThat(books.stay(pod).until()).isEqualTo(TEN.plus(A_QUARTER));
        assertThat(books.stay(pod).endBound()).isEqualTo(TEN.plus(A_QUARTER).plus(A_QUARTER));
        assertThat(books.stay(pod).estimated()).isTrue();
    }

    @Test
    void anEndWhileNobodyRanLiesBetweenTheLastSweepBeforeAndTheFirstAfter() {
        books.pass(A_QUARTER);
        books.swept(pod);
        books.pass(Duration.ofHours(1));
        books.clock.pass(Duration.ofHours(5));

        books.restart();
        books.pass(Duration.ofMinutes(1));
        books.swept();

        assertThat(books.stay(pod).until()).isEqualTo(TEN.plus(A_QUARTER));
        assertThat(books.stay(pod).endBound()).isEqualTo(books.clock.instant());
        assertThat(books.used("a")).isEqualTo(GpuTime.ofMinutes("7"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void anEndBetweenTwoSweepsIsTheSameIfTheDatabaseFailsAtTheSecond() {
        books.pass(A_QUARTER);
        books.swept(pod);
        books.pass(A_QUARTER);
        books.database
                .jdbc()
                .sql("alter table pod_stay add constraint away check (not estimated)")
                .update();
        assertThatThrownBy(books::swept).isInstanceOf(DataAccessException.class);
        books.database.jdbc().sql("alter table pod_stay drop constraint away").update();

        books.pass(Duration.ofMinutes(1));
        books.swept();

        assertThat(books.stay(pod).until()).isEqualTo(TEN.plus(A_QUARTER));
    }

    @Test
    void theWatchDoesNotTakeItForGone() {
        books.pass(A_QUARTER);
        books.swept(pod);

        books.restart();
        books.pass(Duration.ofMinutes(1));

        assertThat(books.stay(pod).open()).isTrue();
    }

    @Test
    void theSweepDoesNotTakeWatchedPodsForGone() {
        books.told(pod);

        books.swept();

        assertThat(books.stay(pod).open()).isTrue();
    }

    @Test
    void aPodThatLostItsLabelIsChargedOnAndItsEndIsFoundByTheSweep() {
        books.told(pod);
        books.pass(A_QUARTER);

        books.unlabelled(pod);
        books.pass(A_QUARTER);
        books.restart();
        books.swept(pod);

        assertThat(books.stay(pod).open()).isTrue();
        assertThat(books.charged(pod)).isEqualTo(GpuTime.ofMinutes("14.5"));
        books.swept(pod.finishedAt(TEN.plusSeconds(60 + 1200)));
        assertThat(books.charged(pod)).isEqualTo(GpuTime.ofMinutes("10"));
    }

    @Test
    void aPodThatLostItsLabelWhileNobodyWatchedIsTakenBackByTheSweep() {
        books.told(pod);
        books.vanished(pod);
        books.pass(A_QUARTER);
        books.restart();
        books.pass(A_QUARTER);

        books.swept(pod);
        books.pass(A_QUARTER);
        books.restart();

        assertThat(books.stay(pod).open()).isTrue();
        assertThat(books.charged(pod)).isEqualTo(GpuTime.ofMinutes("22"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aPodThatGetsTheLabelIsWatchedFromThenOn() {
        books.swept(pod);
        books.told(pod);

        books.swept();

        assertThat(books.stay(pod).open()).isTrue();
        books.removed(pod.removedAt(TEN.plusSeconds(120)));
        assertThat(books.charged(pod)).isEqualTo(new GpuTime(60 * 500_000));
    }

    @Test
    void aListThatIsOlderThanTheLabelDoesNotTakeThePodFromTheWatch() {
        books.told(pod);
        books.swept(pod);
        books.pass(A_QUARTER);

        books.swept();

        assertThat(books.stay(pod).open()).isTrue();
        books.removed(pod.removedAt(TEN.plusSeconds(1800)));
        assertThat(books.charged(pod)).isEqualTo(GpuTime.ofMinutes("14.5"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aListThatIsOlderThanTheRemovalBringsNoWatchedPodBack() {
        books.told(pod);
        books.removed(pod.removedAt(TEN.plusSeconds(120)));

        books.swept(pod);

        assertThat(books.stay(pod).until()).isEqualTo(TEN.plusSeconds(120));
        assertThat(books.stay(pod).estimated()).isFalse();
    }

    @Test
    void theEndOfAWatchedPodIsToldByTheWatch() {
        Pods finished = pod.finishedAt(TEN.plusSeconds(120));
        books.told(pod);

        books.swept(finished);

        assertThat(books.stay(pod).open()).isTrue();
        books.told(finished);
        assertThat(books.stay(pod).until()).isEqualTo(TEN.plusSeconds(120));
    }

    @Test
    void aPodThatIsAwaitedAndThenSweptIsThere() {
        books.told(pod);
        books.vanished(pod);
        books.takeOver();
        books.listedBeforeTheWatchIsOpen();

        books.swept(pod);
        books.pass(A_QUARTER);

        assertThat(books.stay(pod).open()).isTrue();
        books.swept();
        assertThat(books.stay(pod).open()).isFalse();
    }

    @Test
    void aPodThatIsAwaitedAndThenSweptIsTheSweepsAlsoIfTheDatabaseFails() {
        books.told(pod);
        books.vanished(pod);
        books.takeOver();
        books.listedBeforeTheWatchIsOpen();
        books.database
                .jdbc()
                .sql("alter table pod_stay add constraint away check (watched)")
                .update();
        assertThatThrownBy(() -> books.swept(pod)).isInstanceOf(DataAccessException.class);
        books.database.jdbc().sql("alter table pod_stay drop constraint away").update();

        books.pass(A_QUARTER);
        assertThat(books.stay(pod).open()).isTrue();
        books.swept();

        assertThat(books.stay(pod).open()).isFalse();
    }

    @Test
    void aPodThatIsAwaitedAndThenLosesItsLabelIsThere() {
        books.told(pod);
        books.vanished(pod);
        books.takeOver();
        books.listedBeforeTheWatchIsOpen();

        books.unlabelled(pod);
        books.pass(A_QUARTER);

        assertThat(books.stay(pod).open()).isTrue();
        books.swept(pod.finishedAt(TEN.plusSeconds(60 + 1200)));
        assertThat(books.stay(pod).until()).isEqualTo(TEN.plusSeconds(60 + 1200));
    }
}
