package io.gpusharing.timekeeper.audit;

import static io.gpusharing.recount.Audited.HALF;
import static io.gpusharing.recount.Audited.NODE;
import static io.gpusharing.recount.Audited.alive;
import static io.gpusharing.recount.Audited.containers;
import static io.gpusharing.recount.Audited.ended;
import static io.gpusharing.recount.Audited.log;
import static io.gpusharing.recount.Audited.naming;
import static io.gpusharing.recount.Audited.running;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.recount.AuditLog;
import io.gpusharing.recount.Audited;
import io.gpusharing.recount.Comparison;
import io.gpusharing.recount.Comparison.Verdict;
import io.gpusharing.timekeeper.cluster.RequestProperties;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the ledger has of a pod that holds half a GPU from ten o'clock on. */
class LedgerBillsTest {

    private static final Instant TEN = Instant.parse("2026-03-01T10:00:00Z");
    private static final TestDatabase DATABASE = TestDatabase.create();

    private static final AuditLog ENDED =
            log(NODE, running(HALF), ended(HALF, "10:20:00"), alive("10:40:00"));

    private final LedgerBills bills = of("nvidia.com/gpu", "tencent.com/*");

    private static LedgerBills of(String... resources) {
        return new LedgerBills(
                DATABASE.rows(),
                new RequestProperties(
                        List.of(resources), List.of("vcuda", "nvidia"), Map.of(), Map.of()));
    }

    @BeforeAll
    static void installed() {
        DATABASE.jdbc().sql("insert into cluster values ('test', '2026-03-01T10:00:00Z')").update();
    }

    @AfterEach
    void empty() {
        for (String table : List.of("charge", "correction", "pod_allocation")) {
            DATABASE.jdbc().sql("delete from " + table).update();
        }
    }

    /** Posted up to a minute past ten; ended then, or still running. */
    private void allocation(int posted, boolean ended) {
        DATABASE.jdbc()
                .sql(
                        """
                        insert into pod_allocation (cluster, pod_uid, namespace, name, node, budget, share_rate, rate,
                            compute_part, memory_part, compute_numerator, compute_denominator, memory_numerator, memory_denominator,
                            share_known, held_from, posted_until, charged_until, held_until)
                        select 'test', '%1$s', 'team-a', 'p', 'gpu-1', 'a', 500000, 500000, 500000, 250000, 1, 2, 1, 4, true,
                            '2026-03-01T10:00:00Z', posted, posted, case when %2$s then posted end
                          from (select '2026-03-01T10:%3$02d:00Z'::timestamptz as posted)
                        """
                                .formatted(Audited.UID, ended, posted))
                .update();
    }

    private void charged(int from, int to) {
        entry("charge", "", "", from, to, 500_000);
    }

    private void corrected(int from, int to, boolean byHand) {
        entry(
                "correction",
                ", id, reason, author, by_hand",
                ", gen_random_uuid(), 'why', 'somebody', " + byHand,
                from,
                to,
                -500_000);
    }

    private void entry(String table, String columns, String values, int from, int to, long rate) {
        DATABASE.jdbc()
                .sql(
                        """
                        insert into %s (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount%s)
                        values ('test', '%s', '2026-03-01T10:%02d:00Z', '2026-03-01T10:%02d:00Z', 'team-a', 'a', %d, %d%s)
                        """
                                .formatted(
                                        table,
                                        columns,
                                        Audited.UID,
                                        from,
                                        to,
                                        rate,
                                        rate * 60 * (to - from),
                                        values))
                .update();
    }

    private void agrees(AuditLog log, int from, int to) {
        Comparison comparison =
                bills.against(log, TEN.plusSeconds(60L * from), TEN.plusSeconds(60L * to));

        assertThat(comparison.findings()).isEmpty();
        assertThat(comparison.equal()).isOne();
    }

    @Test
    void whatALateEndCreditedBackIsNotCharged() {
        allocation(20, true);
        charged(0, 30);
        corrected(20, 30, false);

        agrees(ENDED, 0, 40);
    }

    @Test
    void correctionsByPeopleAreNoDifference() {
        allocation(20, true);
        charged(0, 20);
        corrected(5, 10, true);

        agrees(ENDED, 0, 40);
    }

    @Test
    void aRunningPodIsChargedUpToTheEndOfTheSpan() {
        AuditLog log = log(NODE, running(HALF), alive("10:30:00"));
        allocation(10, false);
        charged(0, 10);

        agrees(log, 0, 30);
        agrees(log, 5, 25);
        agrees(log, 15, 25);
        agrees(log, 2, 7);
    }

    @Test
    void anEntryThatReachesOverTheSpansEdgesCountsByItsPart() {
        allocation(20, true);
        charged(0, 20);

        agrees(ENDED, 3, 7);
        agrees(ENDED, 15, 40);
        agrees(ENDED, 30, 40);
    }

    @Test
    void nothingIsComparedFromBeforeTheInstallation() {
        allocation(20, true);
        charged(0, 20);

        assertThat(bills.against(ENDED, TEN.minusSeconds(3600), TEN.plusSeconds(60)).from())
                .isEqualTo(TEN);
    }

    @Test
    void aPodOnABudgetThatNeverHadItsNamespaceIsADifferenceWhereItIsPostedAndWhereItRuns() {
        AuditLog log =
                log(
                        NODE,
                        naming("09:00:00", "a", "09:00:00", 1, "team-a"),
                        naming("09:00:00", "b", "09:00:00", 1, "team-b"),
                        running(HALF),
                        alive("10:30:00"));
        allocation(10, false);
        charged(0, 10);
        assertThat(bills.against(log, TEN, TEN.plusSeconds(1800)).paid()).isOne();

        DATABASE.jdbc().sql("update charge set budget = 'b'").update();
        assertThat(bills.against(log, TEN, TEN.plusSeconds(1800)).agrees()).isFalse();

        DATABASE.jdbc().sql("update charge set budget = 'a'").update();
        DATABASE.jdbc().sql("update pod_allocation set budget = 'b'").update();
        assertThat(bills.against(log, TEN, TEN.plusSeconds(1800)).agrees()).isFalse();
    }

    /** It came and went between two sweeps. */
    @Test
    void aPodOfWholeGpusWithoutOurLabelIsMissedWhereTheyAreCharged() {
        String two = containers("\"nvidia.com/gpu\": \"2\"");
        AuditLog log = log(NODE, running(two), ended(two, "10:00:36"), alive("10:40:00"));

        assertThat(bills.against(log, TEN, TEN.plusSeconds(2400)).findings())
                .singleElement()
                .satisfies(it -> {
                    assertThat(it.verdict()).isEqualTo(Verdict.DIFFERENT);
                    assertThat(it.ledger()).isZero();
                    assertThat(it.recount()).isEqualTo(72_000_000);
                });
        assertThat(of("tencent.com/*").against(log, TEN, TEN.plusSeconds(2400)).findings())
                .isEmpty();
    }

    @Test
    void aPodThatASweepChargedIsComparedWithinTheBoundOfItsEnd() {
        allocation(20, true);
        charged(0, 20);
        DATABASE.jdbc()
                .sql(
                        "update pod_allocation set watched = false, estimated = true, end_bound = held_until + interval '15 minutes'")
                .update();
        AuditLog within = log(NODE, running(HALF), ended(HALF, "10:34:00"), alive("10:50:00"));
        AuditLog beyond = log(NODE, running(HALF), ended(HALF, "10:36:00"), alive("10:50:00"));

        assertThat(bills.against(within, TEN, TEN.plusSeconds(3000)).agrees()).isTrue();
        assertThat(bills.against(beyond, TEN, TEN.plusSeconds(3000)).agrees()).isFalse();
    }

    @Test
    void aPodThatWasRepricedOnceItsGpuCouldBeReadIsNoDifference() {
        allocation(20, true);
        DATABASE.jdbc()
                .sql("update pod_allocation set rate = 750000, share_rate = 750000")
                .update();
        charged(0, 5);
        entry("charge", "", "", 5, 20, 750_000);

        Comparison comparison = bills.against(Audited.onSmallGpu(), TEN, TEN.plusSeconds(2400));

        assertThat(comparison.agrees()).isTrue();
        assertThat(comparison.findings())
                .singleElement()
                .satisfies(it -> {
                    assertThat(it.verdict()).isEqualTo(Verdict.NOT_RECOUNTED);
                    assertThat(it.recount()).isEqualTo(it.ledger()).isEqualTo(825_000_000);
                });
    }

    @Test
    void aPodThatIsChargedTwiceIsADifference() {
        allocation(20, true);
        charged(0, 20);
        entry("charge", "", "", 1, 20, 500_000);

        assertThat(bills.against(ENDED, TEN, TEN.plusSeconds(2400)).agrees()).isFalse();
    }
}
