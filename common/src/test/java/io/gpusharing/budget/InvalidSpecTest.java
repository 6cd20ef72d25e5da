package io.gpusharing.budget;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.PeriodSpec;
import io.gpusharing.budget.GpuBudgetStatus.Condition;
import io.gpusharing.budget.PeriodRule.Unit;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InvalidSpecTest {

    private static final GpuBudgetSpec MONTHLY = GpuBudgetSpec.monthly(List.of("team-a"), "1200");

    private static GpuBudgetSpec with(PeriodSpec period) {
        return new GpuBudgetSpec(
                MONTHLY.namespaces(),
                MONTHLY.gpuMinutes(),
                period,
                MONTHLY.rollover(),
                MONTHLY.debt(),
                MONTHLY.onExhausted(),
                MONTHLY.chargeBy(),
                MONTHLY.share(),
                MONTHLY.warnAtPercent(),
                MONTHLY.minimumRunTime());
    }

    @Test
    void anOrdinaryBudgetIsUnderstood() {
        assertThat(InvalidSpec.of(MONTHLY)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "Mars/Phobos, 2026-01-01T00:00:00, spec.period.timeZone",
        "UTC, 2026-02-31T00:00:00, spec.period.anchor",
        "UTC, 0000-01-01T00:00:00, spec.period.anchor"
    })
    void whatTheSchemaCannotCheckIsReportedWithItsField(String zone, String anchor, String field) {
        InvalidSpec invalidSpec =
                InvalidSpec.of(with(new PeriodSpec(Unit.Month, zone, anchor))).orElseThrow();

        assertThat(invalidSpec.field()).isEqualTo(field);
        assertThat(invalidSpec.message()).contains(field, invalidSpec.found(), "for instance");
    }

    @Test
    void aBudgetThatItsTimekeeperDoesNotUnderstandCountsAsUnlimited() {
        var condition =
                new Condition(
                        PublishedBudget.UNDERSTOOD, "False", 1L, "2026-03-01T00:00:00Z", "x", "y");
        var status =
                new GpuBudgetStatus(
                        1L,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        List.of(condition),
                        null);
        var published =
                new PublishedBudget(
                        "team-a",
                        Instant.EPOCH,
                        with(new PeriodSpec(Unit.Month, "Mars/Phobos", "2026-01-01T00:00:00")),
                        status);

        assertThat(published.standingAt(Instant.EPOCH)).isEqualTo(new Standing.Unlimited());
    }
}
