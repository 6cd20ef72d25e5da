package io.gpusharing.webhook.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.webhook.cluster.PriorityClasses;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Findings about the cluster's priority classes. */
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
