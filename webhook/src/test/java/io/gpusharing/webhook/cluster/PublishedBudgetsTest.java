package io.gpusharing.webhook.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.Standing.Unlimited;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class PublishedBudgetsTest {

    private static final Instant NOW = Instant.parse("2026-03-10T12:00:00Z");

    @Test
    void theOlderOfTwoBudgetsPaysForANamespace() {
        var budgets =
                new PublishedBudgets(
                        List.of(budget("a-young", NOW), budget("z-old", NOW.minusSeconds(1))),
                        Optional.empty());

        assertThat(budgets.standingOf("shared", NOW).budget()).isEqualTo("z-old");
    }

    @Test
    void ofTwoCreatedInTheSameSecondTheFirstByNamePays() {
        var budgets =
                new PublishedBudgets(List.of(budget("b", NOW), budget("a", NOW)), Optional.empty());

        assertThat(budgets.standingOf("shared", NOW).budget()).isEqualTo("a");
    }

    @Test
    void oneThatChangesIsFoundAtOnceAndTheOthersAsBefore() {
        var budgets =
                new PublishedBudgets(
                        List.of(budget("young", NOW), budget("old", NOW.minusSeconds(60))),
                        Optional.empty());

        budgets.remove("old");
        assertThat(budgets.standingOf("shared", NOW).budget()).isEqualTo("young");

        budgets.put(budget("older", NOW.minusSeconds(90)), false);
        budgets.put(budget("young", NOW), false);
        assertThat(budgets.standingOf("shared", NOW).budget()).isEqualTo("older");
    }

    @Test
    void aNamespaceWithoutABudgetIsUnlimited() {
        NamespaceStanding standing = PublishedBudgets.NONE.standingOf("free", NOW);

        assertThat(standing.standing()).isEqualTo(new Unlimited());
        assertThat(standing.lowersPriority()).isFalse();
        assertThat(standing.refuses()).isFalse();
    }

    @Test
    void whereAllOthersShareOneBudgetANewNamespaceIsNoWayToNewTime() {
        var budgets = new PublishedBudgets(List.of(budget("for-all", NOW)), Optional.of("for-all"));

        assertThat(budgets.standingOf("brand-new", NOW).budget()).isEqualTo("for-all");
    }

    /** As the timekeeper charges, and the scheduler evicts. */
    @Test
    void anAdministratorsBudgetOfThatNamePaysForThoseAloneThatItNames() {
        var budgets = new PublishedBudgets(List.of(), Optional.of("for-all"));

        budgets.put(budget("for-all", NOW), false);

        assertThat(budgets.standingOf("brand-new", NOW).budget()).isNull();
        assertThat(budgets.standingOf("shared", NOW).budget()).isEqualTo("for-all");
    }

    private static PublishedBudget budget(String name, Instant created) {
        return new PublishedBudget(
                name,
                created,
                JsonMapper.shared()
                        .readValue(
                                "{\"namespaces\": [\"shared\"], \"gpuMinutes\": \"10\"}",
                                GpuBudgetSpec.class),
                null);
    }
}
