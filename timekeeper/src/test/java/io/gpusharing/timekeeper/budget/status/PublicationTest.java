package io.gpusharing.timekeeper.budget.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.timekeeper.budget.BudgetProperties;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.account.NamespaceUse;
import io.gpusharing.timekeeper.budget.notify.Alerts;
import io.gpusharing.timekeeper.budget.status.CatchUp.Published;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
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
                    Duration.ofSeconds(10),
                    Duration.ofSeconds(30),
                    false,
                    List.of());
    private static final Budget BUDGET =
            TestBudgets.budget("a", START, "1", Unit.Day, "UTC", "0", 25, "team-a").budget();

    /** One GPU-minute, used at a rate. */
    private static BudgetState holding(long rate) {
        return state(BUDGET, rate);
    }

    private static BudgetState state(Budget budget, long rate) {
        BudgetLine line =
                BudgetLine.unused(START, budget.spec().terms().orElseThrow()).withRate(rate);
        return new BudgetState(
                "a",
                budget.uid(),
                1,
                budget.spec(),
                START,
                budget.periods().at(START),
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

    /** Ten thousand GPU-minutes, used at a rate. */
    private static BudgetState rich(long rate) {
        Budget budget =
                TestBudgets.budget("a", START, "10000", Unit.Month, "UTC", "0", 25, "team-a")
                        .budget();
        return state(budget, rate);
    }

    @Test
    void anotherRateOfABudgetWhoseEndIsFarCanWait() {
        Publication before = Publication.of(rich(1_000_000), START);

        assertThat(before.successorDue(rich(2_000_000), START, PROPERTIES))
                .isEqualTo(START.plusSeconds(10));
        assertThat(before.decidesAlike(rich(2_000_000), START, PROPERTIES)).isTrue();
        assertThat(before.decidesAlike(rich(1_000_000), START, PROPERTIES)).isTrue();
    }

    @Test
    void anotherRateByWhichTheBudgetEndsSoonCannotWait() {
        Publication before = Publication.of(rich(1_000_000), START);
        // Ten thousand minutes in half a minute.
        BudgetState soon = rich(20_000_000_000L);

        assertThat(before.decidesAlike(soon, START, PROPERTIES)).isFalse();
        assertThat(before.successorDue(soon, START, PROPERTIES)).isEqualTo(START.plusSeconds(1));
        assertThat(Publication.of(soon, START).decidesAlike(rich(0), START, PROPERTIES))
                .as("it had been about to end")
                .isFalse();
    }

    @Test
    void aStatusHoldsWhileNobodyDecidesOtherwiseByIt() {
        assertThat(
                        Publication.of(rich(1_000_000), START)
                                .holdsFor(rich(2_000_000), START, PROPERTIES))
                .as("another rate whose end is far")
                .isTrue();
        assertThat(
                        Publication.of(holding(2_000_000), START)
                                .holdsFor(holding(2_000_000), START.plusSeconds(29), PROPERTIES))
                .as("the same line, that ends in a second")
                .isTrue();
        assertThat(
                        Publication.of(holding(2_000_000), START)
                                .holdsFor(holding(1_000_000), START, PROPERTIES))
                .as("another line that ends soon")
                .isFalse();
    }

    private static Published published(@Nullable BudgetState state, @Nullable Publication last) {
        return Published.of(state, last, START, PROPERTIES);
    }

    @Test
    void whatIsPublishedIsRightOnlyOfABudgetThatIsThereAndUnderstoodAndWasWritten() {
        BudgetState state = holding(2_000_000);
        Publication last = Publication.of(state, START);
        Budget nonsense =
                TestBudgets.budget("a", START, "many", Unit.Day, "UTC", "0", 25, "team-a").budget();

        assertThat(published(state, last)).isEqualTo(Published.Right);
        assertThat(published(holding(1_000_000), last)).isEqualTo(Published.Late);
        assertThat(published(state, null)).as("in this term").isEqualTo(Published.Late);
        assertThat(Published.of(state, last, START.minusSeconds(6), PROPERTIES))
                .as("a state that is still to come")
                .isEqualTo(Published.Late);
        assertThat(published(null, last)).isEqualTo(Published.Gone);
        assertThat(published(unlimited(nonsense), Publication.of(unlimited(nonsense), START)))
                .isEqualTo(Published.NotUnderstood);
    }

    /** A budget whose spec makes no sense. */
    private static BudgetState unlimited(Budget nonsense) {
        BudgetState state = holding(0);
        return new BudgetState(
                state.name(),
                state.uid(),
                state.generation(),
                nonsense.spec(),
                state.asOf(),
                state.period(),
                Optional.empty(),
                null,
                state.namespaces(),
                List.of(),
                0,
                nonsense.invalidSpec(),
                List.of());
    }

    @Test
    void useIsShownGrowingAndTheExhaustionToTheSecond() {
        BudgetState state = holding(1_000_000);

        assertThat(Publication.of(state, START).successorDue(state, START, PROPERTIES))
                .isEqualTo(START.plusSeconds(30));
        assertThat(
                        Publication.of(state, START.plusSeconds(58))
                                .successorDue(state, START.plusSeconds(58), PROPERTIES))
                .isEqualTo(END);
    }

    @Test
    void eachThresholdAndTheLastQuarterOfAnHourAreWrittenWhenTheyBegin() {
        BudgetState slow = holding(50_000);

        assertThat(dues(slow))
                // Twenty minutes in all, of which 80 and 95 % are thresholds.
                .containsExactly(
                        START.plusSeconds(5 * 60),
                        START.plusSeconds(16 * 60),
                        START.plusSeconds(19 * 60),
                        START.plusSeconds(20 * 60));
        assertThat(Alerts.at(slow, START.plusSeconds(5 * 60)))
                .isEqualTo(new Alerts("InBudget", 0, true));
        assertThat(Alerts.at(slow, START.plusSeconds(19 * 60)))
                .isEqualTo(new Alerts("InBudget", 95, true));
        assertThat(Alerts.at(slow, START.plusSeconds(20 * 60)))
                .isEqualTo(new Alerts("OverBudget", 95, false));

        // A moment after the last status as soon as after a minute, but not at once.
        Instant near = START.plusSeconds(300);
        Publication before = Publication.of(slow, near.minusMillis(300));
        assertThat(before.successorDue(slow, near.minusMillis(300), PROPERTIES)).isEqualTo(near);
        assertThat(before.successorDue(slow, near, PROPERTIES)).isEqualTo(near.plusMillis(700));
    }

    private static List<Instant> dues(BudgetState state) {
        return Stream.iterate(
                        Alerts.nextAfter(state, START),
                        Objects::nonNull,
                        at -> Alerts.nextAfter(state, Objects.requireNonNull(at)))
                .<Instant>map(Objects::requireNonNull)
                .toList();
    }

    @Test
    void anExhaustionThatIsPublishedIsNotWrittenAgain() {
        BudgetState state = holding(1_000_000);
        Publication published = Publication.of(state, END);

        assertThat(published.alerts().standing()).isEqualTo("OverBudget");
        assertThat(published.successorDue(state, END.plusMillis(5), PROPERTIES))
                .isEqualTo(END.plusSeconds(30));
    }

    @Test
    void anUnpublishedStandingIsWrittenAtOnce() {
        BudgetState state = holding(1_000_000);

        assertThat(Publication.of(state, START).successorDue(state, END, PROPERTIES))
                .isEqualTo(END);
    }

    @Test
    void uncountedGpusAreWrittenNoMoreOftenThanUseEvenWhereNothingIsUsed() {
        Publication silent = Publication.of(holding(0), START);
        Publication published = silent.saying(Optional.empty(), "nvidia.com/gpu on 1 node", "");

        assertThat(due(silent, "", "")).isNull();
        assertThat(due(silent, "nvidia.com/gpu on 1 node", "")).isEqualTo(START.plusSeconds(30));
        assertThat(due(published, "nvidia.com/gpu on 1 node", "")).isNull();
        assertThat(due(published, "", "")).as("over").isEqualTo(START.plusSeconds(30));
    }

    private static @Nullable Instant due(
            Publication published, String ofUncounted, String ofUnreadable) {
        return published.successorDue(holding(0), ofUncounted, ofUnreadable, START, PROPERTIES);
    }

    @Test
    void whateverATenantStoresItsBudgetIsWrittenNoMoreOftenThanOneThatIsUsed() {
        Publication silent = Publication.of(holding(0), START);
        Publication published = silent.saying(Optional.empty(), "", "1 object cannot be read");

        assertThat(due(silent, "", "1 object cannot be read")).isEqualTo(START.plusSeconds(30));
        assertThat(due(published, "", "1 object cannot be read")).isNull();
        assertThat(due(published, "", "2 objects cannot be read")).isEqualTo(START.plusSeconds(30));
        assertThat(due(published, "", "")).as("over").isEqualTo(START.plusSeconds(30));
    }
}
