package io.gpusharing.timekeeper.ledger.store;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * January's charges are dropped in May: of a pod that ended then, and of one that ran into June.
 */
class RetentionTest {

    private static final Instant JANUARY = Instant.parse("2026-01-05T10:00:00Z");
    private static final Instant FEBRUARY = Instant.parse("2026-02-01T00:00:00Z");

    private final TestLedger ledger =
            new TestLedger(JANUARY, monthly("a", JANUARY, "600000", "team-a"));
    private final Pods ended = Pods.waiting("team-a", 50, 15).boundAt(JANUARY);
    private final Pods running = Pods.waiting("team-a", 100, 0).boundAt(JANUARY);

    RetentionTest() {
        ledger.onUpdate(ended);
        ledger.onUpdate(running);
        ledger.pass(Duration.ofHours(5));
        ledger.onUpdate(ended.finishedAt(JANUARY.plusSeconds(3_600)));
        ledger.pass(Duration.ofDays(120));
    }

    private void execute(String sql) {
        ledger.database.jdbc().sql(sql).update();
    }

    private void dropped() {
        execute("delete from charge where charged_from < '%s'".formatted(FEBRUARY));
        execute("insert into charge_kept (since) values ('%s')".formatted(FEBRUARY));
        retain();
    }

    private void retain() {
        new Retention(ledger.database.rows(), ledger.ledger(), Leadership.alone(), ledger.clock)
                .work(ledger.clock.instant());
    }

    private long rows(String table) {
        return ledger.database
                .jdbc()
                .sql("select count(*) from " + table)
                .query(Long.class)
                .single();
    }

    @Test
    void nothingIsDeletedAsLongAsAllChargesAreKept() {
        retain();

        assertThat(rows("pod_allocation")).isEqualTo(2);
        assertThat(rows("correction")).isPositive();
    }

    @Test
    void podsThatEndedInADroppedMonthAreDeletedWithTheirCorrectionsAndOthersAreKept() {
        dropped();

        assertThat(ledger.ledger().allocations(List.of(ended.uid(), running.uid())))
                .extracting(it -> it.uid())
                .containsExactly(running.uid());
        assertThat(rows("correction")).isZero();
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aDroppedPodThatTheApiServerStillReportsIsNotChargedAgain() {
        long used = sums();
        dropped();
        assertThat(rows("usage_hour")).isPositive();

        ledger.onUpdate(ended.finishedAt(JANUARY.plusSeconds(3_600)));
        assertThat(sums()).isEqualTo(used);
        ledger.restart();
        ledger.onUpdate(ended.finishedAt(JANUARY.plusSeconds(3_601)));
        ledger.restart();

        assertThat(sums()).isEqualTo(used);
        assertThat(ledger.differences()).isEmpty();
    }

    /** Of January. */
    private long sums() {
        return ledger.database
                .jdbc()
                .sql("select sum(amount) from usage_hour where hour < '%s'".formatted(FEBRUARY))
                .query(Long.class)
                .single();
    }

    @Test
    void otherRowsOfDroppedMonthsAreDeletedToo() {
        for (String at : List.of("2026-01-20T00:00Z", "2026-02-20T00:00Z")) {
            execute(
                    """
                    insert into usage_counter values ('test', gen_random_uuid(), gen_random_uuid(), 'Agent', 'GPU-1', 'PerProcess', '', 1, 1, 1, 1, 1, '%1$s', '%1$s');
                    insert into usage_counter values ('test', '%2$s', gen_random_uuid(), 'Agent', 'GPU-1', 'PerProcess', '', 1, 1, 1, 1, 1, '%1$s', '%1$s');
                    insert into unwatched values ('test', '%1$s', '%1$s');
                    insert into usage_unattributed values ('test', 'node-1', gen_random_uuid(), 'GPU-1', 1, '%1$s');
                    insert into memory_excess values ('test', gen_random_uuid(), 'team-a', 'n', 'node-1', 'GPU-1', 2, 1, '%1$s', '%1$s');
                    insert into budget_notification values ('test', 'a', '%1$s', 'Exhausted', 0, '%1$s', 'used up', '%1$s');
                    with planned as (
                        insert into eviction (id, cluster, uid, version, cause, phase, decided_at, node)
                        values (gen_random_uuid(), 'test', gen_random_uuid(), 0, 'MemoryOveruse', 'Done', '%1$s', 'node-1')
                        returning id)
                    insert into eviction_victim (eviction, uid, namespace, name, budget, reason)
                    select id, gen_random_uuid(), 'team-b', 'v', 'b', 'over' from planned
                    """
                            .formatted(at, running.uid()));
        }

        dropped();

        assertThat(rows("usage_counter")).isEqualTo(3);
        assertThat(rows("usage_unattributed")).isOne();
        assertThat(rows("unwatched")).isOne();
        assertThat(rows("budget_notification where kind = 'Exhausted'")).isOne();
        assertThat(rows("eviction")).isOne();
        assertThat(rows("eviction_victim")).isOne();
        assertThat(rows("memory_excess")).isOne();
    }

    @Test
    void podsOfAClaimAreKeptAsLongAsItIsHeld() {
        execute(
                "insert into claim_holder values ('test', '%s', '%s')"
                        .formatted(running.uid(), ended.uid()));

        dropped();
        assertThat(rows("pod_allocation")).isEqualTo(2);

        execute("update claim_holder set allocation = pod_uid");
        retain();
        assertThat(rows("pod_allocation")).isOne();
        assertThat(rows("claim_holder")).isZero();
    }
}
