package io.gpusharing.webhook.admission;

import static io.gpusharing.webhook.admission.Manifests.halfAGpu;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Members of a pod group of Kueue. Its webhook is asked after ours, in the same round, and takes
 * for members of the same role only pods whose init containers, requests and priority are the same.
 */
class PodGroupTest {

    @Test
    void aMemberIsOfTheShapeOfTheOthersWhateverTheBudgetHasLeft() {
        ObjectNode chosen = member();
        chosen.withObject("/spec").put("priorityClassName", "urgent").put("priority", 1000);

        for (ObjectNode member : List.of(member(), chosen)) {
            Answered first = inBudget().create(member);
            Answered later =
                    new Installation().overBudget(OnExhausted.LowerPriority).create(member);

            assertThat(later.priorityClass())
                    .isEqualTo("gpu-over-budget")
                    .isNotEqualTo(first.priorityClass());
            assertThat(shape(later)).isEqualTo(shape(first));
        }
    }

    @Test
    void aMemberIsOfTheShapeOfTheOthersWhetherOrNotAMeterWouldFit() {
        Answered first = inBudget().create(member());
        Answered unpullable = inBudget().unpullable("gpusharing/sidecar:1").create(member());
        Answered full = inBudget().unread("ResourceQuota compute").create(member());

        assertThat(first.initContainers()).isEmpty();
        assertThat(first.warnings()).noneMatch(warning -> warning.contains("container"));
        assertThat(shape(unpullable)).isEqualTo(shape(first));
        assertThat(shape(full)).isEqualTo(shape(first));
        assertThat(inBudget().create(halfAGpu()).initContainers()).hasSize(1);
    }

    /** The Priority plugin has written the number again, and does not run a third time. */
    @Test
    void askedAgainItKeepsTheNumberOfItsClass() {
        var completed = (ObjectNode) inBudget().create(member()).patched();
        completed.withObject("/spec").put("priority", 0);

        Answered second = inBudget().at(Installation.NOW.plusSeconds(3)).received(completed);

        assertThat(second.operations()).isEmpty();
    }

    private static Installation inBudget() {
        return new Installation().budget("10", OnExhausted.LowerPriority);
    }

    private static ObjectNode member() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/metadata/labels").put("kueue.x-k8s.io/pod-group-name", "train");
        return pod;
    }

    /** As Kueue sees it. */
    private static List<JsonNode> shape(Answered answer) {
        JsonNode spec = answer.patched().path("spec");
        return List.of(
                spec.path("initContainers"),
                spec.at("/containers/0/resources"),
                spec.path("priority"));
    }
}
