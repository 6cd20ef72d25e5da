package io.gpusharing.timekeeper.reclaim;

import static io.gpusharing.timekeeper.reclaim.Cluster.NOON;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.placement.Amounts;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.reclaim.Receipts.Open;
import io.gpusharing.timekeeper.reclaim.Receipts.Result;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Candidate;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Victim;
import io.gpusharing.timekeeper.reclaim.snapshot.PastEviction;
import io.gpusharing.timekeeper.reclaim.snapshot.PodRef;
import io.gpusharing.timekeeper.reclaim.snapshot.Refusal;
import io.gpusharing.timekeeper.reclaim.snapshot.SchedulingConstraints;
import io.gpusharing.timekeeper.reclaim.snapshot.Waiter;
import io.gpusharing.timekeeper.usage.intake.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

class ReceiptsTest {

    private static final Instant SETTLES = NOON.plusSeconds(90);

    private final String cluster = "receipts-" + UUID.randomUUID();
    private final Receipts receipts =
            new Receipts(
                    new ClusterDatabase(JdbcClient.create(TestDatabase.DATA_SOURCE), cluster),
                    TestDatabase.transaction());
    private final PodRef victim = new PodRef(UUID.randomUUID().toString(), "team-a", "old");
    private final PodRef waiting = new PodRef(UUID.randomUUID().toString(), "team-b", "w");
    private final Evict plan = plan(victim);

    /** A plan for the same waiter that takes somebody else. */
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
                        new PodAsk(Amounts.NONE, List.of()),
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
                TestDatabase.jdbc()
                        .queryForObject(
                                "select " + name + "::text from reclaim_receipt where cluster = ?",
                                String.class,
                                cluster));
    }

    @Test
    void thePlanIsWrittenBeforeAnythingIsDone() {
        assertThat(receipts.plan(receipts.written(), plan, "team-b", NOON, SETTLES)).contains(1);

        assertThat(column("result")).isEqualTo("Planned");
        assertThat(column("considered")).contains("no budget limits it");
        assertThat(column("cost")).isEqualTo("1200000000");
    }

    /**
     * A leader that slept over its plan meets what the next one has planned, whomever that took.
     */
    @Test
    void whoHasNotSeenTheLastEvictionPlansAnew() {
        long seen = receipts.written();
        assertThat(receipts.plan(seen, another(), "team-b", NOON, SETTLES)).contains(1);

        assertThat(receipts.plan(seen, another(), "team-b", NOON, SETTLES)).isEmpty();
        assertThat(receipts.since(NOON.minusSeconds(1))).hasSize(1);
        assertThat(receipts.plan(seen + 1, another(), "team-b", NOON, SETTLES)).contains(2);
        assertThat(receipts.plan(seen, another(), "team-b", NOON, SETTLES)).isEmpty();
    }

    @Test
    void whatBecameOfItIsAdded() {
        receipts.plan(receipts.written(), plan, "team-b", NOON, SETTLES);
        receipts.result(waiting, 1, victim, Result.Refused, "a PodDisruptionBudget");

        assertThat(column("result")).isEqualTo("Refused");
        assertThat(column("result_detail")).isEqualTo("a PodDisruptionBudget");
    }

    @Test
    void aRefusalIsNoEvictionAndNeverHelps() {
        receipts.plan(receipts.written(), plan, "team-b", NOON, SETTLES);
        receipts.result(waiting, 1, victim, Result.Refused, "a PodDisruptionBudget");

        assertThat(receipts.open()).isEmpty();
        assertThat(column("helped")).isEqualTo("false");
        assertThat(column("outcome")).isEqualTo("it was not evicted");
        assertThat(receipts.since(NOON.minusSeconds(1))).isEmpty();
        assertThat(receipts.refusalsSince(NOON.minusSeconds(1)))
                .containsExactly(new Refusal(NOON, waiting.uid(), "deployment-uid", victim.uid()));
    }

    @Test
    void whoWasSparedForAnothersSakeWasNotRefused() {
        receipts.plan(receipts.written(), plan, "team-b", NOON, SETTLES);
        receipts.result(waiting, 1, victim, Result.Spared, "another may not go");

        assertThat(receipts.open()).isEmpty();
        assertThat(receipts.since(NOON.minusSeconds(1))).isEmpty();
        assertThat(receipts.refusalsSince(NOON.minusSeconds(1))).isEmpty();
    }

    @Test
    void staysOpenUntilItIsKnownWhetherItHelped() {
        receipts.plan(receipts.written(), plan, "team-b", NOON, SETTLES);
        assertThat(receipts.open())
                .containsExactly(new Open(UUID.fromString(waiting.uid()), "n1", SETTLES));

        receipts.settle(
                receipts.open().getFirst(),
                new Outcome(true, "the waiter was bound to n1"),
                NOON.plusSeconds(40));

        assertThat(receipts.open()).isEmpty();
        assertThat(column("outcome")).isEqualTo("the waiter was bound to n1");
        assertThat(receipts.since(NOON.minusSeconds(1)))
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
    void countsTheAttempts() {
        receipts.plan(receipts.written(), plan, "team-b", NOON, SETTLES);

        assertThat(
                        receipts.plan(
                                receipts.written(),
                                plan,
                                "team-b",
                                NOON.plusSeconds(200),
                                SETTLES.plusSeconds(200)))
                .contains(2);
        assertThat(receipts.since(NOON.minusSeconds(1)))
                .extracting(PastEviction::plan)
                .doesNotHaveDuplicates();
    }

    @Test
    void looksBackOnlyAsFarAsAsked() {
        receipts.plan(receipts.written(), plan, "team-b", NOON, SETTLES);

        assertThat(receipts.since(NOON)).isEmpty();
    }

    @Test
    void peopleReadThemPageByPageLatestFirst() {
        // Eleven at the same instant: attempts are numbers, and 10 comes after 9.
        for (int attempt = 1; attempt <= 11; attempt++) {
            receipts.plan(receipts.written(), plan, "team-b", NOON, SETTLES);
        }
        receipts.plan(receipts.written(), plan, "team-b", NOON.minusSeconds(60), SETTLES);
        var book =
                new EvictionRepository(
                        new ClusterDatabase(JdbcClient.create(TestDatabase.DATA_SOURCE), cluster));

        List<String> all =
                book.receipts("team-a", null, null, 100).stream()
                        .map(EvictionRepository.Receipt::cursor)
                        .toList();
        var paged = new ArrayList<String>();
        List<String> page;
        do {
            String after = paged.isEmpty() ? null : paged.getLast();
            page =
                    book.receipts("team-a", null, after, 5).stream()
                            .map(EvictionRepository.Receipt::cursor)
                            .toList();
            paged.addAll(page);
        } while (!page.isEmpty());

        assertThat(all).hasSize(12).last().asString().startsWith("2026").contains("_12_");
        assertThat(paged).isEqualTo(all);
        assertThat(all).allMatch(EvictionRepository::isCursor);
    }

    @Test
    void aCursorThatIsNoneIsNotLeftToTheDatabase() {
        assertThat(EvictionRepository.isCursor("abc")).isFalse();
        assertThat(EvictionRepository.isCursor("2026-01-01T00:00:00.000000Z_1_2_3")).isFalse();
        String pods = "Z_%s_1_%1$s".formatted(new UUID(0, 0));
        assertThat(EvictionRepository.isCursor("2026-01-01T00:00:00.000000" + pods)).isTrue();
        assertThat(EvictionRepository.isCursor("2026-99-99T00:00:00.000000" + pods)).isFalse();
    }
}
