package io.gpusharing.webhook.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.webhook.cluster.NamespaceStanding;
import io.gpusharing.webhook.cluster.PriorityClasses;
import io.gpusharing.webhook.decision.Findings;
import io.gpusharing.webhook.review.PodReader;
import io.gpusharing.webhook.review.PodView;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Which class a pod gets, and what is amiss with the cluster's classes. */
class PriorityClassPolicyTest {

    private final PriorityClassPolicy policy =
            new PriorityClassPolicy(
                    new PriorityClassProperties("gpu-in-budget", "gpu-over-budget", Set.of()));

    @Test
    void theChartsOwnClassesAreFine() {
        assertThat(policy.problems(classes(0, -100, null))).isEmpty();
        assertThat(policy.problems(classes(0, -100, 0))).isEmpty();
    }

    @Test
    void aDefaultClassAboveOursIsReported() {
        assertThat(policy.problems(classes(0, -100, 500)))
                .singleElement()
                .asString()
                .startsWith(
                        "the cluster's default class standard (500) is above gpu-in-budget (0)");
    }

    @Test
    void classesThatDoNotExistAreReported() {
        assertThat(policy.problems(new PriorityClasses(Map.of("gpu-in-budget", 0), Set.of(), null)))
                .singleElement()
                .asString()
                .startsWith("priority class gpu-over-budget does not exist");
    }

    @Test
    void anOverBudgetClassThatNoOtherOutranksIsReported() {
        assertThat(policy.problems(classes(-100, 0, null)))
                .singleElement()
                .asString()
                .startsWith("priority class gpu-over-budget is not below gpu-in-budget");
    }

    @Test
    void anUnusableAllowedClassIsReported() {
        var allowing =
                new PriorityClassPolicy(
                        new PriorityClassProperties(
                                "gpu-in-budget", "gpu-over-budget", Set.of("urgent")));

        assertThat(allowing.problems(classes(0, -100, null)))
                .containsExactly(
                        "priority class urgent of gpusharing.classes.allowed does not exist");
    }

    /** Of a cluster whose default class, if it has one, is {@code standard}. */
    @ParameterizedTest(name = "{0}: {4} -> {5}")
    @CsvSource(
            nullValues = "-",
            delimiter = '|',
            textBlock =
                    """
                    no class chosen, time left            | -        | -    | -   | InBudget   | gpu-in-budget
                    the default is nobody's choice        | standard | 0    | 0   | InBudget   | gpu-in-budget
                    a default that outranks ours is kept  | standard | 500  | 500 | InBudget   | -
                    the user's class is kept              | research | 1000 | -   | InBudget   | -
                    no budget pays                        | -        | -    | -   | Unlimited  | gpu-in-budget
                    no class chosen, used up              | -        | -    | -   | OverBudget | gpu-over-budget
                    a default that outranks ours, used up | standard | 500  | 500 | OverBudget | gpu-over-budget
                    the user's class, used up             | research | 1000 | -   | OverBudget | gpu-over-budget
                    as low as ours, used up               | batch    | -100 | -   | OverBudget | gpu-over-budget
                    lower than ours, used up              | lowest   | -101 | -   | OverBudget | -
                    of a value that nobody knows, used up | lowest   | -    | -   | OverBudget | gpu-over-budget
                    """)
    void aPodGetsTheClassOfItsStanding(
            String why,
            @Nullable String chosen,
            @Nullable Integer value,
            @Nullable Integer standard,
            String standing,
            @Nullable String expected) {
        var findings = new Findings();

        assertThat(
                        policy.classFor(
                                pod(chosen, value),
                                standing(standing),
                                classes(0, -100, standard),
                                findings))
                .as(why)
                .isEqualTo(Optional.ofNullable(expected));
        assertThat(findings.warnings())
                .hasSize("gpu-over-budget".equals(expected) ? 1 : 0)
                .allMatch(it ->
                        it.equals(
                                "budget a is used up: class gpu-over-budget, this pod yields to pods in budget"));
        assertThat(findings.refusals()).isEmpty();
    }

    private static PodView pod(@Nullable String priorityClass, @Nullable Integer priority) {
        ObjectNode pod = JsonMapper.shared().createObjectNode();
        ObjectNode spec = pod.putObject("spec");
        spec.putArray("containers").addObject().put("name", "main");
        if (priorityClass != null) {
            spec.put("priorityClassName", priorityClass);
        }
        if (priority != null) {
            spec.put("priority", priority);
        }
        return PodReader.readTemplate(pod.traverse(ObjectReadContext.empty()), _ -> false);
    }

    private static NamespaceStanding standing(String word) {
        Instant now = Instant.parse("2026-03-02T12:00:00Z");
        return switch (word) {
            case "InBudget" ->
                    new NamespaceStanding(
                            "a",
                            new InBudget(GpuTime.ofMinutes("100"), null),
                            OnExhausted.LowerPriority,
                            now,
                            null);
            case "OverBudget" ->
                    new NamespaceStanding(
                            "a",
                            new OverBudget(GpuTime.ofMinutes("1")),
                            OnExhausted.LowerPriority,
                            now,
                            null);
            default -> NamespaceStanding.unlimited(now);
        };
    }

    private static PriorityClasses classes(int in, int over, @Nullable Integer standard) {
        return standard == null
                ? new PriorityClasses(
                        Map.of("gpu-in-budget", in, "gpu-over-budget", over), Set.of(), null)
                : new PriorityClasses(
                        Map.of("gpu-in-budget", in, "gpu-over-budget", over, "standard", standard),
                        Set.of(),
                        "standard");
    }
}
