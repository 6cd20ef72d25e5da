package io.gpusharing.timekeeper.ledger.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.audit.Verification;
import io.gpusharing.timekeeper.audit.Verification.Difference;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.OutOfStepException;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.Posting;
import io.gpusharing.timekeeper.ledger.Posting.AllocationChange;
import io.gpusharing.timekeeper.ledger.Posting.Correction;
import io.gpusharing.timekeeper.ledger.Posting.FeedPosition;
import io.gpusharing.timekeeper.ledger.posting.Verifications;
import io.gpusharing.timekeeper.testing.OpenAllocation;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.support.TransactionTemplate;

class LedgerTest {

    private static final Instant TEN = Instant.parse("2026-03-01T10:00:00Z");

    private final TestDatabase database = TestDatabase.create();
    private final Ledger ledger =
            new Ledger(database.rows(), new TransactionTemplate(database.transactions()));
    private final UsageRepository usage = new UsageRepository(database.rows());
    private final Verification verification = Verifications.on(database, List.of());

    private final PodAllocation allocation =
            OpenAllocation.of("team-a", "a", 500_000, new GpuShare(500_000, 250_000), TEN);

    LedgerTest() {
        ledger.open(TEN);
    }

    private static Posting posting(List<AllocationChange> changes, Entry... charges) {
        return new Posting(
                changes, List.of(), List.of(charges), List.of(), List.of(), FeedPosition.NOTHING);
    }

    private Entry entry(Instant from, Instant to) {
        return new Entry(allocation.uid(), "team-a", "a", from, to, 500_000);
    }

    @Test
    void aPositionIsKeptWithWhatItLedTo() {
        ledger.post(
                new Posting(
                        List.of(new AllocationChange(null, allocation)),
                        List.of(),
                        List.of(),
                        List.of(),
                        List.of(),
                        new FeedPosition("42", TEN, TEN, TEN, List.of())));

        assertThat(ledger.open(TEN.plusSeconds(9)))
                .isEqualTo(new Ledger.State(TEN, "42", TEN, TEN, TEN));
        assertThat(ledger.openAllocations()).containsExactly(allocation);
    }

    @Test
    void aPostingFromAStaleReadIsRefusedAndWritesNothing() {
        ledger.post(posting(List.of(new AllocationChange(null, allocation))));
        PodAllocation posted = allocation.posted(TEN.plusSeconds(60));
        ledger.post(
                posting(
                        List.of(new AllocationChange(allocation, posted)),
                        entry(TEN, TEN.plusSeconds(60))));

        assertThatThrownBy(() ->
                        ledger.post(
                                posting(
                                        List.of(
                                                new AllocationChange(
                                                        allocation,
                                                        allocation.posted(TEN.plusSeconds(90)))),
                                        entry(TEN.plusSeconds(30), TEN.plusSeconds(90)))))
                .isInstanceOf(OutOfStepException.class);
        assertThat(usage.posted("a", TEN, null))
                .isEqualTo(Map.of("team-a", new GpuTime(60 * 500_000)));
    }

    @Test
    void anySpanIsAnsweredFromHoursAndTheEntriesAtItsEdges() {
        Instant noon = TEN.plus(Duration.ofHours(2));
        ledger.post(
                posting(
                        List.of(
                                new AllocationChange(
                                        null, allocation.posted(noon.plusSeconds(600)))),
                        entry(TEN.plusSeconds(1800), TEN.plusSeconds(3600)),
                        entry(TEN.plusSeconds(3600), noon),
                        entry(noon, noon.plusSeconds(600))));

        assertThat(usage.posted("a", TEN.plusSeconds(1810), noon.plusSeconds(10)))
                .isEqualTo(Map.of("team-a", new GpuTime((1790 + 3600 + 10) * 500_000L)));
        assertThat(usage.posted("a", TEN.plusSeconds(1900), TEN.plusSeconds(1901)))
                .isEqualTo(Map.of("team-a", new GpuTime(500_000)));
    }

    @Test
    void aSoundLedgerHasNoDifference() {
        Instant end = TEN.plusSeconds(50);
        PodAllocation ended =
                allocation.posted(TEN.plusSeconds(60)).posted(end).ended(end, false, null);
        ledger.post(
                new Posting(
                        List.of(new AllocationChange(null, ended)),
                        List.of(),
                        List.of(entry(TEN, TEN.plusSeconds(60))),
                        List.of(
                                new Correction(
                                        new Entry(
                                                allocation.uid(),
                                                "team-a",
                                                "a",
                                                end,
                                                TEN.plusSeconds(60),
                                                -500_000),
                                        "it had ended")),
                        List.of(),
                        FeedPosition.NOTHING));

        assertThat(verification.run().differences()).isEmpty();
        assertThat(usage.posted("a", TEN, null))
                .isEqualTo(Map.of("team-a", new GpuTime(50 * 500_000)));
    }

    @Test
    void aChangedRowIsFound() {
        PodAllocation posted = allocation.posted(TEN.plusSeconds(60));
        ledger.post(
                posting(
                        List.of(new AllocationChange(null, posted)),
                        entry(TEN, TEN.plusSeconds(60))));

        database.jdbc().sql("update charge set amount = amount - 1").update();

        assertThat(verification.run().differences())
                .extracting(Difference::kind)
                .containsExactlyInAnyOrder("amount", "hour", "allocation");
    }
}
