package io.gpusharing.timekeeper.budget.status;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.LedgerLease;
import io.gpusharing.kubernetes.LedgerLease.Word;
import io.gpusharing.kubernetes.Terms;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.cluster.PodEvent.Listed;
import io.gpusharing.timekeeper.cluster.PodEvent.Updated;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriters;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LedgerWordTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final String NAMESPACE = "gpusharing-system";

    private final FakeApiServer api = new FakeApiServer();
    private final Terms terms = new Terms();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final TestDatabase database = TestDatabase.create();
    private final Budgets budgets = TestBudgets.on(database, Duration.ofHours(1), clock);
    private final LedgerWriter writer =
            LedgerWriters.on(
                    database, budgets, new SimpleMeterRegistry(), terms.leadership(), clock);
    private final UnreadableObjects unreadable = new UnreadableObjects(object -> {}, clock);
    private final CatchUp catchUp = new CatchUp();
    private final LedgerWord word = word("one", catchUp);
    private boolean live = true;

    LedgerWordTest() throws IOException {
        api.store("/leases/" + LedgerLease.NAME, "");
        terms.begin();
        LedgerWriters.ledger(database).open(TEN);
        writer.between(
                () -> TestBudgets.exist(budgets, List.of(monthly("a", TEN, "100", "team-a"))));
        writer.start();
        writer.begin();
        writer.onEvent(new Listed(List.of(), Set.of(), "1", false, TEN));
        await().until(budgets::settled);
    }

    @AfterEach
    void stop() {
        word.stop();
        writer.stop();
        api.close();
    }

    private LedgerWord word(String identity, CatchUp catchUp) {
        return new LedgerWord(
                api.client(),
                budgets,
                writer,
                () -> live,
                catchUp,
                unreadable,
                NAMESPACE,
                identity,
                terms.leadership(),
                clock);
    }

    private Optional<Word> said() {
        return LedgerLease.read(api.client(), NAMESPACE);
    }

    private static Optional<Word> upTo(Instant caughtUp, String... behind) {
        return Optional.of(new Word(caughtUp, Set.of(behind)));
    }

    /**
     * A round in which the ledger is asked, and the publisher's after it, in which all is right.
     */
    private Instant askAndPublish() {
        Instant asked = clock.instant();
        word.work(asked);
        await().until(() -> asked.equals(budgets.caughtUp()));
        catchUp.begin(budgets.caughtUp(), Map.of(), asked);
        return asked;
    }

    /** Ten seconds later. */
    private void workLater() {
        clock.pass(Duration.ofSeconds(10));
        word.work(clock.instant());
    }

    @Test
    void saysUpToWhenAllThatWasReportedIsPostedAndPublished() {
        Instant asked = askAndPublish();
        assertThat(said()).as("nothing was published when it was asked").isEmpty();

        workLater();

        assertThat(said()).isEqualTo(upTo(asked));
        assertThat(api.kept("/leases/" + LedgerLease.NAME)).contains("\"one\"");
    }

    @Test
    void looksEachSecondUntilItHasSaidSomethingAndThenEachTen() {
        assertThat(word.work(TEN)).isEqualTo(TEN.plusSeconds(1));
        catchUp.begin(TEN, Map.of(), TEN);

        assertThat(word.work(TEN)).isEqualTo(TEN.plusSeconds(10));
    }

    @Test
    void writesNothingWhileTheWordDoesNotMoveOn() {
        askAndPublish();
        workLater();
        int requests = api.to("/leases/" + LedgerLease.NAME).size();

        workLater();

        assertThat(api.to("/leases/" + LedgerLease.NAME)).hasSize(requests);
    }

    /** A pod ends meanwhile, so that nothing that is published of its budget is true. */
    @Test
    void aWordGrowsOldWhileTheDatabaseIsAway() {
        Instant before = askAndPublish();
        workLater();
        database.jdbc()
                .sql("alter table pod_allocation add constraint away check (false) not valid")
                .update();
        Pods pod = Pods.waiting("team-a", 100, 60).boundAt(clock.instant());
        writer.onEvent(new Updated(pod.facts(), "2", clock.instant()));
        await().until(() -> !budgets.settled());

        for (int minute = 0; minute < 120; minute++) {
            clock.pass(Duration.ofMinutes(1));
            word.work(clock.instant());
            catchUp.begin(budgets.caughtUp(), Map.of(), clock.instant());
        }

        Word old = said().orElseThrow();
        assertThat(old.caughtUp()).isBetween(before, before.plusSeconds(10));
        assertThat(LedgerLease.isGood(old, clock.instant())).isFalse();

        database.jdbc().sql("alter table pod_allocation drop constraint away").update();
        await().until(budgets::settled);
        Instant after = askAndPublish();
        workLater();
        assertThat(said()).isEqualTo(upTo(after));
    }

    /** Thousands of events may wait when the database is back. */
    @Test
    void whatWaitsToBePostedIsNotCaughtUpWith() {
        var goOn = new CountDownLatch(1);
        writer.between(() -> {
            try {
                goOn.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });

        word.work(clock.instant());
        workLater();
        workLater();

        assertThat(budgets.caughtUp()).isNull();
        goOn.countDown();
        await().until(() -> TEN.equals(budgets.caughtUp()));
    }

    @Test
    void saysNothingWhilePodsAreNotReported() {
        Instant before = askAndPublish();
        workLater();
        live = false;
        catchUp.begin(clock.instant(), Map.of(), clock.instant());

        workLater();

        assertThat(said()).isEqualTo(upTo(before));
    }

    @Test
    void aReplicaWhoseTermHasEndedSaysNothing() {
        Instant before = askAndPublish();
        workLater();
        catchUp.begin(clock.instant(), Map.of(), clock.instant());

        terms.end();
        await().until(() -> {
            clock.pass(Duration.ofSeconds(10));
            writer.between(() -> {});
            return !budgets.settled();
        });
        workLater();

        assertThat(said()).isEqualTo(upTo(before));
    }

    /** It was stopped before its term ended, and has not learned of it. */
    @Test
    void aLeaderThatWakesUpTakesBackNothing() {
        Instant before = askAndPublish();
        var next = new CatchUp();
        next.begin(TEN.plusSeconds(60), Map.of("a", CatchUp.Published.NotUnderstood), TEN);
        clock.pass(Duration.ofMinutes(1));
        word("two", next).work(clock.instant());
        assertThat(said()).isEqualTo(upTo(TEN.plusSeconds(60), "a"));

        assertThat(before).isBefore(TEN.plusSeconds(60));
        word.work(clock.instant());

        assertThat(said()).isEqualTo(upTo(TEN.plusSeconds(60), "a"));
    }

    @Test
    void aNewTermSaysNothingOfTheLast() {
        askAndPublish();
        workLater();
        Instant before = said().orElseThrow().caughtUp();
        catchUp.clear();
        word.takeOver();

        workLater();
        assertThat(said()).isEqualTo(upTo(before));

        Instant after = askAndPublish();
        workLater();
        assertThat(said()).isEqualTo(upTo(after));
    }

    @Test
    void namesBudgetsThatCannotBeRead() {
        var budget = new GpuBudget();
        budget.getMetadata().setName("odd");
        cannotBeRead(budget);
        cannotBeRead(new PodBuilder().withNewMetadata().withName("pod").endMetadata().build());
        Instant asked = askAndPublish();

        workLater();

        assertThat(said()).isEqualTo(upTo(asked, "odd"));
    }

    private void cannotBeRead(HasMetadata object) {
        unreadable.read(
                object,
                it -> {
                    throw new IllegalStateException("nonsense");
                });
    }
}
