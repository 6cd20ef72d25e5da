package io.gpusharing.timekeeper.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.request.RequestGrammars;
import io.gpusharing.request.VcudaGrammar;
import io.gpusharing.timekeeper.budget.BudgetState;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.cluster.ClusterProperties;
import io.gpusharing.timekeeper.cluster.ClusterViews;
import io.gpusharing.timekeeper.metering.Weights;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.SteppingClock;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.Period;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Status;
import org.springframework.transaction.support.TransactionTemplate;

/** What a timekeeper does that starts on a cluster where pods came and went while it was away. */
class BookkeeperTest {

    private static final Instant START = Instant.parse("2026-03-02T10:00:00Z");
    private static final ClusterProperties CLUSTER =
            new ClusterProperties("test", "gpusharing-system", Duration.ofSeconds(1));
    private static final LedgerProperties PROPERTIES =
            new LedgerProperties(
                    Duration.ofSeconds(30),
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(10),
                    Period.ZERO,
                    Duration.ofMinutes(10),
                    10);

    private final SteppingClock clock = new SteppingClock(START.plusSeconds(60));
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final TestDatabase database = TestDatabase.create();
    private final Budgets budgets = TestBudgets.on(database, CLUSTER, Duration.ofHours(1), clock);
    private final Ledger ledger =
            new Ledger(database.jdbc(), new TransactionTemplate(database.transactions()), CLUSTER);
    private final Bookkeeper bookkeeper = bookkeeper();

    private final Pods cameAndWent = Pods.waiting("team", 100, 60).boundAt(START.plusSeconds(10));

    private Bookkeeper bookkeeper() {
        var book =
                new Book(
                        ledger,
                        budgets,
                        ClusterViews.withNode(),
                        new RequestGrammars(List.of(new VcudaGrammar())),
                        new ModelWeights(Weights.EQUAL, new SimpleMeterRegistry()),
                        new Settlement(ledger, pods -> Map.of(), budgets, PROPERTIES),
                        PROPERTIES,
                        clock);
        var verification = new Verification(database.jdbc(), CLUSTER, PROPERTIES, clock);
        var metrics = new LedgerMetrics(registry, verification, clock);
        return new Bookkeeper(ledger, book, metrics, PROPERTIES, clock);
    }

    @AfterEach
    void stop() {
        bookkeeper.stop();
    }

    @Test
    void podsThatAreToldBeforeTheBudgetsAreKnownAreChargedToThem() {
        ledger.open(START);
        bookkeeper.start();
        bookkeeper.listed(List.of(), "2", true);
        bookkeeper.changed(cameAndWent.facts(), "1");
        bookkeeper.removed(cameAndWent.finishedAt(START.plusSeconds(20)).facts(), "2");
        budgetsAreKnown();

        await().atMost(Duration.ofSeconds(10)).until(() -> charged("team") > 0);

        assertThat(charged("team")).isEqualTo(10_000_000);
        assertThat(charged("")).isZero();
    }

    @Test
    void nobodyIsToldThatABudgetEndedWhilePodsOfThePastStillLookAsIfTheyRan() {
        ledger.open(START);
        bookkeeper.start();
        bookkeeper.listed(List.of(), "2", true);
        budgetsAreKnown();
        bookkeeper.changed(cameAndWent.facts(), "1");

        await().atMost(Duration.ofSeconds(10)).until(() -> ledger.openStays().size() == 1);
        assertThat(budgets.states()).as("not yet: its end may come next").isEmpty();

        bookkeeper.removed(cameAndWent.finishedAt(START.plusSeconds(20)).facts(), "2");
        await().atMost(Duration.ofSeconds(10)).until(() -> !budgets.states().isEmpty());
        BudgetState state = budgets.state("team").orElseThrow();
        assertThat(state.used(clock.instant()).microGpuSeconds()).isEqualTo(10_000_000);
        assertThat(state.exhaustedAt()).isNull();
    }

    @Test
    void aQuietClusterIsCaughtUpByTime() {
        ledger.open(START);
        bookkeeper.start();
        bookkeeper.listed(List.of(), "2", true);
        budgetsAreKnown();

        clock.pass(Duration.ofSeconds(3));
        bookkeeper.between(() -> {});

        await().atMost(Duration.ofSeconds(10)).until(() -> !budgets.states().isEmpty());
    }

    @Test
    void aPodThatWasThereInOneListAndGoneInTheNextOfTheSameBatchHasEnded() {
        ledger.open(START);
        bookkeeper.start();
        bookkeeper.listed(List.of(cameAndWent.facts()), "2", true);
        bookkeeper.listed(List.of(), "3", false);
        budgetsAreKnown();

        await().atMost(Duration.ofSeconds(10)).until(() -> !budgets.states().isEmpty());

        assertThat(ledger.stays(List.of(cameAndWent.uid())))
                .singleElement()
                .matches(stay -> !stay.open() && stay.estimated());
    }

    @Test
    void aLedgerThatIsStuckAlthoughTheDatabaseAnswersIsNotReadyUntilItGoesOn() {
        ledger.open(START);
        bookkeeper.start();
        var broken = new AtomicBoolean(true);
        bookkeeper.between(() -> {
            if (broken.get()) {
                throw new IllegalStateException("something that nobody has thought of");
            }
        });
        bookkeeper.begin();
        var health = new Keeping(bookkeeper);

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

    /** Forty seconds of a GPU. */
    private void budgetsAreKnown() {
        var budget =
                TestBudgets.budget("team", START, "0.6666", Unit.Month, "UTC", "0", 25, "team");
        bookkeeper.between(() -> TestBudgets.exist(budgets, List.of(budget)));
        bookkeeper.begin();
    }

    private long charged(String budget) {
        return database.jdbc()
                .sql("select coalesce(sum(amount), 0)::bigint from pod_charge where budget = ?")
                .param(budget)
                .query(Long.class)
                .single();
    }
}
