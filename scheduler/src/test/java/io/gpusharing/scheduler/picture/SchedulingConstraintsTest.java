package io.gpusharing.scheduler.picture;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import io.gpusharing.placement.FreeCapacity;
import io.gpusharing.sharing.Amounts;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SchedulingConstraintsTest {

    private static NodeView node(boolean cordoned, Taint... taints) {
        return new NodeView(
                "n1",
                Map.of("gpu", "a100", "count", "8"),
                List.of(taints),
                cordoned,
                new FreeCapacity(Amounts.NONE, null),
                null,
                List.of());
    }

    private static SchedulingConstraints requiring(String key, String operator, String... values) {
        var requirement = new NodeSelectorRequirement(key, operator, List.of(values));
        return new SchedulingConstraints(
                Map.of(),
                List.of(new NodeSelectorTerm(List.of(requirement), List.of())),
                List.of());
    }

    private static SchedulingConstraints tolerating(Toleration... tolerations) {
        return new SchedulingConstraints(Map.of(), List.of(), List.of(tolerations));
    }

    @ParameterizedTest(name = "{0} {1} {2}: {3}")
    @CsvSource({
        "gpu, In, a100, true",
        "gpu, In, h100, false",
        "gpu, NotIn, h100, true",
        "gpu, NotIn, a100, false",
        "none, NotIn, a100, true",
        "gpu, Exists, , true",
        "none, Exists, , false",
        "none, DoesNotExist, , true",
        "count, Gt, 7, true",
        "count, Gt, 8, false",
        "count, Lt, 9, true",
        "gpu, Gt, 7, false",
        "none, Gt, 7, false"
    })
    void requirementsOnLabels(String key, String operator, String value, boolean admitted) {
        SchedulingConstraints constraints =
                value == null ? requiring(key, operator) : requiring(key, operator, value);

        assertThat(constraints.admit(node(false))).isEqualTo(admitted);
    }

    @ParameterizedTest
    @CsvSource({"gpu,", ", Exists", ","})
    void aRequirementThatIsNoneMatchesNothing(String key, String operator) {
        assertThat(requiring(key, operator).admit(node(false))).isFalse();
    }

    @Test
    void oneTermIsEnoughAndATermWithoutRequirementsMatchesNothing() {
        var wrong = new NodeSelectorRequirement("gpu", "In", List.of("h100"));
        var right = new NodeSelectorRequirement("metadata.name", "In", List.of("n1"));
        var terms =
                List.of(
                        new NodeSelectorTerm(List.of(wrong), List.of()),
                        new NodeSelectorTerm(List.of(), List.of(right)));

        assertThat(new SchedulingConstraints(Map.of(), terms, List.of()).admit(node(false)))
                .isTrue();
        assertThat(
                        new SchedulingConstraints(
                                        Map.of(),
                                        List.of(new NodeSelectorTerm(List.of(), List.of())),
                                        List.of())
                                .admit(node(false)))
                .isFalse();
    }

    @Test
    void aSelectorMustMatchWhole() {
        var constraints =
                new SchedulingConstraints(Map.of("gpu", "a100", "zone", "x"), List.of(), List.of());

        assertThat(constraints.admit(node(false))).isFalse();
    }

    @Test
    void aCordonedNodeAdmitsOnlyPodsThatTolerateIt() {
        assertThat(SchedulingConstraints.NONE.admit(node(true))).isFalse();
        assertThat(tolerating(new Toleration(null, null, "Exists", null, null)).admit(node(true)))
                .isTrue();
    }

    @Test
    void aTaintNeedsItsToleration() {
        NodeView tainted = node(false, new Taint("NoExecute", "dedicated", null, "gpu"));

        assertThat(SchedulingConstraints.NONE.admit(tainted)).isFalse();
        assertThat(
                        tolerating(new Toleration("NoSchedule", "dedicated", "Equal", null, "gpu"))
                                .admit(tainted))
                .isFalse();
        assertThat(tolerating(new Toleration(null, "dedicated", null, null, "gpu")).admit(tainted))
                .isTrue();
        assertThat(
                        tolerating(new Toleration(null, "dedicated", "Exists", null, null))
                                .admit(tainted))
                .isTrue();
        assertThat(
                        tolerating(new Toleration(null, "dedicated", "Equal", null, "cpu"))
                                .admit(tainted))
                .isFalse();
    }

    @Test
    void aPreferenceExcludesNoNode() {
        assertThat(
                        SchedulingConstraints.NONE.admit(
                                node(false, new Taint("PreferNoSchedule", "busy", null, ""))))
                .isTrue();
    }
}
