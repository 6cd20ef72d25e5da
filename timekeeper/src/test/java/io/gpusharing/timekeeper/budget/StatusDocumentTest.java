package io.gpusharing.timekeeper.budget;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.GpuBudgetStatus.Condition;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A budget that charges by what node agents measure says whether it can. */
class StatusDocumentTest {

    private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");
    private static final Budget BUDGET =
            TestBudgets.monthly("a", START, "1000", "team-a").byUse().budget();

    private static GpuBudgetStatus status(
            @Nullable Integer unmeasured, Instant at, @Nullable GpuBudgetStatus before) {
        BudgetLine line = BudgetLine.unused(START, BUDGET.spec().terms().orElseThrow());
        BudgetState state =
                new BudgetState(
                        "a",
                        BUDGET.uid(),
                        1,
                        BUDGET.spec(),
                        at,
                        BUDGET.periods().at(START),
                        Optional.of(line),
                        null,
                        List.of(),
                        List.of(),
                        unmeasured,
                        null,
                        List.of());
        return StatusDocument.of(state, at, Alerts.at(state, at), before);
    }

    private static Condition measured(GpuBudgetStatus status) {
        return Objects.requireNonNull(status.conditions()).stream()
                .filter(it -> it.type().equals(StatusDocument.UNTRUSTED))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void beforeTheFirstSettlementNobodyKnowsWhetherPodsAreMeasured() {
        assertThat(measured(status(null, START, null)).status()).isEqualTo("Unknown");
    }

    @Test
    void oneUnmeasuredPodIsNamedInTheSingularAndSeveralInThePlural() {
        assertThat(measured(status(1, START, null)))
                .extracting(Condition::status, Condition::message)
                .containsExactly(
                        "True",
                        "At the last settlement 1 running pod was measured by no node agent and charged by allocation");
        assertThat(measured(status(2, START, null)).message()).contains("2 running pods were");
        assertThat(measured(status(0, START, null)).status()).isEqualTo("False");
    }

    @Test
    void afterARestartWhatWasSaidLastStandsUntilTheNextSettlement() {
        GpuBudgetStatus before = status(2, START, null);

        assertThat(measured(status(null, START.plusSeconds(60), before)))
                .isEqualTo(measured(before));
    }
}
