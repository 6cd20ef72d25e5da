package io.gpusharing.timekeeper.receipt;

import static io.gpusharing.timekeeper.receipt.TestEvictions.TEN;
import static io.gpusharing.timekeeper.receipt.TestEvictions.asked;
import static io.gpusharing.timekeeper.receipt.TestEvictions.in;
import static io.gpusharing.timekeeper.receipt.TestEvictions.settled;
import static io.gpusharing.timekeeper.receipt.TestEvictions.victim;
import static io.gpusharing.timekeeper.receipt.TestEvictions.waiter;
import static io.gpusharing.timekeeper.receipt.TestEvictions.with;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Candidate;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Considered;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Status;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuEviction.Waiter;
import io.gpusharing.timekeeper.receipt.EvictionReceipts.Receipt;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.transaction.support.TransactionTemplate;

/** What people are shown of evictions. */
class EvictionReceiptsTest {

    private static final Waiter HIGH = waiter("team-b", "high", "b");

    private final TestDatabase database = TestDatabase.create();
    private final EvictionRepository rows = database.repository(EvictionRepository.class);
    private final TransactionTemplate transaction =
            new TransactionTemplate(database.entityTransactions());
    private final EvictionReceipts receipts = new EvictionReceipts(rows);

    private void kept(GpuEviction object) {
        transaction.executeWithoutResult(status ->
                rows.save(new Eviction(EvictionPlan.of(object), namespace -> "/" + namespace)));
    }

    private Receipt only(GpuEviction object) {
        kept(object);
        List<Receipt> all = receipts.receipts(null, null, null, 10, namespace -> true);
        assertThat(all).hasSize(1);
        return all.getFirst();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Reclaim       | Evicted   | team-a/low of budget a, which was over its time, made room on node-1 for team-b/high of budget b, which had waited since 2026-03-02T09:59:00Z: why
                    Reclaim       | Deleted   | team-a/low of budget a, which was over its time, made room on node-1 for team-b/high of budget b, which had waited since 2026-03-02T09:59:00Z: why
                    Reclaim       | Refused   | team-a/low of budget a, which was over its time, was to make room on node-1 for team-b/high of budget b, which had waited since 2026-03-02T09:59:00Z: why
                    Reclaim       | Gone      | team-a/low of budget a, which was over its time, had gone already when it was to make room on node-1 for team-b/high of budget b, which had waited since 2026-03-02T09:59:00Z: why
                    Preemption    | Preempted | team-a/low of budget a was preempted by kube-scheduler on node-1 for team-b/high of budget b, which had waited since 2026-03-02T09:59:00Z: why
                    Preemption    | Spared    | team-a/low of budget a was to be preempted by kube-scheduler on node-1 for team-b/high of budget b, which had waited since 2026-03-02T09:59:00Z: why
                    RefusedStart  | Evicted   | team-a/low of budget a was evicted from node-1, because why
                    RefusedStart  | Gone      | team-a/low of budget a had gone already when it was to be evicted from node-1, because why
                    MemoryOveruse | Evicted   | team-a/low of budget a was evicted from node-1: it why
                    MemoryOveruse | Refused   | team-a/low of budget a was to be evicted from node-1: it why
                    """)
    void aReceiptIsASentence(Cause cause, Result result, String because) {
        Victim low =
                new Victim(
                        "team-a",
                        "low",
                        UUID.randomUUID().toString(),
                        "node-1",
                        "a",
                        "OverBudget",
                        "job",
                        "why",
                        null,
                        null,
                        null);
        boolean forSomebody = cause == Cause.Reclaim || cause == Cause.Preemption;
        GpuEviction object = forSomebody ? asked(cause, HIGH, low) : asked(cause, low);

        Receipt receipt = only(in(Phase.Done, object, result, "said"));

        assertThat(receipt.because()).isEqualTo(because);
        assertThat(receipt.result()).isEqualTo(result.name());
        assertThat(receipt.resultDetail()).isEqualTo("said");
        assertThat(receipt.reason()).isEqualTo("why");
    }

    @ParameterizedTest
    @EnumSource(
            value = Cause.class,
            names = {"RefusedStart", "MemoryOveruse"})
    void whereNobodyWaitedNobodyWasHelped(Cause cause) {
        Receipt receipt = only(in(Phase.NotDone, asked(cause, victim("team-a", "low", "a"))));

        assertThat(receipt.waiter()).isNull();
        assertThat(receipt.helped()).isNull();
        assertThat(receipt.outcome()).isNull();
        assertThat(receipt.cost()).isNull();
        assertThat(receipt.considered()).isNull();
    }

    @Test
    void whoWasNotAskedSaysWhyNot() {
        GpuEviction object = asked(Cause.Preemption, HIGH, victim("team-a", "low", "a"));

        Receipt receipt =
                only(
                        with(
                                object,
                                new Status(
                                        "NotDone",
                                        null,
                                        null,
                                        null,
                                        "kube-scheduler preempted nobody",
                                        null)));

        assertThat(receipt.result()).isEqualTo("Spared");
        assertThat(receipt.resultDetail()).isEqualTo("kube-scheduler preempted nobody");
        assertThat(receipt.helped()).isFalse();
        assertThat(receipt.outcome()).isEqualTo("nobody was evicted");
    }

    @Test
    void anOpenPlanSaysSo() {
        Receipt receipt =
                only(in(Phase.Planned, asked(Cause.Reclaim, HIGH, victim("team-a", "low", "a"))));

        assertThat(receipt.result()).isEqualTo("Planned");
        assertThat(receipt.helped()).isNull();
        assertThat(receipt.waiter()).extracting(EvictionReceipts.Pod::name).isEqualTo("high");
    }

    @Test
    void itSaysWhetherRoomWasMadeInVain() {
        GpuEviction object = asked(Cause.Reclaim, HIGH, victim("team-a", "low", "a"));

        Receipt receipt =
                only(
                        settled(
                                in(Phase.Done, object, Result.Evicted, null),
                                false,
                                "the waiter went before it was bound"));

        assertThat(receipt.helped()).isFalse();
        assertThat(receipt.outcome()).isEqualTo("the waiter went before it was bound");
    }

    @Test
    void aVictimThatRemainedHelpedNobodyWhateverTheOthersDid() {
        GpuEviction object = asked(Cause.Reclaim, HIGH, victim("team-a", "low", "a"));

        Receipt receipt =
                only(settled(in(Phase.Done, object, Result.Refused, "no"), true, "it was bound"));

        assertThat(receipt.helped()).isFalse();
        assertThat(receipt.outcome()).isEqualTo("it was not evicted");
    }

    @Test
    void allCausesArePagedAsOneListLatestFirst() {
        kept(object(Cause.Reclaim, 1, "1a", "1b"));
        kept(object(Cause.Preemption, 3, "3"));
        kept(object(Cause.RefusedStart, 2, "2"));
        kept(object(Cause.MemoryOveruse, 2, "2"));

        var names = new ArrayList<String>();
        String after = null;
        for (int page = 0; page < 3; page++) {
            List<Receipt> some = receipts.receipts(null, null, after, 2, namespace -> true);
            some.forEach(it -> names.add(it.victim().name()));
            after = some.isEmpty() ? after : some.getLast().cursor().toString();
            assertThat(ReceiptCursor.isCursor(String.valueOf(after))).isTrue();
        }

        assertThat(names.subList(0, 3)).containsExactly("3", "2", "2");
        assertThat(names.subList(3, 5)).containsExactlyInAnyOrder("1a", "1b");
        assertThat(receipts.receipts(null, null, after, 2, namespace -> true)).isEmpty();
    }

    private static GpuEviction object(Cause cause, int minute, String... victims) {
        return in(
                Phase.Planned,
                asked(
                        cause,
                        TEN.plusSeconds(60L * minute),
                        cause == Cause.Preemption ? HIGH : null,
                        null,
                        List.of(victims).stream()
                                .map(it -> victim("team-a", it, "a"))
                                .toArray(Victim[]::new)));
    }

    @Test
    void aNamespaceSeesItsVictimsAndWhatWasDoneForItsWaiters() {
        Victim low = victim("team-a", "low", "a");
        kept(in(Phase.Planned, asked(Cause.Reclaim, HIGH, low)));
        kept(in(Phase.Planned, asked(Cause.RefusedStart, victim("team-c", "other", "c"))));

        assertThat(of("team-a")).containsExactly("low");
        assertThat(of("team-b")).containsExactly("low");
        assertThat(of("team-c")).containsExactly("other");
        assertThat(of("team-d")).isEmpty();
        assertThat(receipts.receipts(Set.of("team-a", "team-b"), null, 10, namespace -> true))
                .as("once, though both are asked for")
                .hasSize(1);
        assertThat(receipts.receipts(Set.of(), null, 10, namespace -> true)).isEmpty();
        for (String pod : List.of(low.uid(), HIGH.uid())) {
            assertThat(receipts.receipts(null, UUID.fromString(pod), null, 10, namespace -> true))
                    .hasSize(1);
        }
    }

    private List<String> of(String namespace) {
        return receipts.receipts(namespace, null, null, 10, it -> true).stream()
                .map(it -> it.victim().name())
                .toList();
    }

    @Test
    void othersThatWereConsideredAreNamedOnlyWhereTheReaderMaySeeThem() {
        kept(
                in(
                        Phase.Planned,
                        asked(
                                Cause.Reclaim,
                                TEN,
                                HIGH,
                                new Considered(
                                        Map.of("it is in budget", 7),
                                        List.of(
                                                new Candidate(
                                                        "team-a", "ours", "1", "n", "a", null),
                                                new Candidate(
                                                        "team-c",
                                                        "theirs",
                                                        "2",
                                                        "n",
                                                        null,
                                                        "it is in budget"))),
                                victim("team-a", "low", "a"))));

        Receipt receipt = receipts.receipts("team-a", null, null, 10, "team-a"::equals).getFirst();

        assertThat(receipt.considered())
                .contains("\"it is in budget\":7", "ours", "\"uid\":\"1\"", "team-c")
                .doesNotContain("theirs", "\"uid\":\"2\"");
    }

    @Test
    void anotherClustersEvictionsAreNotShown() {
        kept(in(Phase.Planned, asked(Cause.RefusedStart, victim("team-a", "low", "a"))));

        database.jdbc().sql("update eviction set cluster = 'other'").update();

        assertThat(of("team-a")).isEmpty();
    }
}
