package io.gpusharing.timekeeper.budget;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.budget.GpuBudgetSpec.Share;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.GpuBudgetStatus.Condition;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.ShareRule.Formula;
import io.gpusharing.budget.ShareRule.Reference;
import io.gpusharing.request.GpuShare;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.TestBudgets.Given;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.notify.Alerts;
import io.gpusharing.timekeeper.budget.notify.BudgetNotification;
import io.gpusharing.timekeeper.budget.status.BudgetConditions;
import io.gpusharing.timekeeper.budget.status.Publication;
import io.gpusharing.timekeeper.testing.OpenAllocation;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Conditions of unusual budgets. */
class LateEndsTest {

    private static final Instant START = Instant.parse("2026-03-02T10:00:00Z");

    private final TestDatabase database = TestDatabase.create();
    private final Budgets budgets =
            TestBudgets.on(database, Duration.ofHours(1), new SteppingClock(START));

    @BeforeEach
    void meteringHasBegun() {
        database.jdbc()
                .sql("insert into cluster (id, metering_start) values ('test', '2026-03-02')")
                .update();
    }

    private BudgetState state(Written written) {
        TestBudgets.exist(budgets, List.of(written));
        budgets.upToDate(START);
        return budgets.state(written.name()).orElseThrow();
    }

    private static Condition condition(BudgetState state, String type) {
        GpuBudgetStatus status =
                Publication.document(
                        state,
                        START,
                        Alerts.at(state, START),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        null);
        return Objects.requireNonNull(status.conditions()).stream()
                .filter(it -> it.type().equals(type))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aBudgetOfZeroIsExhaustedWithoutThresholdWarnings() {
        BudgetState nothing = state(TestBudgets.monthly("none", START, "0", "team-a"));

        assertThat(BudgetNotification.of(nothing))
                .extracting(BudgetNotification::kind)
                .containsExactly(BudgetNotification.EXHAUSTED);
    }

    @Test
    void aThresholdAndAnEndThatIsNearAreConditionsToo() {
        TestBudgets.exist(budgets, List.of(TestBudgets.monthly("a", START, "100", "team-a")));
        GpuShare gpu = GpuShare.whole(1);
        budgets.restored(List.of(OpenAllocation.of("team-a", "a", 1_000_000, gpu, START)));
        budgets.upToDate(START);
        BudgetState state = budgets.state("a").orElseThrow();

        assertThat(condition(state, 79, BudgetConditions.THRESHOLD))
                .startsWith("False BelowThresholds");
        assertThat(condition(state, 80, BudgetConditions.THRESHOLD))
                .isEqualTo("True Used80: 80 % of 100.000 GPU-minutes are used");
        assertThat(condition(state, 84, BudgetConditions.ENDS_SOON))
                .startsWith("False")
                .contains("It lasts for more than 15 minutes");
        assertThat(condition(state, 85, BudgetConditions.ENDS_SOON))
                .startsWith("True")
                .endsWith("left at 2026-03-02T11:40:00Z");
        assertThat(condition(state, 100, BudgetConditions.ENDS_SOON))
                .startsWith("False")
                .contains("It is used up");
        assertThat(condition(state, 100, BudgetConditions.THRESHOLD)).startsWith("True Used95");
    }

    @Test
    void whatExpiresWithAGrantIsNotReportedAsUsed() {
        TestBudgets.exist(budgets, List.of(TestBudgets.monthly("a", START, "5", "team-a")));
        Instant expiry = START.plus(Duration.ofMinutes(10));
        TestBudgets.grant(budgets, List.of(new Given("g", "a", "900", START, expiry)));
        budgets.restored(
                List.of(OpenAllocation.of("team-a", "a", 1_000_000, GpuShare.whole(1), START)));
        budgets.upToDate(START);

        assertThat(BudgetNotification.of(budgets.state("a").orElseThrow()))
                .extracting(BudgetNotification::kind, BudgetNotification::due)
                .containsExactly(tuple(BudgetNotification.ENDS_SOON, START));

        budgets.upToDate(expiry);
        assertThat(BudgetNotification.of(budgets.state("a").orElseThrow()))
                .filteredOn(it -> !it.kind().equals(BudgetNotification.ENDS_SOON))
                .extracting(BudgetNotification::message)
                .isNotEmpty()
                .noneMatch(it -> it.contains("905"));
    }

    private static String condition(BudgetState state, int minute, String type) {
        Instant at = START.plus(Duration.ofMinutes(minute));
        GpuBudgetStatus status =
                Publication.document(
                        state,
                        at,
                        Alerts.at(state, at),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        null);
        return Objects.requireNonNull(status.conditions()).stream()
                .filter(it -> it.type().equals(type))
                .map(it -> it.status() + " " + it.reason() + ": " + it.message())
                .collect(Collectors.joining());
    }

    @Test
    void aSpecThatMakesNoSenseIsNamedWithItsFieldAndWhatIsLegal() {
        BudgetState martian =
                state(
                        TestBudgets.budget(
                                "x", START, "1", Unit.Month, "Mars/Phobos", "0", 25, "team-a"));

        Condition understood = condition(martian, PublishedBudget.UNDERSTOOD);
        assertThat(understood.status()).isEqualTo("False");
        assertThat(understood.message())
                .contains("spec.period.timeZone", "Mars/Phobos", "Europe/Berlin");
        assertThat(
                        Publication.document(
                                        martian,
                                        START,
                                        Alerts.at(martian, START),
                                        Optional.empty(),
                                        Optional.empty(),
                                        Optional.empty(),
                                        null)
                                .standing())
                .isEqualTo("Misspelled");
    }

    @Test
    void aMissingReferenceQuotaIsReported() {
        Written plain = TestBudgets.monthly("a", START, "10", "team-a");
        GpuBudgetSpec spec = plain.spec();
        Written fromQuota =
                new Written(
                        "a",
                        START,
                        1,
                        new GpuBudgetSpec(
                                spec.namespaces(),
                                spec.gpuMinutes(),
                                spec.period(),
                                spec.rollover(),
                                spec.debt(),
                                spec.onExhausted(),
                                spec.chargeBy(),
                                new Share(Formula.Max, Reference.FromQuota, null),
                                spec.warnAtPercent(),
                                spec.minimumRunTime()),
                        false);

        assertThat(condition(state(fromQuota), BudgetConditions.QUOTA))
                .satisfies(it -> {
                    assertThat(it.status()).isEqualTo("False");
                    assertThat(it.message()).contains("team-a", "requests.tencent.com/vcuda-core");
                });

        budgets.quotas(Map.of("team-a", new Fixed(50, 15)));
        budgets.upToDate(START);
        assertThat(condition(budgets.state("a").orElseThrow(), BudgetConditions.QUOTA).status())
                .isEqualTo("True");
    }
}
