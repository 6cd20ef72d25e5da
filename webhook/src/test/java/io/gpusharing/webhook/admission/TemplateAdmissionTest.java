package io.gpusharing.webhook.admission;

import static io.gpusharing.webhook.admission.Manifests.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

class TemplateAdmissionTest {

    private final Installation installation = new Installation();

    @ParameterizedTest
    @CsvSource({
        "apps, Deployment, /spec/template",
        "apps, ReplicaSet, /spec/template",
        "apps, StatefulSet, /spec/template",
        "apps, DaemonSet, /spec/template",
        "batch, Job, /spec/template",
        "batch, CronJob, /spec/jobTemplate/spec/template",
        "'', PodTemplate, /template",
        "'', ReplicationController, /spec/template"
    })
    void everyKindOfTemplateIsJudged(String group, String kind, String path) {
        assertThat(installation.workload(group, workload(kind, path, 150), null).code())
                .isEqualTo(422);
        assertThat(installation.workload(group, workload(kind, path, 100), null).allowed())
                .isTrue();
    }

    @Test
    void anUpdateThatLeavesTheTemplateAloneIsNobodysBusiness() {
        ObjectNode before = workload("Deployment", "/spec/template", 150);
        ObjectNode scaled = before.deepCopy();
        scaled.withObject("/spec").put("replicas", 7);

        assertThat(installation.workload("apps", scaled, before).allowed()).isTrue();
    }

    @Test
    void anUpdateThatBreaksTheTemplateIsRefused() {
        assertThat(
                        installation
                                .workload(
                                        "apps",
                                        workload("Deployment", "/spec/template", 150),
                                        workload("Deployment", "/spec/template", 100))
                                .code())
                .isEqualTo(422);
    }

    @Test
    void whatBelongsToAnotherControllerIsNotJudgedTwice() {
        ObjectNode owned = workload("ReplicaSet", "/spec/template", 150);
        owned.withObject("/metadata")
                .putArray("ownerReferences")
                .addObject()
                .put("kind", "Deployment")
                .put("controller", true);

        assertThat(installation.workload("apps", owned, null).allowed()).isTrue();
    }

    @Test
    void whatIsBeingDeletedMayLoseItsFinalizers() {
        ObjectNode deleted = workload("Job", "/spec/template", 150);
        deleted.withObject("/metadata").put("deletionTimestamp", "2026-03-10T12:00:00Z");

        assertThat(
                        installation
                                .workload("batch", deleted, workload("Job", "/spec/template", 100))
                                .allowed())
                .isTrue();
    }

    @Test
    void aWorkloadTooLargeToBeReadAsATreeIsLeftToTheCheckOfItsPods() {
        ObjectNode large = workload("Job", "/spec/template", 150);
        large.withObject("/metadata/annotations").put("notes", "a".repeat(1536 * 1024));

        Answered answer = installation.workload("batch", large, null);

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.warnings())
                .containsExactly(
                        "too large to be judged early; its pods will be, when they are made");
    }

    @Test
    void aGroupOfTheSameKindElsewhereIsNotOurs() {
        assertThat(
                        installation
                                .workload(
                                        "apps.example.com",
                                        workload("Deployment", "/spec/template", 150),
                                        null)
                                .allowed())
                .isTrue();
    }

    @Test
    void tellsThatThePodsWillYieldWhileTheBudgetIsUsedUp() {
        installation.overBudget(OnExhausted.LowerPriority);

        assertThat(
                        installation
                                .workload(
                                        "apps", workload("Deployment", "/spec/template", 100), null)
                                .warnings())
                .containsExactly("budget a is used up: its pods run at low priority now");
    }

    @Test
    void warnsOfMoreThanAnyNodeHas() {
        installation.nodes(
                new NodeFacts(Map.of("tencent.com/vcuda-core", Quantity.of(200)), Map.of()));

        assertThat(
                        installation
                                .workload("batch", workload("Job", "/spec/template", 400), null)
                                .warnings())
                .containsExactly("container \"cuda\" asks for 4 GPUs; the largest node has 2");
    }

    private static ObjectNode workload(String kind, String path, int core) {
        ObjectNode workload =
                yaml("{kind: %s, metadata: {name: w, namespace: team-a}}".formatted(kind));
        workload.withObject(path)
                .setAll(
                        yaml(
                                """
                                spec:
                                  containers:
                                  - {name: cuda, image: x, resources: {limits: {tencent.com/vcuda-core: %d}}}
                                """
                                        .formatted(core)));
        return workload;
    }
}
