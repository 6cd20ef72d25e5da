package io.gpusharing.timekeeper.reclaim;

import static io.gpusharing.timekeeper.reclaim.Cluster.NOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.gpusharing.placement.PodAsk;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Receipt;
import io.gpusharing.timekeeper.reclaim.EvictionVictim.Result;
import io.gpusharing.timekeeper.reclaim.Evictions.Answer;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Candidate;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Victim;
import io.gpusharing.timekeeper.reclaim.snapshot.PastEviction;
import io.gpusharing.timekeeper.reclaim.snapshot.PodRef;
import io.gpusharing.timekeeper.reclaim.snapshot.Refusal;
import io.gpusharing.timekeeper.reclaim.snapshot.SchedulingConstraints;
import io.gpusharing.timekeeper.reclaim.snapshot.Waiter;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.transaction.support.TransactionTemplate;

class EvictionPlansTest {

    private static final Instant SETTLES = NOON.plusSeconds(90);

    private final TestDatabase database = TestDatabase.create();
    private final EvictionPlanRepository rows = database.repository(EvictionPlanRepository.class);
    private final EvictionPlans plans =
            new EvictionPlans(rows, new TransactionTemplate(database.entityTransactions()));
    private final EvictionReceipts receipts =
            new EvictionReceipts(List.of(new ReclaimReceipts(rows)));
    private final PodRef victim = new PodRef(UUID.randomUUID().toString(), "team-a", "old");
    private final PodRef waiting = new PodRef(UUID.randomUUID().toString(), "team-b", "w");
    private final Evict plan = plan(victim);

    /** A plan for the same waiter with another victim. */
    private Evict another() {
        return plan(new PodRef(UUID.randomUUID().toString(), "team-a", "other"));
    }

    private Evict plan(PodRef victim) {
        Waiter waiter =
                new Waiter(
                        waiting,
                        NOON.minusSeconds(20),
                        null,
                        false,
                        0,
                        true,
                        new PodAsk(Amounts.NONE, List.of(), List.of()),
                        "deployment-uid",
                        SchedulingConstraints.NONE,
                        null);
        return new Evict(
                waiter,
                "n1",
                List.of(
                        new Victim(
                                victim,
                                "n1",
                                "team-a",
                                victim.uid(),
                                "over by 5.000 GPU-minutes",
                                1_200_000_000L,
                                Duration.ofSeconds(30),
                                null)),
                List.of(
                        new Candidate(victim, "n1", "team-a", null),
                        new Candidate(waiting, "n1", null, "no budget limits it")));
    }

    private String column(String name) {
        return String.valueOf(
                database.jdbc()
                        .sql(
                                """
                                select %s::text
                                  from eviction_plan p join eviction_victim v on v.plan = p.id
                                """
                                        .formatted(name))
                        .query(String.class)
                        .optional()
                        .orElse(null));
    }

    private EvictionPlan written() {
        return plans.plan(plans.written(), plan, "team-b", NOON, SETTLES).orElseThrow();
    }

    private void answered(Result result, String detail) {
        plans.record(written(), Map.of(victim.uid(), new Answer(result, detail)));
    }

    @Test
    void thePlanIsWrittenBeforeAnythingIsDone() {
        assertThat(written().number).isEqualTo(1);

        assertThat(receipts.receipts(null, null, null, 10, namespace -> true))
                .singleElement()
                .satisfies(it -> assertThat(it.result()).isEqualTo("Planned"));
        assertThat(column("considered")).contains("no budget limits it");
        assertThat(column("cost")).isEqualTo("1200000000");
    }

    @Test
    void aTextThatNoDatabaseHoldsIsWrittenAllTheSame() {
        answered(Result.Refused, "a webhook of others says \0");

        assertThat(column("result_detail")).isEqualTo("a webhook of others says \uFFFD");
    }

    /** A leader that slept over its plan finds the next leader's plan, whatever its victims. */
    @Test
    void aPlannerThatMissedTheLastEvictionPlansAgain() {
        long seen = plans.written();
        assertThat(plans.plan(seen, another(), "team-b", NOON, SETTLES)).isPresent();

        assertThat(plans.plan(seen, another(), "team-b", NOON, SETTLES)).isEmpty();
        assertThat(plans.since(NOON.minusSeconds(1))).hasSize(1);
        assertThat(plans.plan(seen + 1, another(), "team-b", NOON, SETTLES))
                .map(it -> it.number)
                .contains(2L);
        assertThat(plans.plan(seen, another(), "team-b", NOON, SETTLES)).isEmpty();
    }

    @Test
    void ofManyPlansFromOneReadOneMayEvict() throws InterruptedException {
        try (var timekeepers = Executors.newFixedThreadPool(4)) {
            for (long round = 0; round < 20; round++) {
                long read = round;
                List<Callable<Boolean>> all =
                        Collections.nCopies(
                                4,
                                () ->
                                        plans.plan(read, another(), "team-b", NOON, SETTLES)
                                                .isPresent());

                assertThat(timekeepers.invokeAll(all).stream().filter(Future::resultNow))
                        .hasSize(1);
                assertThat(plans.written()).isEqualTo(round + 1);
            }
        }
    }

    @Test
    void aConstraintViolationIsNotMistakenForALostRace() {
        Victim free = plan.victims().getFirst();
        var impossible =
                new Evict(
                        plan.waiter(),
                        "n1",
                        List.of(
                                new Victim(
                                        victim,
                                        "n1",
                                        "team-a",
                                        "",
                                        free.why(),
                                        -1,
                                        free.grace(),
                                        null)),
                        List.of());

        assertThatThrownBy(() -> plans.plan(0, impossible, "team-b", NOON, SETTLES))
                .isInstanceOf(DataIntegrityViolationException.class);
    }

    @Test
    void plansOfAnotherClusterAreNotSeen() {
        written();
        database.jdbc().sql("update eviction_plan set cluster = 'other'").update();

        assertThat(plans.written()).isZero();
        assertThat(plans.open()).isEmpty();
        assertThat(plans.since(NOON.minusSeconds(1))).isEmpty();
        assertThat(receipts.receipts(null, null, null, 10, namespace -> true)).isEmpty();
        assertThat(written().number).isEqualTo(1);
        assertThat(receipts.receipts(null, null, null, 10, namespace -> true)).hasSize(1);
    }

    @Test
    void aVictimThatWasNotEvictedIsNotReportedAsEvicted() {
        var other = new PodRef(UUID.randomUUID().toString(), "team-a", "other");
        var both =
                new Evict(
                        plan.waiter(),
                        "n1",
                        List.of(plan.victims().getFirst(), plan(other).victims().getFirst()),
                        List.of());
        EvictionPlan written = plans.plan(0, both, "team-b", NOON, SETTLES).orElseThrow();
        plans.record(
                written,
                Map.of(
                        victim.uid(), new Answer(Result.Evicted, ""),
                        other.uid(), new Answer(Result.Refused, "no")));
        plans.settle(written, new Outcome(true, "the waiter was bound to n1"), NOON);

        assertThat(receipts.receipts(null, null, null, 10, namespace -> true))
                .extracting(it -> it.victim().name(), Receipt::helped, Receipt::outcome)
                .containsExactlyInAnyOrder(
                        tuple("old", true, "the waiter was bound to n1"),
                        tuple("other", false, "it was not evicted"));
    }

    @Test
    void theOutcomeIsAddedToThePlan() {
        answered(Result.Refused, "a PodDisruptionBudget");

        assertThat(column("result")).isEqualTo("Refused");
        assertThat(column("result_detail")).isEqualTo("a PodDisruptionBudget");
    }

    @Test
    void aRefusalIsNoEvictionAndNeverHelps() {
        answered(Result.Refused, "a PodDisruptionBudget");

        assertThat(plans.open()).isEmpty();
        assertThat(column("helped")).isEqualTo("false");
        assertThat(column("outcome")).isEqualTo("it was not evicted");
        assertThat(plans.since(NOON.minusSeconds(1))).isEmpty();
        assertThat(plans.refusalsSince(NOON.minusSeconds(1)))
                .containsExactly(new Refusal(NOON, waiting.uid(), "deployment-uid", victim.uid()));
    }

    @Test
    void aVictimSparedBecauseOfAnotherIsNotReportedAsRefused() {
        answered(Result.Spared, "another may not go");

        assertThat(plans.open()).isEmpty();
        assertThat(plans.since(NOON.minusSeconds(1))).isEmpty();
        assertThat(plans.refusalsSince(NOON.minusSeconds(1))).isEmpty();
    }

    @Test
    void remainsOpenUntilItsOutcomeIsKnown() {
        plans.plan(plans.written(), plan, "team-b", NOON, SETTLES);
        assertThat(plans.open())
                .singleElement()
                .satisfies(it -> {
                    assertThat(it.waiter.uid()).hasToString(waiting.uid());
                    assertThat(it.node).isEqualTo("n1");
                    assertThat(it.settlesAt).isEqualTo(SETTLES);
                });

        plans.settle(
                plans.open().getFirst(),
                new Outcome(true, "the waiter was bound to n1"),
                NOON.plusSeconds(40));

        assertThat(plans.open()).isEmpty();
        assertThat(column("outcome")).isEqualTo("the waiter was bound to n1");
        assertThat(plans.since(NOON.minusSeconds(1)))
                .singleElement()
                .satisfies(it -> {
                    assertThat(it.helped()).isTrue();
                    assertThat(it.waiter()).isEqualTo(waiting);
                    assertThat(it.waiterBudget()).isEqualTo("team-b");
                    assertThat(it.victimBudget()).isEqualTo("team-a");
                    assertThat(it.settlesAt()).isEqualTo(SETTLES);
                });
    }

    @Test
    void countsThePlans() {
        plans.plan(plans.written(), plan, "team-b", NOON, SETTLES);

        assertThat(
                        plans.plan(
                                plans.written(),
                                plan,
                                "team-b",
                                NOON.plusSeconds(200),
                                SETTLES.plusSeconds(200)))
                .map(it -> it.number)
                .contains(2L);
        assertThat(plans.since(NOON.minusSeconds(1)))
                .extracting(PastEviction::plan)
                .doesNotHaveDuplicates();
    }

    @Test
    void readsOnlyAsFarBackAsRequested() {
        plans.plan(plans.written(), plan, "team-b", NOON, SETTLES);

        assertThat(plans.since(NOON)).isEmpty();
    }

    @Test
    void peopleReadThemPageByPageLatestFirst() {
        // Eleven at the same instant: 10 comes after 9.
        for (int number = 1; number <= 11; number++) {
            plans.plan(plans.written(), plan, "team-b", NOON, SETTLES);
        }
        plans.plan(plans.written(), plan, "team-b", NOON.minusSeconds(60), SETTLES);

        List<String> all =
                receipts.receipts("team-a", null, null, 100, namespace -> true).stream()
                        .map(receipt -> receipt.cursor().toString())
                        .toList();
        var paged = new ArrayList<String>();
        List<String> page;
        do {
            String after = paged.isEmpty() ? null : paged.getLast();
            page =
                    receipts.receipts("team-a", null, after, 5, namespace -> true).stream()
                            .map(receipt -> receipt.cursor().toString())
                            .toList();
            paged.addAll(page);
        } while (!page.isEmpty());

        assertThat(all).hasSize(12).last().asString().startsWith("2026").contains("_12_");
        assertThat(paged).isEqualTo(all);
        assertThat(all).allMatch(ReceiptCursor::isCursor);
    }

    @Test
    void anInvalidCursorIsRefusedBeforeTheDatabaseReadsIt() {
        assertThat(ReceiptCursor.isCursor("abc")).isFalse();
        assertThat(ReceiptCursor.isCursor("2026-01-01T00:00:00.000000Z_1_2")).isFalse();
        String pods = "Z_1_" + new UUID(0, 0);
        assertThat(ReceiptCursor.isCursor("2026-01-01T00:00:00.000000" + pods)).isTrue();
        assertThat(ReceiptCursor.isCursor("2026-99-99T00:00:00.000000" + pods)).isFalse();
    }
}
