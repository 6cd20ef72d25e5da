package io.gpusharing.timekeeper.audit;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.audit.Verification.Difference;
import io.gpusharing.timekeeper.ledger.correction.CorrectionOrder;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Changes to the rows of a ledger, and which checks detect them. Team a's pod held half a GPU from
 * ten; its end at half past eleven was observed at one, and ten of its minutes were given back.
 * Team b is charged by use, and idle.
 */
class VerificationTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private static TestLedger ledger;

    @BeforeAll
    static void fillLedger() {
        ledger =
                new TestLedger(
                        TEN,
                        monthly("a", TEN, "1000", "team-a"),
                        monthly("b", TEN, "1000", "team-b").byUse());
        Pods trainer = Pods.waiting("team-a", 50, 15).boundAt(TEN);
        Pods idle = Pods.waiting("team-b", 50, 15).boundAt(TEN);
        ledger.onUpdate(trainer);
        ledger.onUpdate(idle);
        ledger.measured(idle, 0, 7_200);
        ledger.pass(Duration.ofHours(3));
        ledger.onUpdate(trainer.finishedAt(TEN.plusSeconds(5_400)));
        ledger.corrections()
                .write(
                        new CorrectionOrder(
                                trainer.uid(),
                                "a",
                                TEN.plusSeconds(600),
                                TEN.plusSeconds(1_200),
                                0),
                        "the node was broken",
                        "somebody",
                        null);
    }

    /**
     * Kinds of the differences after a change; the same for a verification of what was posted since
     * ten.
     */
    private static List<String> found(String change) {
        List<String> found = found(change, ledger::differences);
        assertThat(found(change, () -> ledger.differencesSince(TEN)))
                .containsExactlyInAnyOrderElementsOf(found);
        return found;
    }

    private static List<String> found(String change, Supplier<List<Difference>> verify) {
        return new TransactionTemplate(ledger.database.transactions())
                .execute(status -> {
                    ledger.database.jdbc().sql(change).update();
                    List<Difference> differences = verify.get();
                    status.setRollbackOnly();
                    return differences.stream().map(Difference::kind).distinct().toList();
                });
    }

    @Test
    void nothingIsFoundInASoundLedger() {
        assertThat(ledger.differences()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            textBlock =
                    """
                    update charge set amount = amount + 1 where budget = 'a'                        | amount hour allocation
                    update charge set rate = rate + 1 where budget = 'a'                            | amount
                    update charge set charged_to = charged_to - interval '1 second'                 | amount gap
                    update charge set budget = 'b' where budget = 'a'                               | hour
                    update charge set namespace = 'team-b' where budget = 'a'                       | hour
                    delete from charge where budget = 'a'                                           | hour allocation gap
                    delete from charge where budget = 'b'                                           | hour use gap
                    update correction set amount = amount - 1 where budget = 'a' and by_hand        | amount hour allocation
                    update correction set amount = amount - 1 where budget = 'a' and not by_hand    | amount hour allocation
                    update correction set rate = rate + 1 where budget = 'a' and not by_hand        | amount
                    delete from correction where by_hand                                            | hour
                    delete from correction where budget = 'a' and not by_hand                       | hour allocation
                    update correction set rate = 2 * rate, amount = 2 * amount where budget = 'b'   | hour use
                    update usage_hour set amount = amount - 1 where budget = 'a'                    | hour
                    delete from usage_hour where budget = 'a'                                       | hour
                    insert into usage_hour values ('test', 'a', 'team-a', '2026-03-02T09:00Z', 1)   | hour
                    update pod_allocation set held_from = held_from - interval '1 hour'                   | allocation gap
                    update pod_allocation set posted_until = posted_until + interval '1 hour'             | allocation
                    update pod_allocation set charged_until = charged_until + interval '1 hour'           | gap
                    """)
    void aRowThatIsChangedLostOrInventedIsFound(String change, String kinds) {
        assertThat(found(change)).containsExactlyInAnyOrder(kinds.split(" "));
    }

    @Test
    void anHourThatIsChangedAlongHidesNoLostEntry() {
        assertThat(
                        found(
                                """
                                with lost as (delete from charge where budget = 'a' returning *)
                                update usage_hour h set amount = h.amount - lost.amount from lost
                                 where h.budget = lost.budget and h.hour = lost.charged_from
                                """))
                .containsExactly("allocation", "gap");
    }

    @Test
    void aPodWithoutAnyEntryLeftIsFound() {
        assertThat(
                        found(
                                """
                                delete from usage_hour where budget = 'a';
                                delete from correction where budget = 'a';
                                delete from charge where budget = 'a'
                                """))
                .containsExactly("allocation", "gap");
    }

    @Test
    void anEntryThatIsLostIsFoundThoughTheRateHasChangedSince() {
        assertThat(
                        found(
                                """
                                with lost as (
                                    delete from charge where budget = 'a' and charged_from = '2026-03-02T11:00Z' returning *),
                                 hours as (
                                    update usage_hour h set amount = h.amount - lost.amount from lost
                                     where h.budget = lost.budget and h.hour = lost.charged_from)
                                update pod_allocation set share_rate = 2 * share_rate, rate = 2 * rate where budget = 'a'
                                """))
                .containsExactly("gap");
    }

    @Test
    void timeThatIsChargedTwiceIsFound() {
        assertThat(
                        found(
                                """
                                insert into charge (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount)
                                select cluster, pod_uid, charged_to - interval '1 second', charged_to, namespace, budget, rate, rate
                                  from charge where budget = 'a'
                                """))
                .contains("overlap");
    }

    @Test
    void aWeightThatIsChangedWithoutItsRateIsRefusedByTheTableAndFoundWithoutThat() {
        assertThat(
                        found(
                                """
                                alter table pod_allocation drop constraint pod_allocation_weighed;
                                update pod_allocation set weight = 2000000 where budget = 'a'
                                """))
                .containsExactly("weight");
    }

    @Test
    void anotherClusterOnTheSameDatabaseIsNotRead() {
        assertThat(
                        found(
                                """
                                insert into cluster values ('other', now());
                                insert into usage_hour select 'other', budget, namespace, hour, amount - 1 from usage_hour;
                                insert into charge (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount)
                                select 'other', pod_uid, charged_from, charged_to + interval '1 second', namespace, budget, rate, amount
                                  from charge
                                """))
                .isEmpty();
    }

    @Test
    void anEntryThatReachesIntoTheNextHourIsFound() {
        assertThat(
                        found(
                                """
                                delete from charge where budget = 'a' and charged_from >= '2026-03-02T11:00Z';
                                update charge set charged_to = '2026-03-02T11:30Z' where budget = 'a'
                                """))
                .contains("span");
    }

    /** All was posted on the day it was charged for, and verified two days later. */
    private static List<String> foundLater(String change) {
        String posted =
                """
                update charge set posted_at = charged_to; update correction set posted_at = charged_to;
                """;
        return found(posted + change, () -> ledger.differencesSince(TEN.plus(Duration.ofDays(2))));
    }

    @Test
    void aLatePostingCausesAnotherVerificationOfItsPod() {
        String changed = "update usage_hour set amount = amount + 1 where budget = 'a';";
        String lost =
                "delete from charge where budget = 'a' and charged_from >= '2026-03-02T11:00Z';";
        String late =
                """
                insert into correction (id, cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount, reason, author, by_hand, posted_at)
                select gen_random_uuid(), cluster, pod_uid, charged_from, charged_to, namespace, budget, 0, 0, 'late', 'a test', true, '2026-03-04T09:30Z'
                from charge where budget = 'a' limit 1;
                """;

        assertThat(foundLater(changed + lost)).isEmpty();
        assertThat(foundLater(late)).isEmpty();
        assertThat(foundLater(late + changed)).containsExactly("hour");
        assertThat(foundLater(late + lost)).containsExactlyInAnyOrder("allocation", "gap");
        assertThat(foundLater(late.replace("budget, 0, 0", "budget, 0, 1")))
                .containsExactlyInAnyOrder("amount", "hour", "allocation");
    }

    @Test
    void aLateEntryOfAnUnknownPodIsFound() {
        assertThat(
                        foundLater(
                                """
                                insert into charge (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount, posted_at)
                                select cluster, gen_random_uuid(), charged_from, charged_to, namespace, budget, rate, amount, '2026-03-04T09:30Z'
                                from charge where budget = 'a' limit 1
                                """))
                .containsExactlyInAnyOrder("hour", "pod");
    }

    @Test
    void chargesOfAnUnknownPodAreFound() {
        assertThat(found("delete from pod_allocation where budget = 'a'")).containsExactly("pod");
    }
}
