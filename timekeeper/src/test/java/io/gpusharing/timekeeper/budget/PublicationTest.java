package io.gpusharing.timekeeper.budget;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule.Unit;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PublicationTest {

    private static final Instant START = Instant.parse("2026-03-02T00:00:00Z");
    private static final Instant END = START.plusSeconds(60);
    private static final BudgetProperties PROPERTIES =
            new BudgetProperties(
                    BudgetProperties.UnnamedNamespaces.Unlimited,
                    null,
                    Duration.ofHours(1),
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(30));
    private static final Budget BUDGET =
            TestBudgets.budget("a", START, "1", Unit.Day, "UTC", "0", 25, "team-a").budget();

    /** One GPU-minute, used at a rate. */
    private static BudgetState holding(long rate) {
        BudgetLine line =
                BudgetLine.unused(START, BUDGET.spec().terms().orElseThrow()).withRate(rate);
        return new BudgetState(
                "a",
                BUDGET.uid(),
                1,
                BUDGET.spec(),
                START,
                BUDGET.periods().at(START),
                Optional.of(line),
                null,
                List.of(new NamespaceUse("team-a", GpuTime.ZERO, rate)),
                List.of(),
                0,
                null,
                List.of());
    }

    @Test
    void nothingIsWrittenWhileNothingIsUsed() {
        assertThat(Publication.of(holding(0), START).successorDue(holding(0), START, PROPERTIES))
                .isNull();
    }

    @Test
    void anotherRateIsWrittenASecondAfterTheLast() {
        assertThat(
                        Publication.of(holding(0), START)
                                .successorDue(holding(1_000_000), START, PROPERTIES))
                .isEqualTo(START.plusSeconds(1));
    }

    @Test
    void useIsShownGrowingAndTheEndIsToldToTheSecond() {
        BudgetState state = holding(1_000_000);

        assertThat(Publication.of(state, START).successorDue(state, START, PROPERTIES))
                .isEqualTo(START.plusSeconds(30));
        assertThat(
                        Publication.of(state, START.plusSeconds(40))
                                .successorDue(state, START.plusSeconds(40), PROPERTIES))
                .isEqualTo(END);
    }

    @Test
    void anExhaustionThatIsToldIsNotToldAgainAndAgain() {
        BudgetState state = holding(1_000_000);
        Publication told = Publication.of(state, END);

        assertThat(told.standing()).isEqualTo("OverBudget");
        assertThat(told.successorDue(state, END.plusMillis(5), PROPERTIES))
                .isEqualTo(END.plusSeconds(30));
    }

    @Test
    void aStandingThatIsNotToldYetIsWrittenAtOnce() {
        BudgetState state = holding(1_000_000);

        assertThat(Publication.of(state, START).successorDue(state, END, PROPERTIES))
                .isEqualTo(END);
    }
}
