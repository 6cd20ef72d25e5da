package io.gpusharing.timekeeper.budget.notify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.request.GpuShare;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.cluster.ClusterViews;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.OpenAllocation;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Thresholds are reported once, whatever dies in between. The budget has 100 minutes; one GPU runs.
 */
class BudgetNotifierTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final TestDatabase database = TestDatabase.create();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final NotificationRepository notifications =
            new NotificationRepository(database.rows());
    private final Pods pod = Pods.waiting("team-a", 100, 0).boundAt(TEN);
    private FakeApiServer api;
    private BudgetNotifier notifier;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        database.jdbc()
                .sql(
                        "insert into cluster (id, metering_start) values ('test', '2026-03-01T00:00:00Z')")
                .update();
        notifier = restarted();
    }

    @AfterEach
    void stop() {
        api.close();
    }

    /** The process restarts, and its memory is lost. */
    private BudgetNotifier restarted() {
        Budgets budgets = TestBudgets.on(database, Duration.ofHours(1), clock);
        TestBudgets.exist(budgets, List.of(TestBudgets.monthly("a", TEN, "100", "team-a")));
        budgets.restored(List.of(running("a")));
        budgets.upToDate(clock.instant());
        return new BudgetNotifier(
                api.client(),
                budgets,
                notifications,
                ClusterViews.withPod(pod.facts()),
                Leadership.alone(),
                clock);
    }

    private static PodAllocation running(String budget) {
        return OpenAllocation.of(
                "team-a", budget, 1_000_000, new GpuShare(1_000_000, 1_000_000), TEN);
    }

    private void at(int minute) {
        clock.set(TEN.plus(Duration.ofMinutes(minute)));
        notifier.work(clock.instant());
    }

    private long onTheBudget() {
        return api.created("/namespaces/default/events");
    }

    private long onThePod() {
        return api.created("/namespaces/team-a/events");
    }

    @Test
    void eachThresholdHasItsEventAndPodsGetOneAQuarterOfAnHourBeforeExhaustion() {
        assertThat(notifier.work(TEN)).isEqualTo(TEN.plus(Duration.ofMinutes(80)));

        at(80);
        assertThat(onTheBudget()).isEqualTo(1);
        at(85);
        assertThat(onTheBudget()).isEqualTo(2);
        assertThat(onThePod()).isEqualTo(1);
        at(95);
        at(100);

        assertThat(onTheBudget()).isEqualTo(4);
        assertThat(onThePod()).isEqualTo(2);
    }

    @Test
    void noEventIsWrittenTwiceHoweverOftenTheBudgetIsEvaluated() {
        at(90);
        at(91);
        notifier = restarted();
        at(92);

        assertThat(onTheBudget()).isEqualTo(2);
    }

    @Test
    void anEventThatWasRecordedBeforeACrashIsWrittenAfterIt() {
        api.refuse("/events", 500);
        assertThatThrownBy(() -> at(80)).isInstanceOf(KubernetesClientException.class);

        api.allow("/events");
        notifier = restarted();
        at(81);

        assertThat(onTheBudget()).isEqualTo(1);
    }

    @Test
    void anEventThatWasDueDuringACrashIsNotSkippedBeforeTheBudgetsAreListed() {
        api.refuse("/events", 500);
        assertThatThrownBy(() -> at(80)).isInstanceOf(KubernetesClientException.class);
        api.allow("/events");

        Budgets waking = TestBudgets.on(database, Duration.ofHours(1), clock);
        notifier =
                new BudgetNotifier(
                        api.client(),
                        waking,
                        notifications,
                        ClusterViews.withPod(pod.facts()),
                        Leadership.alone(),
                        clock);
        at(81);
        assertThat(onTheBudget()).isZero();
        assertThat(notifications.untold()).hasSize(1);

        TestBudgets.exist(waking, List.of(TestBudgets.monthly("a", TEN, "100", "team-a")));
        waking.restored(List.of(running("a")));
        waking.upToDate(clock.instant());
        at(81);

        assertThat(onTheBudget()).isEqualTo(1);
        assertThat(notifications.untold()).isEmpty();
    }

    @Test
    void aThresholdReachedWhileNoTimekeeperRanIsReportedAtTheNextStart() {
        at(79);

        notifier = restarted();
        at(86);

        // 80 % were used, and the end came into sight.
        assertThat(onTheBudget()).isEqualTo(2);
        assertThat(onThePod()).isEqualTo(1);
    }

    @Test
    void aCrashBetweenTheEventAndItsRecordMakesNoSecondEvent() {
        at(80);
        database.jdbc().sql("update budget_notification set sent_at = null").update();

        notifier = restarted();
        at(81);

        assertThat(api.to("/namespaces/default/events")).hasSize(2);
        assertThat(onTheBudget()).isEqualTo(1);
        assertThat(notifications.untold()).isEmpty();
    }

    @Test
    void eventsAreWrittenOnceTheApiServerIsBack() {
        at(80);
        api.refuse("/events", 500);
        assertThatThrownBy(() -> at(95)).isInstanceOf(KubernetesClientException.class);

        api.allow("/events");
        at(96);

        assertThat(onTheBudget()).isEqualTo(3);
    }

    @ParameterizedTest
    @RandomSeeds(4)
    void eachEventIsWrittenOnceWhateverFailsOrIsKilledInBetween(long seed) {
        Random random = new Random(seed);
        boolean endWasInSight = false;
        int minute = 0;
        while (minute < 100) {
            minute += random.nextInt(12);
            clock.set(TEN.plus(Duration.ofMinutes(minute)));
            if (random.nextBoolean()) {
                notifier = restarted();
            }
            if (random.nextBoolean()) {
                // Unlike a 500 the client does not try that again by itself.
                api.refuse("/events", 403);
            }
            try {
                at(minute);
            } catch (KubernetesClientException e) {
                // It is tried again.
            }
            endWasInSight |= minute >= 85 && minute < 100;
            api.allow("/events");
        }

        notifier = restarted();
        at(minute + 1);

        // 80 %, 95 %, all of it, and the warning before that, if a timekeeper ran then.
        assertThat(onTheBudget()).isEqualTo(endWasInSight ? 4 : 3);
        assertThat(onThePod()).isEqualTo(endWasInSight ? 2 : 1);
        assertThat(notifications.untold()).isEmpty();
    }

    @Test
    void aNamespaceThatIsBeingDeletedDoesNotSilenceTheBudget() {
        api.terminate("team-a");
        at(90);
        at(100);

        assertThat(onThePod()).isZero();
        assertThat(onTheBudget()).isEqualTo(4);
        assertThat(notifications.untold()).isEmpty();
    }

    /** A quota on Events, for instance, or a webhook of others that fails. */
    @ParameterizedTest
    @ValueSource(ints = {403, 500})
    void aNamespaceThatTakesNoEventsDoesNotHoldUpOtherBudgets(int code) {
        api.refuse("/namespaces/team-a/events", code);
        at(90);
        at(100);

        assertThat(onThePod()).isZero();
        assertThat(onTheBudget()).isEqualTo(4);
        assertThat(notifications.untold()).isEmpty();
    }

    @Test
    void podsGetNoEventsOfABudgetThatDoesNotPayForThem() {
        Budgets budgets = TestBudgets.on(database, Duration.ofHours(1), clock);
        TestBudgets.exist(
                budgets,
                List.of(
                        TestBudgets.monthly("keeper", TEN.minusSeconds(1), "100", "team-a"),
                        TestBudgets.monthly("nothing", TEN, "0", "team-a", "team-b")));
        budgets.restored(List.of(running("keeper")));
        budgets.upToDate(TEN);

        new BudgetNotifier(
                        api.client(),
                        budgets,
                        notifications,
                        ClusterViews.withPod(pod.facts()),
                        Leadership.alone(),
                        clock)
                .work(TEN);

        assertThat(onTheBudget()).isEqualTo(1);
        assertThat(onThePod()).isZero();
    }

    @Test
    void anExhaustionThatIsPredictedLateIsReportedAtOnce() {
        Budgets budgets = TestBudgets.on(database, Duration.ofHours(1), clock);
        TestBudgets.exist(budgets, List.of(TestBudgets.monthly("young", TEN, "5", "team-a")));
        budgets.restored(List.of(running("young")));
        budgets.upToDate(TEN);

        assertThat(BudgetNotification.of(budgets.state("young").orElseThrow()))
                .filteredOn(it -> it.kind().equals(BudgetNotification.ENDS_SOON))
                .extracting(BudgetNotification::due)
                .containsExactly(TEN);
    }
}
