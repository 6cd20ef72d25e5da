package io.gpusharing.timekeeper.budget.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.account.NamespaceUse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A budget on whose namespace one GPU runs all the time; seconds are GPU-seconds. */
class NamespaceTotalsTest {

    private static final long GPU = 1_000_000;
    private static final Instant MARCH = Instant.parse("2026-03-01T00:00:00Z");
    private static final Instant APRIL = Instant.parse("2026-04-01T00:00:00Z");
    private static final Instant LATE = APRIL.minusSeconds(100);

    private final NamespaceTotals totals = new NamespaceTotals();

    private static BudgetState state(Instant period, Instant asOf, long used) {
        return new BudgetState(
                "a",
                "uid",
                1,
                TestBudgets.monthly("a", MARCH, null, "team-a").spec(),
                asOf,
                new Period(period, period.plus(Duration.ofDays(31))),
                Optional.empty(),
                null,
                List.of(new NamespaceUse("team-a", new GpuTime(used * GPU), GPU)),
                List.of(),
                null,
                null,
                List.of());
    }

    private long seconds() {
        return totals.of("a", "team-a") / GPU;
    }

    @Test
    void countsFromWhenItIsFirstAsked() {
        totals.count(state(MARCH, LATE, 5_000), LATE);
        assertThat(seconds()).isZero();

        totals.count(state(MARCH, LATE, 5_000), LATE.plusSeconds(60));

        assertThat(seconds()).isEqualTo(60);
    }

    /** The gauge of the period falls to zero there. */
    @Test
    void goesOnOverTheEndOfAPeriod() {
        totals.count(state(MARCH, LATE, 5_000), LATE);
        totals.count(state(MARCH, LATE, 5_000), APRIL.minusSeconds(10));

        totals.count(state(APRIL, APRIL, 0), APRIL.plusSeconds(20));

        assertThat(seconds()).isEqualTo(120);
    }

    @Test
    void aCorrectionToLessTakesNothingAway() {
        totals.count(state(MARCH, LATE, 5_000), LATE);
        totals.count(state(MARCH, LATE, 5_000), LATE.plusSeconds(60));

        totals.count(state(MARCH, LATE.plusSeconds(60), 1_000), LATE.plusSeconds(60));
        totals.count(state(MARCH, LATE.plusSeconds(60), 1_000), LATE.plusSeconds(90));

        assertThat(seconds()).isEqualTo(90);
    }

    @Test
    void whatWasUsedBeforeAPeriodWasShortenedIsNotCountedTwice() {
        totals.count(state(MARCH, LATE, 5_000), LATE);
        Instant today = Instant.parse("2026-03-31T00:00:00Z");

        totals.count(state(today, LATE, 4_000), LATE.plusSeconds(30));
        totals.count(state(today, LATE, 4_000), LATE.plusSeconds(60));

        assertThat(seconds()).isEqualTo(30);
    }

    @Test
    void aClockThatIsSetBackCountsNothingTwice() {
        totals.count(state(MARCH, LATE, 5_000), LATE);
        totals.count(state(MARCH, LATE, 5_000), LATE.plusSeconds(60));
        totals.count(state(MARCH, LATE, 5_000), LATE.plusSeconds(10));
        totals.count(state(MARCH, LATE, 5_000), LATE.plusSeconds(60));

        assertThat(seconds()).isEqualTo(60);
    }

    @Test
    void aBudgetThatHasGoneIsForgotten() {
        totals.count(state(MARCH, LATE, 5_000), LATE);
        totals.count(state(MARCH, LATE, 5_000), LATE.plusSeconds(60));

        totals.forget("a");

        assertThat(seconds()).isZero();
    }
}
