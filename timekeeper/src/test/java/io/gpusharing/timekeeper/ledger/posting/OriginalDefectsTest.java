package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.timekeeper.budget.TestBudgets.Given;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What was wrong with the counting of time in the proof of concept
 * (timozerrer/kubernetes-gpusharing) that the timekeeper follows. Each test is named after the
 * defect that must not come back; those of reports and of deleting pods stand beside their rules,
 * under the same class name.
 */
class OriginalDefectsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration TEN_MINUTES = Duration.ofMinutes(10);

    private final TestLedger ledger =
            new TestLedger(
                    TEN, monthly("a", TEN, "150", "team-a"), monthly("b", TEN, "30", "team-b"));

    /** Half a GPU. */
    private static Pods halfAGpu(String namespace, Instant from) {
        return Pods.waiting(namespace, 50, 15).boundAt(from);
    }

    private static GpuTime minutes(String minutes) {
        return GpuTime.ofMinutes(minutes);
    }

    /**
     * Read, subtract, write in three steps, by several workers: of two concurrent writes one was
     * lost, so that a budget lasted longer the more pods used it.
     */
    @Test
    void defect26_usesThatWereCountedAtOnceWereLost() throws Exception {
        List<Pods> pods = Stream.generate(() -> halfAGpu("team-a", TEN)).limit(40).toList();
        pods.forEach(ledger::onUpdate);
        List<TestLedger> workers = Stream.generate(ledger::twin).limit(4).toList();
        ledger.clock.pass(TEN_MINUTES);

        try (var threads = Executors.newFixedThreadPool(workers.size())) {
            var work = new ArrayList<Callable<Void>>();
            for (TestLedger worker : workers) {
                work.add(() -> {
                    pods.forEach(pod -> worker.onUpdate(pod.finishedAt(TEN.plus(TEN_MINUTES))));
                    return null;
                });
            }
            for (Future<Void> done : threads.invokeAll(work)) {
                done.get();
            }
        }

        ledger.restart();
        assertThat(ledger.used("a")).isEqualTo(minutes("200"));
        assertThat(ledger.differences()).isEmpty();
    }

    /** Each report of about five seconds took a whole unit: 150 "minutes" lasted 12.5. */
    @Test
    void defect27_minutesWereReportsAndRanTwelveTimesTooFast() {
        Pods pod = Pods.waiting("team-a", 100, 0).boundAt(TEN);
        ledger.onUpdate(pod);

        ledger.pass(Duration.ofMinutes(150).minusSeconds(1));
        assertThat(ledger.budget("a").standing(ledger.clock.instant()))
                .isInstanceOf(InBudget.class);

        ledger.pass(Duration.ofSeconds(1));
        assertThat(ledger.budget("a").standing(ledger.clock.instant()).word())
                .isEqualTo("OverBudget");
        assertThat(ledger.budget("a").exhaustedAt()).isEqualTo(TEN.plus(Duration.ofMinutes(150)));
    }

    /** A repeated report was charged again, and a missing one was free. */
    @Test
    void defect28_aRepeatedReportWasChargedTwiceAndAMissedOneNotAtAll() {
        Pods pod = halfAGpu("team-a", TEN);
        Pods missed = halfAGpu("team-a", TEN);
        ledger.onUpdate(pod);
        ledger.onUpdate(pod);
        ledger.pass(TEN_MINUTES);
        Instant end = TEN.plus(TEN_MINUTES);

        ledger.onUpdate(pod.finishedAt(end));
        ledger.onUpdate(pod.finishedAt(end));
        ledger.onUpdate(missed.finishedAt(end));

        assertThat(ledger.charged(pod)).isEqualTo(minutes("5"));
        assertThat(ledger.charged(missed)).isEqualTo(minutes("5"));
    }

    /** The controller made the deleted pod anew, and this time nobody counted its time. */
    @Test
    void defect38_recreatedPodsWereNotCharged() {
        Pods first = halfAGpu("team-b", TEN);
        ledger.onUpdate(first);
        ledger.pass(Duration.ofMinutes(70));
        ledger.removed(first.removedAt(ledger.clock.instant()));
        Pods again = halfAGpu("team-b", ledger.clock.instant());

        ledger.onUpdate(again);
        ledger.pass(TEN_MINUTES);

        assertThat(ledger.charged(again)).isEqualTo(minutes("5"));
        assertThat(ledger.used("b")).isEqualTo(minutes("40"));
    }

    /** Once exhausted, a budget was exhausted for ever. */
    @Test
    void defect40_aBudgetHadNoNextPeriod() {
        Pods pod = halfAGpu("team-b", TEN);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(62));
        ledger.onUpdate(pod.finishedAt(ledger.clock.instant()));
        assertThat(ledger.budget("b").standing(ledger.clock.instant()).word())
                .isEqualTo("OverBudget");

        ledger.pass(Duration.ofDays(31));

        assertThat(ledger.budget("b").remaining(ledger.clock.instant())).contains(minutes("29"));
    }

    /** The request for more budget was answered, and changed nothing. */
    @Test
    void defect41_anIncreaseChangedNothing() {
        Pods pod = halfAGpu("team-b", TEN);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(62));

        ledger.grants(new Given("more", "b", "20", ledger.clock.instant()));

        assertThat(ledger.budget("b").remaining(ledger.clock.instant())).contains(minutes("19"));
        assertThat(ledger.budget("b").granted(ledger.clock.instant())).contains(minutes("50"));
        assertThat(ledger.budget("b").standing(ledger.clock.instant()))
                .isInstanceOf(InBudget.class);
    }

    /** One amount for every namespace, a constant of the program. */
    @Test
    void defect42_allNamespacesHadTheSameAmount() {
        assertThat(ledger.budget("a").granted(TEN)).contains(minutes("150"));
        assertThat(ledger.budget("b").granted(TEN)).contains(minutes("30"));
    }

    /** A key named usage held what was left, and nothing said how it came about. */
    @Test
    void defect43_nothingRecordedWhatWasUsedByWhomAndWhen() {
        Pods pod = halfAGpu("team-a", TEN.plusSeconds(1800));
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(80));
        ledger.onUpdate(pod.finishedAt(TEN.plusSeconds(4500)));

        List<Map<String, @Nullable Object>> history =
                ledger.database
                        .jdbc()
                        .sql(
                                """
                                select name, budget, extract(epoch from charged_to - charged_from)::int as seconds,
                                       rate, amount
                                from pod_charge where pod_uid = :uid order by charged_from
                                """)
                        .param("uid", pod.uid())
                        .query()
                        .listOfRows();

        assertThat(history).extracting(row -> row.get("seconds")).containsExactly(1800, 900);
        assertThat(history).extracting(row -> row.get("budget")).containsOnly("a");
        assertThat(history)
                .extracting(row -> row.get("amount"))
                .containsExactly(900_000_000L, 450_000_000L);
        assertThat(ledger.used("a")).isEqualTo(minutes("22.5"));
    }

    /** The meter lived in the user's pod: kill it, and time was free. */
    @Test
    void defect44_timeWasFreeOnceTheSidecarWasDead() {
        Pods pod = halfAGpu("team-a", TEN);
        ledger.onUpdate(pod);

        // Not a single report ever comes.
        ledger.pass(TEN_MINUTES);

        assertThat(ledger.charged(pod)).isEqualTo(minutes("5"));
    }

    /** Users make namespaces, and every new one had a budget of its own. */
    @Test
    void defect45_aNewNamespaceWasANewBudget() {
        TestLedger shared =
                new TestLedger(
                        TEN, monthly("a", TEN, "150", "team-a", "team-a-new", "team-a-newer"));
        for (String namespace : List.of("team-a", "team-a-new", "team-a-newer")) {
            shared.onUpdate(halfAGpu(namespace, TEN));
        }

        shared.pass(Duration.ofMinutes(100));

        assertThat(shared.budget("a").remaining(shared.clock.instant())).contains(GpuTime.ZERO);
        assertThat(shared.budget("a").standing(shared.clock.instant()).word())
                .isEqualTo("OverBudget");
    }
}
