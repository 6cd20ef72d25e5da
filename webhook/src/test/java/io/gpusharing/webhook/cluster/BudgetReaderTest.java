package io.gpusharing.webhook.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.kubernetes.GpuBudget;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class BudgetReaderTest {

    private static final Clock NOON =
            Clock.fixed(Instant.parse("2026-03-10T12:00:00Z"), ZoneOffset.UTC);

    private final BudgetReader reading = new BudgetReader(NOON, Optional.empty());

    private static GpuBudget budget(String minutes) {
        var budget = new GpuBudget();
        budget.setMetadata(
                new ObjectMetaBuilder()
                        .withName("odd")
                        .withCreationTimestamp("2026-03-01T00:00:00Z")
                        .build());
        budget.setSpec(
                JsonMapper.shared()
                        .readValue(
                                "{\"namespaces\": [\"team-a\"], \"gpuMinutes\": \"%s\", \"onExhausted\": \"Refuse\"}"
                                        .formatted(minutes),
                                GpuBudgetSpec.class));
        return budget;
    }

    private NamespaceStanding standing() {
        return reading.budgets().standingOf("team-a", NOON.instant());
    }

    @Test
    void aBudgetThatCannotBeReadAnyMoreHoldsAsItWasReadLast() {
        reading.onUpdate(budget("0"));

        assertThatThrownBy(() -> reading.onUpdate(budget("much")))
                .isInstanceOf(IllegalArgumentException.class);

        assertThat(standing().refuses()).isTrue();
    }

    @Test
    void aBudgetThatNeverCouldBeReadIsNotThere() {
        assertThatThrownBy(() -> reading.onUpdate(budget("much")))
                .isInstanceOf(IllegalArgumentException.class);

        assertThat(standing().budget()).isNull();
    }

    @Test
    void aBudgetThatHasGoneIsForgottenAlthoughItCouldNotBeRead() {
        reading.onUpdate(budget("0"));
        assertThatThrownBy(() -> reading.onUpdate(budget("much")))
                .isInstanceOf(IllegalArgumentException.class);

        reading.onDelete(budget("much"));

        assertThat(standing().budget()).isNull();
    }
}
