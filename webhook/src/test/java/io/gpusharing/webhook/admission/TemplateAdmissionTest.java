package io.gpusharing.webhook.admission;

import static io.gpusharing.webhook.admission.Manifests.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import io.gpusharing.webhook.decision.Reaction;
import io.gpusharing.webhook.policy.PolicyProperties;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
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
    void anUpdateWithoutAChangeOfTheTemplateIsAllowed() {
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
    void anObjectOfAControllerIsNotValidatedTwice() {
        ObjectNode owned = workload("ReplicaSet", "/spec/template", 150);
        owned.withObject("/metadata")
                .putArray("ownerReferences")
                .addObject()
                .put("kind", "Deployment")
                .put("controller", true);

        assertThat(installation.workload("apps", owned, null).allowed()).isTrue();
    }

    @Test
    void aTerminatingObjectMayLoseItsFinalizers() {
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
                        "too large to be validated early; its pods are validated when they are created");
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

    @ParameterizedTest(name = "{1}")
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    {spec: {nodeName: gpu-1}}                                                         | NODE_NAME
                    {spec: {containers: [{name: cuda, securityContext: {privileged: true}}]}}         | PRIVILEGED_FRACTION
                    {spec: {priorityClassName: urgent}}                                               | CLASS_NOT_ALLOWED
                    {spec: {volumes: [{name: all, hostPath: {path: /dev/nvidia0}}]}}                  | DEVICE_PATH
                    {spec: {containers: [{name: cuda, env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]}]}} | VISIBLE_DEVICES
                    {metadata: {annotations: {cdi.k8s.io/mine: nvidia.com/gpu=all}}}                  | CDI_ANNOTATION
                    {metadata: {annotations: {gpusharing.io/standing-as-of: '2026-01-01T00:00:00Z'}}} | FORGED_KEY
                    {metadata: {annotations: {gpusharing.io/request: cuda/tencent.com/vcuda-core=1}}} | FORGED_KEY
                    {metadata: {labels: {gpusharing.io/metered: 'false'}}}                            | FORGED_KEY
                    {metadata: {annotations: {gpusharing.io/do-not-reclaim: 'true'}}}                 | FORGED_KEY
                    {metadata: {labels: {gpusharing.io/do-not-reclaim: 'true'}}}                      | FORGED_KEY
                    {metadata: {labels: {gpusharing.io/inject: 'false'}}}                             | FORGED_KEY
                    {metadata: {annotations: {gpusharing.io/anything: x}}}                            | FORGED_KEY
                    """)
    void aTemplateIsToldWhatItsPodsWouldBeRefusedFor(String more, String rule) {
        installation
                .allowedClasses("research")
                .policy(
                        new PolicyProperties(
                                Reaction.Refuse,
                                Reaction.Refuse,
                                Reaction.Refuse,
                                Reaction.Refuse,
                                Reaction.Refuse,
                                Reaction.Refuse,
                                Reaction.Refuse,
                                Reaction.Refuse));

        Answered answer = installation.workload("batch", fractionWith(more), null);

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.audit("rules")).isEqualTo(rule);
    }

    @Test
    void aTemplateIsWarnedOfWhereTheSiteOnlyWarns() {
        installation.policy(
                new PolicyProperties(
                        Reaction.Refuse,
                        Reaction.Refuse,
                        Reaction.Refuse,
                        Reaction.Warn,
                        Reaction.Warn,
                        Reaction.Warn,
                        Reaction.Warn,
                        Reaction.Warn));

        Answered answer =
                installation.workload(
                        "batch",
                        fractionWith("{spec: {volumes: [{name: d, hostPath: {path: /dev}}]}}"),
                        null);

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.warnings())
                .containsExactly(
                        "volume \"d\": hostPath /dev reaches GPUs past their limits; remove it");
    }

    @Test
    void checksThatDependOnTheStandingAreLeftToThePods() {
        ObjectNode saved =
                fractionWith(
                        """
                        {metadata: {labels: {gpusharing.io/metered: 'true'},
                                    annotations: {gpusharing.io/standing: Unlimited, gpusharing.io/budget: b,
                                      gpusharing.io/request: 'cuda/tencent.com/vcuda-core=50,cuda/tencent.com/vcuda-memory=15'}}}
                        """);

        Answered answer = installation.workload("batch", saved, null);

        assertThat(answer.allowed()).as(answer.message()).isTrue();
        assertThat(answer.warnings()).isEmpty();
    }

    @Test
    void aTemplateWithoutGpusMayBePrivileged() {
        ObjectNode agent =
                yaml(
                        """
                        kind: DaemonSet
                        metadata: {name: w}
                        spec: {template: {spec: {nodeName: a, containers: [{name: c, securityContext: {privileged: true}}]}}}
                        """);

        assertThat(installation.workload("apps", agent, null).allowed()).isTrue();
    }

    @Test
    void aWholeGpuIsJudgedOnlyWhereABudgetPaysForIt() {
        installation.grammars("vcuda", "nvidia");
        ObjectNode deployment =
                yaml(
                        """
                        kind: Deployment
                        metadata: {name: w}
                        spec: {template: {spec: {nodeName: a, containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
                        """);

        assertThat(installation.workload("apps", deployment, null).allowed()).isTrue();
        installation.budget("10", OnExhausted.LowerPriority);
        assertThat(installation.workload("apps", deployment, null).code()).isEqualTo(403);
    }

    @Test
    void warnsThatThePodsMayBeEvictedWhileTheBudgetIsExhausted() {
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

    /** A Job that asks for half a GPU, with more in its template. */
    private static ObjectNode fractionWith(String more) {
        ObjectNode job = workload("Job", "/spec/template", 50);
        var limits = (ObjectNode) job.at("/spec/template/spec/containers/0/resources/limits");
        limits.put("tencent.com/vcuda-memory", 15);
        ObjectNode template = job.withObject("/spec/template");
        ObjectNode added = yaml(more);
        JsonNode container = added.at("/spec/containers/0");
        if (container.isObject()) {
            ((ObjectNode) template.at("/spec/containers/0")).setAll((ObjectNode) container);
            added.withObject("/spec").remove("containers");
        }
        added.propertyStream()
                .forEach(part ->
                        template.withObject("/" + part.getKey())
                                .setAll((ObjectNode) part.getValue()));
        return job;
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
