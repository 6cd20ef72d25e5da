package io.gpusharing.timekeeper.ledger.correction;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.timekeeper.allocation.AllocationInterval.Ended;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.Holders;
import io.gpusharing.timekeeper.ledger.OutOfStepException;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.Posting;
import io.gpusharing.timekeeper.ledger.Posting.FeedPosition;
import io.gpusharing.timekeeper.ledger.posting.PostingBuilder;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.springframework.transaction.support.TransactionTemplate;

/** Corrections that people make. */
class CorrectionsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    /**
     * After any sequence of orders each second costs what the last order for it says, a repeated
     * order adds nothing, and no more is credited than was charged.
     */
    @ParameterizedTest
    @RandomSeeds(6)
    void eachSecondCostsWhatTheLastOrderSaysHoweverOftenItIsCorrected(long seed) {
        Random random = new Random(seed);
        var ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
        var corrections = ledger.corrections();
        Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(200));
        // Three full hours are posted by then; an earlier end takes some of them back.
        int seconds = 9_000 + random.nextInt(3_000);
        ledger.onUpdate(pod.finishedAt(TEN.plusSeconds(seconds)));
        long[] due = new long[seconds];
        Arrays.fill(due, 500_000);

        for (int i = 0; i < 12; i++) {
            int from = random.nextInt(seconds);
            int to = from + 1 + random.nextInt(Math.min(4_000, seconds - from));
            long rate = random.nextInt(3) == 0 ? 0 : random.nextInt(1_000_000);
            var order =
                    new CorrectionOrder(
                            pod.uid(), "a", TEN.plusSeconds(from), TEN.plusSeconds(to), rate);
            corrections.write(order, "measured otherwise", "somebody", null);
            assertThat(corrections.write(order, "measured otherwise", "somebody", null)).isEmpty();
            Arrays.fill(due, from, to, rate);

            long cost = Arrays.stream(due).sum();
            assertThat(ledger.charged(pod).microGpuSeconds()).isEqualTo(cost).isNotNegative();
        }

        ledger.restart();
        assertThat(ledger.used("a").microGpuSeconds()).isEqualTo(Arrays.stream(due).sum());
        assertThat(ledger.differences()).isEmpty();
        assertThat(
                        corrections.write(
                                new CorrectionOrder(
                                        pod.uid(), "b", TEN, TEN.plusSeconds(seconds), 0),
                                "not ours",
                                "somebody",
                                null))
                .as("what another budget paid is left alone")
                .isEmpty();

        List<Corrections.Written> all = corrections.of("a", null, Integer.MAX_VALUE);
        var paged = new ArrayList<Corrections.Written>();
        for (int page = 0; page <= all.size() / 7; page++) {
            UUID last = paged.isEmpty() ? null : paged.getLast().id();
            paged.addAll(corrections.of("a", last, 7));
        }
        assertThat(paged).isEqualTo(all).hasSizeGreaterThan(1);

        // Corrections of the time after its end are reversed with that time.
        int earlier = random.nextInt(seconds);
        ledger.onUpdate(pod.finishedAt(TEN.plusSeconds(earlier)));
        assertThat(ledger.charged(pod).microGpuSeconds())
                .isEqualTo(Arrays.stream(due, 0, earlier).sum());
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aCorrectionDoesNotAffectWhatAnotherBudgetPays() {
        UUID pod = UUID.randomUUID();
        Instant eleven = TEN.plusSeconds(3_600);
        Entry charge = new Entry(pod, "team-a", "a", TEN, eleven, 500_000);
        // Its end was taken back on a's account, and it went on at b's.
        List<Entry> moved =
                List.of(
                        new Entry(pod, "team-a", "a", TEN, eleven, -500_000),
                        new Entry(pod, "team-a", "b", TEN, eleven, 500_000));

        assertThat(new CorrectionOrder(pod, "a", TEN, eleven, 0).entries(List.of(charge), moved))
                .isEmpty();
    }

    /** A pod of three posted hours, which an earlier leader took for ended after the first. */
    private static final class Sleepers {

        private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
        private final Corrections corrections = ledger.corrections();
        private final TransactionTemplate transaction =
                new TransactionTemplate(ledger.database.transactions());
        private final Ledger rows = new Ledger(ledger.database.rows(), transaction);
        private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);
        private final Instant end = TEN.plus(Duration.ofHours(1));
        private final Posting drawnUp;

        Sleepers() {
            ledger.onUpdate(pod);
            ledger.pass(Duration.ofMinutes(200));
            PodAllocation allocation = ledger.allocation(pod);
            var builder =
                    new PostingBuilder(
                            uid -> allocation,
                            new Holders(),
                            node -> NodeFacts.UNKNOWN,
                            ledger.budgets(),
                            TEN);
            builder.end(allocation, new Ended(TEN, end, false), rows.entriesBeyond(pod.uid(), end));
            drawnUp = builder.posting(FeedPosition.NOTHING);
        }

        List<Corrections.Written> giveAllBack() {
            return corrections.write(
                    new CorrectionOrder(pod.uid(), "a", TEN, TEN.plus(Duration.ofHours(3)), 0),
                    "the node was broken",
                    "somebody",
                    null);
        }
    }

    @Test
    void anEndPreparedBeforeACorrectionIsPreparedAgain() {
        var it = new Sleepers();
        it.giveAllBack();

        assertThatThrownBy(() -> it.rows.post(it.drawnUp)).isInstanceOf(OutOfStepException.class);
        it.ledger.onUpdate(it.pod.finishedAt(it.end));

        assertThat(it.ledger.charged(it.pod)).isEqualTo(GpuTime.ZERO);
        assertThat(it.ledger.differences()).isEmpty();
    }

    @Test
    void aCorrectionGivesNothingBackThatAnEndTakesBackAtTheSameTime() throws Exception {
        var it = new Sleepers();

        try (var replica = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> correction =
                    it.transaction.execute(status -> {
                        it.rows.post(it.drawnUp);
                        Future<?> asked =
                                replica.submit(
                                        () -> it.transaction.execute(inner -> it.giveAllBack()));
                        await().until(() -> asked.isDone() || waitsForALock(it.ledger));
                        return asked;
                    });
            Objects.requireNonNull(correction).get();
        }

        assertThat(it.ledger.charged(it.pod)).isEqualTo(GpuTime.ZERO);
        assertThat(it.ledger.differences()).isEmpty();
    }

    private static boolean waitsForALock(TestLedger ledger) {
        return ledger.database
                .jdbc()
                .sql(
                        "select exists(select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')")
                .query(Boolean.class)
                .single();
    }
}
