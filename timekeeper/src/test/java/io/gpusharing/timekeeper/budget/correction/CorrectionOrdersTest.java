package io.gpusharing.timekeeper.budget.correction;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.kubernetes.GpuCorrection;
import io.gpusharing.timekeeper.budget.correction.CorrectionOutcome.Posted;
import io.gpusharing.timekeeper.budget.correction.CorrectionOutcome.Refused;
import io.gpusharing.timekeeper.ledger.correction.Corrections.Written;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CorrectionOrdersTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final int HALF = 500_000;

    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
    private final CorrectionOrders orders =
            new CorrectionOrders(ledger.corrections(), ledger.database.transactions());
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);

    /** It held half a GPU for 90 minutes, all of them posted. */
    @BeforeEach
    void itHasEnded() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(90));
        ledger.onUpdate(pod.finishedAt(TEN.plus(Duration.ofMinutes(90))));
        ledger.pass(Duration.ofMinutes(1));
    }

    private OrderedCorrection order(
            @Nullable UUID uid, String budget, int from, int to, long rate) {
        return order(uid, budget, from, to, rate, "ada");
    }

    private OrderedCorrection order(
            @Nullable UUID uid,
            String budget,
            int from,
            int to,
            long rate,
            @Nullable String author) {
        return new OrderedCorrection(
                UUID.randomUUID(),
                "node-7",
                TEN,
                budget,
                uid,
                "team-a",
                "pod-" + pod.uid(),
                TEN.plusSeconds(from),
                TEN.plusSeconds(to),
                rate,
                "the node was broken",
                author);
    }

    private Posted posted(OrderedCorrection order) {
        CorrectionOutcome outcome = orders.carryOut(order);
        assertThat(outcome).isInstanceOf(Posted.class);
        return (Posted) outcome;
    }

    private void refused(OrderedCorrection order, String rule, String... words) {
        assertThat(orders.carryOut(order))
                .asInstanceOf(type(Refused.class))
                .satisfies(it -> assertThat(it.rule()).hasToString(rule))
                .satisfies(it -> assertThat(it.message()).contains(words));
        assertThat(ledger.charged(pod).microGpuSeconds()).isEqualTo(5400L * HALF);
    }

    @Test
    void whatIsOrderedBecomesEntriesOfWhoOrderedIt() {
        Posted made = posted(order(pod.uid(), "a", 3_000, 4_200, 0));

        assertThat(made.pod()).isEqualTo(pod.uid());
        assertThat(made.entries())
                .as("one in each hour of the clock")
                .extracting(Written::author, Written::reason, Written::amount)
                .containsExactly(
                        tuple("ada", "the node was broken", -600L * HALF),
                        tuple("ada", "the node was broken", -600L * HALF));
        assertThat(ledger.charged(pod).microGpuSeconds()).isEqualTo(4200L * HALF);
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void theStatusSaysWhatChanged() {
        GpuCorrection.Status status = posted(order(pod.uid(), "a", 3_000, 4_200, 250_000)).status();

        assertThat(status.isDone()).isTrue();
        assertThat(status.entryCount()).isEqualTo(2);
        assertThat(status.amount()).isEqualTo(-1200L * 250_000);
        assertThat(status.gpuMinutes()).isEqualTo("-5.000");
        assertThat(status.entries())
                .containsExactly(
                        new GpuCorrection.Entry(
                                "2026-03-02T10:50:00Z",
                                "2026-03-02T11:00:00Z",
                                "team-a",
                                -250_000,
                                -600L * 250_000),
                        new GpuCorrection.Entry(
                                "2026-03-02T11:00:00Z",
                                "2026-03-02T11:10:00Z",
                                "team-a",
                                -250_000,
                                -600L * 250_000));
    }

    /** A leader may be killed after its commit, and before anybody knows of it. */
    @Test
    void anObjectIsWrittenOnceHoweverOftenItIsCarriedOut() {
        OrderedCorrection order = order(pod.uid(), "a", 0, 60, 0);
        Posted made = posted(order);
        posted(order(pod.uid(), "a", 0, 60, HALF));

        assertThat(posted(order)).isEqualTo(made);
        assertThat(ledger.charged(pod).microGpuSeconds())
                .as("what was ordered later stands")
                .isEqualTo(5400L * HALF);
    }

    @Test
    void oneThatTwoReplicasCarryOutAtOnceIsWrittenOnce() throws Exception {
        OrderedCorrection order = order(pod.uid(), "a", 0, 60, 0);

        List<Future<CorrectionOutcome>> both;
        try (var replicas = Executors.newVirtualThreadPerTaskExecutor()) {
            Callable<CorrectionOutcome> one = () -> orders.carryOut(order);
            both = replicas.invokeAll(List.of(one, one));
        }

        assertThat(both.getFirst().get()).isEqualTo(both.getLast().get());
        assertThat(ledger.corrections().of("a", null, 10)).hasSize(1);
    }

    @Test
    void thePodMayBeSaidByItsName() {
        assertThat(posted(order(null, "a", 0, 60, 0)).pod()).isEqualTo(pod.uid());
    }

    @Test
    void aNameThatFitsSeveralPodsIsRefusedWithTheirUids() {
        Pods other = Pods.waiting("team-a", 50, 15).boundAt(TEN);
        ledger.onUpdate(other);
        ledger.database
                .jdbc()
                .sql("update pod_allocation set name = 'pod-%s'".formatted(pod.uid()))
                .update();

        refused(
                order(null, "a", 0, 60, 0),
                "SeveralPods",
                "2 pods called team-a/pod-",
                pod.uid().toString(),
                other.uid().toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    a | 0    | 60   | 500001 | MoreThanHeld      | was charged for 0.5 GPUs (rate 500000)
                    a | 0    | 60   | 500000 | NothingDiffers    | budget a is charged just that
                    b | 0    | 60   | 0      | BudgetPaidNothing | Budget b was charged nothing
                    a | 5300 | 5401 | 0      | NotPosted         | is posted until 2026-03-02T11:30:00Z
                    """)
    void whatTheLedgerDoesNotTakeIsRefusedWithTheRule(
            String budget, int from, int to, long rate, String rule, String words) {
        refused(order(pod.uid(), budget, from, to, rate), rule, words);
    }

    @Test
    void aPodThatHeldNothingIsUnknown() {
        UUID stranger = UUID.randomUUID();

        refused(order(stranger, "a", 0, 60, 0), "PodUnknown", stranger.toString());
        refused(order(null, "a", 5_401, 5_460, 0), "PodUnknown", "No pod team-a/pod-");
    }

    @Test
    void oneOfWhichNobodySaysWhoMadeItIsNotWritten() {
        refused(order(pod.uid(), "a", 0, 60, 0, null), "AuthorUnknown", "create it again");
        refused(order(pod.uid(), "a", 0, 60, 0, ""), "AuthorUnknown", "create it again");
    }

    @Test
    void aRefusalIsADoneStatusWithRuleAndSentence() {
        GpuCorrection.Status status = orders.carryOut(order(pod.uid(), "b", 0, 60, 0)).status();

        assertThat(status.isDone()).isTrue();
        assertThat(status.refused()).isNotNull();
        assertThat(status.written()).isNull();
        assertThat(ledger.used("a")).isEqualTo(new GpuTime(5400L * HALF));
    }
}
