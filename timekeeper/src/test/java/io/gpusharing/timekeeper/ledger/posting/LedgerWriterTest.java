package io.gpusharing.timekeeper.ledger.posting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.Terms;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.cluster.PodEvent.Bookmark;
import io.gpusharing.timekeeper.cluster.PodEvent.Deleted;
import io.gpusharing.timekeeper.cluster.PodEvent.Listed;
import io.gpusharing.timekeeper.cluster.PodEvent.Updated;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Status;

/** What a timekeeper does that starts on a cluster where pods came and went while it was away. */
class LedgerWriterTest {

    private static final Instant START = Instant.parse("2026-03-02T10:00:00Z");
    private final SteppingClock clock = new SteppingClock(START.plusSeconds(60));
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final TestDatabase database = TestDatabase.create();
    private final Budgets budgets = TestBudgets.on(database, Duration.ofHours(1), clock);
    private final Ledger ledger = LedgerWriters.ledger(database);
    private final LedgerWriter writer = writer(Leadership.alone());

    private final Pods cameAndWent = Pods.waiting("team", 100, 60).boundAt(START.plusSeconds(10));

    private LedgerWriter writer(Leadership leadership) {
        return LedgerWriters.on(database, budgets, registry, leadership, clock);
    }

    @AfterEach
    void stop() {
        if (writer.isRunning()) {
            writer.stop();
        }
    }

    @Test
    void podsObservedBeforeTheBudgetsAreListedAreChargedToThem() {
        ledger.open(START);
        writer.start();
        writer.onEvent(new Listed(List.of(), Set.of(), "2", true, clock.instant()));
        writer.onEvent(new Updated(cameAndWent.facts(), "1", clock.instant()));
        writer.onEvent(
                new Deleted(
                        cameAndWent.finishedAt(START.plusSeconds(20)).facts(),
                        "2",
                        clock.instant()));
        budgetsAreKnown();

        await().atMost(Duration.ofSeconds(10)).until(() -> charged("team") > 0);

        assertThat(charged("team")).isEqualTo(10_000_000);
        assertThat(charged("")).isZero();
    }

    @Test
    void noExhaustionIsReportedWhileEndedPodsStillAppearToRun() {
        ledger.open(START);
        writer.start();
        writer.onEvent(new Listed(List.of(), Set.of(), "2", true, clock.instant()));
        budgetsAreKnown();
        writer.onEvent(new Updated(cameAndWent.facts(), "1", clock.instant()));

        await().atMost(Duration.ofSeconds(10)).until(() -> ledger.openAllocations().size() == 1);
        assertThat(budgets.states()).as("not yet: its end may come next").isEmpty();

        writer.onEvent(
                new Deleted(
                        cameAndWent.finishedAt(START.plusSeconds(20)).facts(),
                        "2",
                        clock.instant()));
        await().atMost(Duration.ofSeconds(10)).until(() -> !budgets.states().isEmpty());
        BudgetState state = budgets.state("team").orElseThrow();
        assertThat(state.used(clock.instant()).microGpuSeconds()).isEqualTo(10_000_000);
        assertThat(state.exhaustedAt()).isNull();
    }

    @Test
    void aLeaderThatStartsPostsAndConcludesNothingBeforeThePodsAreListed() {
        ledger.open(START);
        writer.start();
        writer.onEvent(
                new Listed(List.of(cameAndWent.facts()), Set.of(), "2", false, clock.instant()));
        budgetsAreKnown();
        await().atMost(Duration.ofSeconds(10)).until(() -> ledger.openAllocations().size() == 1);
        writer.stop();
        List<PodAllocation> before = ledger.openAllocations();
        clock.pass(Duration.ofHours(2));

        var others = TestBudgets.on(database, Duration.ofHours(1), clock);
        var next = LedgerWriters.on(database, others, registry, Leadership.alone(), clock);
        var asked = new AtomicBoolean();
        try {
            next.start();
            budgetsAreKnown(next, others);
            next.between(() -> asked.set(true));
            await().atMost(Duration.ofSeconds(10)).untilTrue(asked);
            assertThat(others.settled()).isFalse();
            assertThat(ledger.openAllocations()).isEqualTo(before);

            next.onEvent(new Listed(List.of(), Set.of(), "2", true, clock.instant()));
            next.onEvent(
                    new Deleted(
                            cameAndWent.finishedAt(START.plusSeconds(20)).facts(),
                            "3",
                            clock.instant()));
            await().atMost(Duration.ofSeconds(10)).until(others::settled);
        } finally {
            next.stop();
        }

        assertThat(charged("team")).isEqualTo(10_000_000);
    }

    @Test
    void aQuietClusterIsCaughtUpByTime() {
        ledger.open(START);
        writer.start();
        writer.onEvent(new Listed(List.of(), Set.of(), "2", true, clock.instant()));
        budgetsAreKnown();

        writer.onEvent(new Bookmark("1", clock.instant()));
        clock.pass(Duration.ofSeconds(3));
        writer.between(() -> {});

        await().atMost(Duration.ofSeconds(10)).until(() -> !budgets.states().isEmpty());
    }

    @Test
    void aPodThatWasThereInOneListAndGoneInTheNextOfTheSameBatchHasEnded() {
        ledger.open(START);
        writer.start();
        writer.onEvent(
                new Listed(List.of(cameAndWent.facts()), Set.of(), "2", true, clock.instant()));
        writer.onEvent(new Listed(List.of(), Set.of(), "3", false, clock.instant()));
        budgetsAreKnown();

        await().atMost(Duration.ofSeconds(10)).until(() -> !budgets.states().isEmpty());

        assertThat(ledger.allocations(List.of(cameAndWent.uid())))
                .singleElement()
                .matches(allocation -> !allocation.open() && allocation.estimated());
    }

    @Test
    void aLedgerThatCannotPostAlthoughTheDatabaseAnswersIsNotReady() {
        ledger.open(START);
        writer.start();
        var broken = new AtomicBoolean(true);
        writer.between(() -> {
            if (broken.get()) {
                throw new IllegalStateException("something that nobody has thought of");
            }
        });
        writer.begin();
        var health = new PostingHealthIndicator(writer);

        await().atMost(Duration.ofSeconds(10))
                .until(() -> {
                    clock.pass(Duration.ofSeconds(10));
                    return health.health().getStatus().equals(Status.DOWN);
                });
        assertThat(registry.get("gpusharing.ledger.unposted").gauge().value()).isGreaterThan(60);

        broken.set(false);
        await().atMost(Duration.ofSeconds(10))
                .until(() -> health.health().getStatus().equals(Status.UP));
        assertThat(registry.get("gpusharing.ledger.unposted").gauge().value()).isZero();
    }

    @Test
    void aReplicaPostsWhatItObservedOnlyOnceItLeads() {
        ledger.open(START);
        var terms = new Terms();
        var follower = writer(terms.leadership());
        try {
            follower.start();
            follower.onEvent(new Updated(cameAndWent.facts(), "1", clock.instant()));
            budgetsAreKnown(follower);
            await().atMost(Duration.ofSeconds(10)).until(() -> !budgets.states().isEmpty());
            assertThat(ledger.openAllocations()).isEmpty();

            terms.begin();
            assertThat(follower.position()).as("where its own feed begins").isEmpty();
            follower.onEvent(
                    new Listed(
                            List.of(cameAndWent.facts()), Set.of(), "2", false, clock.instant()));

            await().atMost(Duration.ofSeconds(10))
                    .until(() -> ledger.openAllocations().size() == 1);
        } finally {
            follower.stop();
        }
    }

    @Test
    void aLeaderThatLosesTheLeaseWhileTheDatabaseIsAwayLeavesThePostingToTheNext() {
        ledger.open(START);
        var terms = new Terms();
        var writer = writer(terms.leadership());
        var broken = new AtomicBoolean(true);
        var done = new AtomicBoolean();
        try {
            terms.begin();
            writer.start();
            writer.between(() -> {
                // In the writer's own thread: between its asking who leads and its posting, another
                // thread could end the term and mend the database, and it would rightly post.
                if (broken.getAndSet(false)) {
                    terms.end();
                    throw new IllegalStateException("as if the database were away");
                }
                done.set(true);
            });
            writer.onEvent(
                    new Listed(
                            List.of(cameAndWent.facts()), Set.of(), "2", false, clock.instant()));
            budgetsAreKnown(writer);

            await().atMost(Duration.ofSeconds(10)).until(() -> !budgets.states().isEmpty());
            assertThat(done).as("what has to be done between two postings is done here").isTrue();
            assertThat(ledger.openAllocations()).isEmpty();
        } finally {
            writer.stop();
        }
    }

    @Test
    void aRestartChangesNoAllocationWhicheverWatchIsFirst() {
        ledger.open(START);
        writer.start();
        writer.onEvent(
                new Listed(List.of(cameAndWent.facts()), Set.of(), "2", false, clock.instant()));
        budgetsAreKnown();
        await().atMost(Duration.ofSeconds(10)).until(() -> ledger.openAllocations().size() == 1);
        writer.stop();
        List<PodAllocation> before = ledger.openAllocations();
        clock.pass(Duration.ofMinutes(20));

        var others = TestBudgets.on(database, Duration.ofHours(1), clock);
        var next = LedgerWriters.on(database, others, registry, Leadership.alone(), clock);
        try {
            next.start();
            next.between(() -> TestBudgets.grant(others, List.of()));
            budgetsAreKnown(next, others);
            next.onEvent(
                    new Listed(
                            List.of(cameAndWent.facts()), Set.of(), "3", false, clock.instant()));
            await().atMost(Duration.ofSeconds(10)).until(() -> !others.states().isEmpty());
        } finally {
            next.stop();
        }

        assertThat(ledger.openAllocations()).isEqualTo(before);
    }

    private void budgetsAreKnown() {
        budgetsAreKnown(writer);
    }

    private void budgetsAreKnown(LedgerWriter writer) {
        budgetsAreKnown(writer, budgets);
    }

    /** Forty seconds of a GPU. */
    private static void budgetsAreKnown(LedgerWriter writer, Budgets accounts) {
        var budget =
                TestBudgets.budget("team", START, "0.6666", Unit.Month, "UTC", "0", 25, "team");
        writer.between(() -> TestBudgets.exist(accounts, List.of(budget)));
        writer.begin();
    }

    private long charged(String budget) {
        return database.jdbc()
                .sql("select coalesce(sum(amount), 0)::bigint from pod_charge where budget = ?")
                .param(budget)
                .query(Long.class)
                .single();
    }
}
