package io.gpusharing.budget;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.budget.GpuBudgetStatus.CreditEntry;
import io.gpusharing.budget.GpuBudgetStatus.PeriodEdges;
import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.budget.Standing.Unlimited;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PublishedBudgetTest {

    private static final Instant NOON = Instant.parse("2026-03-10T12:00:00Z");

    @Test
    void aBudgetWithoutMinutesIsUnlimited() {
        assertThat(budget(spec(null), null).standingAt(NOON)).isEqualTo(new Unlimited());
    }

    @Test
    void aBudgetThatWasNeverPublishedIsUnused() {
        assertThat(budget(spec("10"), null).standingAt(NOON))
                .isEqualTo(new InBudget(GpuTime.ofMinutes("10"), null));
    }

    @Test
    void theStatusRemainsValidWhileTheTimekeeperIsAway() {
        GpuBudgetStatus status = status(15_000_000L, 500_000L);

        assertThat(budget(spec("0.25"), status).standingAt(NOON.plusSeconds(29)))
                .isInstanceOf(InBudget.class);
        assertThat(budget(spec("0.25"), status).standingAt(NOON.plusSeconds(30)))
                .isEqualTo(new OverBudget(GpuTime.ZERO));
    }

    @Test
    void anOverrunIsReadBackFromANegativeRemainder() {
        assertThat(budget(spec("0.25"), status(-2_000_000L, 0L)).standingAt(NOON))
                .isEqualTo(new OverBudget(new GpuTime(2_000_000)));
    }

    @Test
    void aLimitJustSetOnAnUnlimitedBudgetCountsFromItsAllowance() {
        GpuBudgetStatus unlimited = status(null, 500_000L);

        assertThat(budget(spec("10"), unlimited).standingAt(NOON)).isInstanceOf(InBudget.class);
    }

    @Test
    void whatTheSchemaForbidsIsAnError() {
        assertThatThrownBy(() -> budget(spec("ten"), null).standingAt(NOON))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("\"ten\" is no number of GPU-minutes; write for instance 0.25 or 1200");
    }

    @Test
    void whatWasUsedGrowsAtTheRateOfTheStatus() {
        PublishedBudget budget = budget(spec("0.25"), used(10_000_000L, "2026-04-01T00:00:00Z"));

        assertThat(budget.usedAt(NOON.minusSeconds(5))).isEqualTo(new GpuTime(10_000_000));
        assertThat(budget.usedAt(NOON.plusSeconds(30))).isEqualTo(new GpuTime(25_000_000));
    }

    @Test
    void aPeriodThatBeganSinceTheStatusIsUsedFromItsBeginning() {
        PublishedBudget budget = budget(spec("0.25"), used(10_000_000L, "2026-04-01T00:00:00Z"));

        assertThat(budget.usedAt(Instant.parse("2026-04-01T00:00:20Z")))
                .isEqualTo(new GpuTime(10_000_000));
        assertThat(budget.usedAt(Instant.parse("2026-05-01T00:00:02Z")))
                .isEqualTo(new GpuTime(1_000_000));
    }

    @Test
    void nothingIsKnownToBeUsedBeforeTheFirstStatus() {
        assertThat(budget(spec("10"), null).usedAt(NOON)).isEqualTo(GpuTime.ZERO);
    }

    private static GpuBudgetStatus used(long used, String end) {
        return new GpuBudgetStatus(
                1L,
                NOON.toString(),
                new PeriodEdges("2026-03-01T00:00:00Z", end),
                null,
                used,
                null,
                500_000L,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
    }

    private static PublishedBudget budget(GpuBudgetSpec spec, @Nullable GpuBudgetStatus status) {
        return new PublishedBudget("team-a", NOON.minusSeconds(3600), spec, status);
    }

    @SuppressWarnings("NullAway") // what the manifest leaves out arrives as null and is defaulted
    private static GpuBudgetSpec spec(@Nullable String minutes) {
        return new GpuBudgetSpec(
                List.of("team-a"), minutes, null, null, null, null, null, null, null, null);
    }

    private static GpuBudgetStatus status(@Nullable Long remaining, long rate) {
        List<CreditEntry> credits =
                remaining == null
                        ? List.of()
                        : List.of(
                                new CreditEntry(
                                        Credit.ALLOWANCE,
                                        Math.max(0, remaining),
                                        "2026-03-01T00:00:00Z",
                                        "2026-04-01T00:00:00Z"));
        return new GpuBudgetStatus(
                1L,
                NOON.toString(),
                new PeriodEdges("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"),
                null,
                null,
                remaining,
                rate,
                credits,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
    }
}
