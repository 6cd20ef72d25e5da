package io.gpusharing.timekeeper.provider;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static io.gpusharing.timekeeper.provider.NotStartedTimeTest.TEN;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.kubernetes.RefusedStart;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.ledger.correction.CorrectionOrder;
import io.gpusharing.timekeeper.ledger.correction.Corrections;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.provider.NotStartedCorrections.Answer;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a pod costs that our device plugin did not let start. */
class NotStartedCorrectionsTest {

    private static final Written BUDGET = monthly("a", TEN, "6000", "team-a");
    private static final Instant ELEVEN = TEN.plus(Duration.ofHours(1));

    private final TestLedger ledger = new TestLedger(TEN, BUDGET);
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);

    private List<Answer> correct(TestLedger in, RefusedStart start) {
        var corrections =
                new NotStartedCorrections(
                        in.corrections(), in.ledger(), in.database.transactions());
        var done = new ArrayList<Answer>();
        corrections.correct(List.of(start), in.budgets()::corrected, done::add, in.clock.instant());
        in.pass(Duration.ZERO);
        return done;
    }

    private List<Answer> correct(RefusedStart start) {
        return correct(ledger, start);
    }

    private RefusedStart refused(int since, @Nullable Integer until) {
        return NotStartedTimeTest.of(
                pod.uid(), TEN.plusSeconds(since), until == null ? null : TEN.plusSeconds(until));
    }

    /** Of half a GPU. */
    private static GpuTime seconds(long seconds) {
        return new GpuTime(seconds * 500_000);
    }

    private void runUntilTheHourIsPosted() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(61));
    }

    @Test
    void theTimeInWhichItWasKeptFromStartingCostsNothing() {
        runUntilTheHourIsPosted();

        assertThat(correct(refused(10, 100)))
                .containsExactly(new Answer(refused(10, 100), seconds(90).microGpuSeconds()));

        assertThat(ledger.charged(pod)).isEqualTo(seconds(61 * 60 - 90));
        assertThat(ledger.used("a")).isEqualTo(seconds(61 * 60 - 90));
        assertThat(ledger.differences()).isEmpty();
        assertThat(ledger.corrections().of("a", null, 10))
                .singleElement()
                .satisfies(correction -> {
                    assertThat(correction.author()).isEqualTo("timekeeper");
                    assertThat(correction.reason())
                            .isEqualTo(
                                    "NotStarted: the device plugin of gpu-1 did not let it start: No GPU has room");
                    assertThat(correction.from()).isEqualTo(TEN.plusSeconds(10));
                    assertThat(correction.to()).isEqualTo(TEN.plusSeconds(100));
                });
    }

    @Test
    void aRestartAndAnotherLeaderGiveNothingBackAgain() {
        runUntilTheHourIsPosted();
        correct(refused(10, 100));
        TestLedger other = ledger.twin();

        ledger.restart();

        assertThat(correct(refused(10, 100))).containsExactly(new Answer(refused(10, 100), 0));
        assertThat(correct(other, refused(10, 100)))
                .containsExactly(new Answer(refused(10, 100), 0));
        assertThat(ledger.corrections().of("a", null, 10)).hasSize(1);
        assertThat(ledger.used("a")).isEqualTo(seconds(61 * 60 - 90));
    }

    @Test
    void chargesThatAreNotPostedYetAreWaitedFor() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(10));

        assertThat(correct(refused(10, 100))).isEmpty();
        assertThat(ledger.charged(pod)).isEqualTo(seconds(600));
    }

    @Test
    void aPodThatEndsWhileItWaitsIsChargedUpToTheRefusal() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(3));
        assertThat(correct(refused(10, null))).isEmpty();

        ledger.onUpdate(pod.finishedAt(TEN.plusSeconds(140)));
        assertThat(correct(refused(10, null))).hasSize(1);

        assertThat(ledger.charged(pod)).isEqualTo(seconds(10));
        assertThat(ledger.used("a")).isEqualTo(seconds(10));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void whoIsDeletedWhileItWaitsPaysForItsGrace() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofHours(1));
        ledger.onUpdate(pod.finishedAt(ELEVEN));

        // It was told to end after a minute, and took an hour.
        correct(refused(10, 60));

        assertThat(ledger.charged(pod)).isEqualTo(seconds(3600 - 50));
    }

    @Test
    void everyBudgetThatPaidGetsItsPartBack() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofSeconds(40));
        Written other = monthly("b", TEN, "6000", "team-a");
        ledger.exist(other);
        ledger.pass(Duration.ofMinutes(61));

        correct(refused(10, 100));

        assertThat(given("a").plus(given("b"))).isEqualTo(seconds(90));
        assertThat(given("a")).isEqualTo(seconds(30));
        assertThat(ledger.differences()).isEmpty();
    }

    private GpuTime given(String budget) {
        return new GpuTime(
                -ledger.corrections().of(budget, null, 10).stream()
                        .mapToLong(Corrections.Written::amount)
                        .sum());
    }

    @Test
    void anotherNodeHasNoSayInWhatItCosts() {
        runUntilTheHourIsPosted();
        var forged =
                new RefusedStart(
                        "another",
                        pod.uid(),
                        "team-a",
                        "train",
                        TEN,
                        ELEVEN,
                        false,
                        false,
                        "No GPU has room");

        assertThat(correct(forged)).containsExactly(new Answer(forged, 0));
        assertThat(ledger.charged(pod)).isEqualTo(seconds(61 * 60));
    }

    @Test
    void aPodThatHasRunPaysAlsoForTheTimeInWhichItCannotBeRestarted() {
        runUntilTheHourIsPosted();
        var restart =
                new RefusedStart(
                        Pods.NODE,
                        pod.uid(),
                        "team-a",
                        "train",
                        TEN,
                        ELEVEN,
                        false,
                        true,
                        "Its GPU is unhealthy");

        correct(restart);

        assertThat(ledger.charged(pod)).isEqualTo(seconds(61 * 60));
    }

    @Test
    void whatMeasuredUseHasGivenBackIsNotGivenBackAgain() {
        var byUse = new TestLedger(TEN, BUDGET.byUse());
        byUse.onUpdate(pod);
        byUse.measured(pod, 0, 3600);
        byUse.pass(Duration.ofMinutes(61));
        GpuTime before = byUse.charged(pod);

        assertThat(correct(byUse, refused(10, 3000))).hasSize(1);

        assertThat(byUse.charged(pod)).isEqualTo(before);
    }

    @Test
    void whatPeopleDecidedOfThatTimeStands() {
        runUntilTheHourIsPosted();
        ledger.corrections()
                .write(
                        new CorrectionOrder(pod.uid(), "a", TEN, TEN.plusSeconds(50), 100_000),
                        "half of it was our fault",
                        "somebody",
                        UUID.randomUUID());

        correct(refused(10, 100));

        assertThat(ledger.corrections().of("a", null, 10))
                .extracting(Corrections.Written::author)
                .containsExactly("somebody");
    }

    @Test
    void anEndThatTurnsOutToBeEarlierGivesNothingBackTwice() {
        runUntilTheHourIsPosted();
        correct(refused(10, 100));

        ledger.onUpdate(pod.finishedAt(TEN.plusSeconds(60)));

        assertThat(ledger.charged(pod)).isEqualTo(seconds(10));
        assertThat(ledger.used("a")).isEqualTo(seconds(10));
        assertThat(ledger.differences()).isEmpty();
        correct(refused(10, 100));
        assertThat(ledger.charged(pod)).isEqualTo(seconds(10));
    }
}
