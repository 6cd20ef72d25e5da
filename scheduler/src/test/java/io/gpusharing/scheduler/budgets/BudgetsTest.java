package io.gpusharing.scheduler.budgets;

import static io.gpusharing.scheduler.testing.BudgetObjects.budget;
import static io.gpusharing.scheduler.testing.BudgetObjects.read;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.budget.Standing.Unlimited;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

class BudgetsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final Budgets budgets = new Budgets(() -> TEN);

    private void listed(ObjectNode... objects) {
        for (ObjectNode object : objects) {
            budgets.onUpdate(read(object));
        }
        budgets.onListed();
    }

    private Optional<String> payer(String namespace) {
        return budgets.ofNamespace(namespace).map(KnownBudget::name);
    }

    private static ObjectNode created(ObjectNode budget, String instant) {
        budget.withObject("metadata").put("creationTimestamp", instant);
        return budget;
    }

    private static ObjectNode alsoOf(ObjectNode budget, String namespace) {
        budget.withObject("spec").withArray("namespaces").add(namespace);
        return budget;
    }

    @Test
    void nothingIsKnownBeforeAllIsListed() {
        budgets.onUpdate(read(budget("team-a", 60, TEN)));
        assertThat(budgets.areKnown()).isFalse();

        budgets.onListed();

        assertThat(budgets.areKnown()).isTrue();
        assertThat(payer("team-a")).contains("team-a");
        assertThat(payer("team-b")).isEmpty();
    }

    /** As admission has judged its pods. */
    @Test
    void whereNamespacesShareABudgetOneDrawsOnItBeforeItIsNamed() {
        var sharing = new Budgets(() -> TEN, Optional.of("unnamed-namespaces"));
        ObjectNode made = budget("unnamed-namespaces", 60, TEN);
        made.withObject("metadata").withObject("labels").put("gpusharing.io/default", "true");
        sharing.onUpdate(read(made));
        sharing.onUpdate(read(budget("team-a", 60, TEN)));
        sharing.onListed();

        assertThat(sharing.ofNamespace("new").map(KnownBudget::name))
                .contains("unnamed-namespaces");
        assertThat(sharing.ofNamespace("team-a").map(KnownBudget::name)).contains("team-a");

        sharing.onUpdate(read(budget("unnamed-namespaces", 60, TEN)));
        assertThat(sharing.ofNamespace("new")).as("an administrator's own").isEmpty();
        sharing.onDelete(read(made));
        assertThat(sharing.ofNamespace("new")).as("not made yet").isEmpty();
    }

    @Test
    void theStandingFollowsTheLineOfTheStatus() {
        listed(budget("team-a", 60, TEN));

        KnownBudget budget = budgets.named("team-a").orElseThrow();

        assertThat(budget.standing(TEN.plusSeconds(20)))
                .isEqualTo(new InBudget(new GpuTime(40_000_000), TEN.plusSeconds(60)));
        assertThat(budget.standing(TEN.plusSeconds(90)))
                .isEqualTo(new OverBudget(new GpuTime(30_000_000)));
        assertThat(budget.rate()).isEqualTo(1_000_000);
        assertThat(budget.onExhausted()).isEqualTo(OnExhausted.Reclaim);
        assertThat(budget.minimumRun()).isEqualTo(Duration.ofMinutes(5));
        assertThat(budget.paused()).isFalse();
    }

    @Test
    void anAdministratorPausesReclaimForABudget() {
        ObjectNode paused = budget("team-a", 60, TEN);
        paused.at("/metadata")
                .withObject("annotations")
                .put("gpusharing.io/reclaim-paused", "true");

        listed(paused);

        assertThat(budgets.named("team-a").orElseThrow().paused()).isTrue();
    }

    @Test
    void theOlderOfTwoBudgetsKeepsANamespace() {
        listed(
                created(alsoOf(budget("a-younger", 60, TEN), "team"), "2026-02-02T00:00:00Z"),
                created(alsoOf(budget("b-older", 60, TEN), "team"), "2026-02-01T00:00:00Z"));

        assertThat(payer("team")).contains("b-older");
    }

    @Test
    void ofTwoBudgetsOfTheSameSecondTheFirstByNameKeepsIt() {
        listed(alsoOf(budget("b", 60, TEN), "team"), alsoOf(budget("a", 60, TEN), "team"));

        assertThat(payer("team")).contains("a");
    }

    @Test
    void aNamespaceGoesToTheYoungerBudgetWhenTheOlderLeavesIt() {
        listed(
                alsoOf(budget("a", 60, TEN), "team"),
                created(alsoOf(budget("b", 60, TEN), "team"), "2026-02-02T00:00:00Z"));

        budgets.onUpdate(read(budget("a", 60, TEN)));
        assertThat(payer("team")).contains("b");

        budgets.onDelete(read(budget("b", 60, TEN)));
        assertThat(payer("team")).isEmpty();
        assertThat(budgets.all()).extracting(KnownBudget::name).containsExactly("a");
    }

    @Test
    void aBudgetThatNeverCouldBeReadDoesNotMakeItsNamespaceUnlimited() {
        ObjectNode odd = budget("team-a", 60, TEN);
        odd.withObject("spec").put("gpuMinutes", "much");

        assertThatThrownBy(() -> budgets.onUpdate(read(odd)))
                .isInstanceOf(IllegalArgumentException.class);
        budgets.onListed();

        assertThat(budgets.ofNamespace("team-a"))
                .hasValueSatisfying(it -> assertThat(it.readable()).isFalse());
    }

    @Test
    void aBudgetThatCanBeReadAgainIsAsItSays() {
        ObjectNode odd = budget("team-a", -60, TEN);
        odd.withObject("status").put("asOf", "yesterday");
        listed(budget("team-a", -60, TEN));

        assertThatThrownBy(() -> budgets.onUpdate(read(odd))).isInstanceOf(RuntimeException.class);
        assertThat(budgets.named("team-a").orElseThrow().readable()).isFalse();
        assertThat(budgets.named("team-a").orElseThrow().standing(TEN)).isEqualTo(new Unlimited());
        budgets.onUpdate(read(budget("team-a", -60, TEN)));

        assertThat(budgets.named("team-a").orElseThrow().readable()).isTrue();
        assertThat(budgets.named("team-a").orElseThrow().isOver(TEN)).isTrue();
    }

    @Test
    void aTimeZoneThatDoesNotExistMakesABudgetUnreadable() {
        ObjectNode odd = budget("team-a", 60, TEN);
        odd.withObject("spec").withObject("period").put("timeZone", "Europe/Atlantis");

        assertThatThrownBy(() -> budgets.onUpdate(read(odd))).isInstanceOf(DateTimeException.class);
    }
}
