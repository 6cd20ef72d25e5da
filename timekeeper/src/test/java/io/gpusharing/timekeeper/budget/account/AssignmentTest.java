package io.gpusharing.timekeeper.budget.account;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.account.Assignment.Conflict;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class AssignmentTest {

    private static final Instant EARLY = Instant.parse("2026-03-01T10:00:00Z");

    private static Budget budget(String name, Instant created, String... namespaces) {
        return TestBudgets.budget(name, created, "1", Unit.Month, "UTC", "0", 25, namespaces)
                .budget();
    }

    @Test
    void theOlderOfTwoBudgetsThatNameANamespacePaysForIt() {
        Budget older = budget("z", EARLY, "team-a");
        Budget younger = budget("a", EARLY.plusSeconds(1), "team-a", "team-b");

        Assignment assignment = Assignment.of(List.of(younger, older));

        assertThat(assignment.owners())
                .containsEntry("team-a", older)
                .containsEntry("team-b", younger);
        assertThat(assignment.conflicts())
                .containsEntry("a", List.of(new Conflict("team-a", "z")))
                .doesNotContainKey("z");
    }

    @Test
    void ofTwoFromTheSameSecondTheFirstByNamePays() {
        Budget first = budget("a", EARLY, "team-a");

        Assignment assignment = Assignment.of(List.of(budget("b", EARLY, "team-a"), first));

        assertThat(assignment.owners()).containsEntry("team-a", first);
    }
}
