package io.gpusharing.webhook.admission;

import static io.gpusharing.webhook.admission.Manifests.halfAGpu;
import static io.gpusharing.webhook.admission.Manifests.yaml;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.webhook.pod.PodAdmission;
import io.gpusharing.webhook.review.MalformedReviewException;
import io.gpusharing.webhook.template.TemplateAdmission;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * What was wrong in the proof of concept (timozerrer/kubernetes-gpusharing) that this webhook
 * follows. Each test is named after the defect that must not come back.
 */
class OriginalDefectsTest {

    private final Installation installation = new Installation();

    @Test
    void defect01_onlyTheFirstContainerWithBothKeysWasChecked() {
        Answered answer =
                installation.create(
                        yaml(
                                """
                                metadata: {name: tiny-first}
                                spec:
                                  containers:
                                  - {name: tiny, resources: {limits: {tencent.com/vcuda-core: 1, tencent.com/vcuda-memory: 1}}}
                                  - {name: huge, resources: {limits: {tencent.com/vcuda-core: 150}}}
                                """));

        assertThat(answer.message()).contains("container \"huge\"");
    }

    @Test
    void defect02_aFirstContainerWithoutLimitsHidTheOnesBehindIt() {
        Answered answer =
                installation.create(
                        yaml(
                                """
                                metadata: {name: hidden}
                                spec:
                                  containers:
                                  - {name: plain, image: x}
                                  - {name: cuda, resources: {limits: {tencent.com/vcuda-core: 50, tencent.com/vcuda-memory: 15}}}
                                """));

        assertThat(answer.annotation("gpusharing.io/request")).contains("cuda/");
        assertThat(answer.initContainers()).isNotEmpty();
    }

    @Test
    void defect03_initContainersAndNativeSidecarsWereIgnored() {
        Answered answer =
                installation.create(
                        yaml(
                                """
                                metadata: {name: init}
                                spec:
                                  initContainers:
                                  - {name: prepare, resources: {limits: {tencent.com/vcuda-core: 150}}}
                                  - {name: cache, restartPolicy: Always, resources: {limits: {tencent.com/vcuda-core: 50}}}
                                  containers:
                                  - {name: main, image: x}
                                """));

        assertThat(answer.message())
                .contains("container \"prepare\"")
                .contains("container \"cache\"");
    }

    @Test
    void defect04_amountsThatNoDeviceCanGiveWereAccepted() {
        for (int core : new int[] {101, 150, 199, 250}) {
            assertThat(installation.create(asking(core, 15)).code())
                    .as("core %d", core)
                    .isEqualTo(422);
        }
    }

    @Test
    void defect05_aWholeGpuWithoutMemoryWasRefused() {
        ObjectNode pod = asking(200, 15);
        pod.withObject("/spec/containers/0/resources/limits").remove("tencent.com/vcuda-memory");

        assertThat(installation.create(pod).allowed()).isTrue();
    }

    @Test
    void defect06_allAnnotationsOfTheUserWereReplaced() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/metadata/annotations")
                .put("sidecar.istio.io/inject", "true")
                .put("a~b/c", "kept");

        Answered answer = installation.create(pod);

        assertThat(answer.annotation("sidecar.istio.io/inject")).isEqualTo("true");
        assertThat(answer.annotation("a~b/c")).isEqualTo("kept");
    }

    @Test
    void defect07_placementAnnotationsWereWipedOnUpdate() {
        ObjectNode pod = Manifests.asReceived(halfAGpu());
        ObjectNode placed = pod.deepCopy();
        placed.withObject("/metadata/annotations").put("tencent.com/predicate-gpu-idx-0", "1");

        Answered answer =
                installation.ask(
                        WebhookType.Mutate, Installation.review("UPDATE", "", "Pod", placed, pod));

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.operations()).isEmpty();
    }

    @Test
    void defect08_aPodWithoutPriorityWasAnError() {
        ObjectNode pod = Manifests.asReceived(halfAGpu());
        pod.withObject("/spec").remove("priority");
        pod.withObject("/spec").remove("preemptionPolicy");

        Answered answer = installation.received(pod);

        assertThat(answer.priorityClass()).isEqualTo("gpu-in-budget");
        assertThat(answer.operations()).noneMatch(operation -> operation.startsWith("remove"));
    }

    @Test
    void defect09_thePreemptionPolicyOfTheOldClassWasKept() {
        Answered answer = installation.overBudget(OnExhausted.LowerPriority).create(halfAGpu());

        assertThat(answer.operations()).contains("remove /spec/preemptionPolicy");
    }

    @Test
    void defect10_theUsersOwnClassWasOverwritten() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec").put("priorityClassName", "urgent").put("priority", 1000);

        assertThat(installation.create(pod).priorityClass()).isEqualTo("urgent");
    }

    @Test
    void defect11_theImmutableClassWasPatchedOnUpdate() {
        ObjectNode pod = Manifests.asReceived(halfAGpu());

        Answered answer =
                installation
                        .overBudget(OnExhausted.LowerPriority)
                        .ask(
                                WebhookType.Mutate,
                                Installation.review("UPDATE", "", "Pod", pod, pod));

        assertThat(answer.operations()).isEmpty();
    }

    @Test
    void defect12_beingInBudgetOutrankedUnrelatedPods() {
        // The class is 0, as of a pod without any; which values it has is the chart's matter.
        assertThat(installation.create(halfAGpu()).priorityClass()).isEqualTo("gpu-in-budget");
    }

    @Test
    void defect13_aContainerOfOurNameSuppressedTheInjection() {
        for (String list : List.of("containers", "initContainers")) {
            ObjectNode pod = halfAGpu();
            ((ObjectNode) pod.at("/spec"))
                    .withArray(list)
                    .addObject()
                    .put("name", "gpusharing-sidecar")
                    .put("image", "mine")
                    .put("restartPolicy", "Always");

            Answered answer = installation.create(pod);

            assertThat(answer.initContainers()).as(list).startsWith("gpusharing-sidecar-2");
            assertThat(answer.annotation("gpusharing.io/sidecar"))
                    .isEqualTo("gpusharing-sidecar-2");
        }
    }

    @Test
    void defect14_podsOverBudgetWereNotMetered() {
        Answered answer = installation.overBudget(OnExhausted.LowerPriority).create(halfAGpu());

        assertThat(answer.initContainers()).containsExactly("gpusharing-sidecar");
        assertThat(answer.patched().at("/metadata/labels").path("gpusharing.io/metered").asString())
                .isEqualTo("true");
    }

    @Test
    void defect15_theInjectedContainerKeptJobsFromEnding() {
        JsonNode injected = installation.create(halfAGpu()).patched().at("/spec/initContainers/0");

        assertThat(injected.path("restartPolicy").asString()).isEqualTo("Always");
        assertThat(injected.has("startupProbe")).isFalse();
        assertThat(injected.has("readinessProbe")).isFalse();
    }

    @Test
    void defect16_theInjectedContainerHadNoResourcesAndNoSecurityContext() {
        JsonNode injected = installation.create(halfAGpu()).patched().at("/spec/initContainers/0");

        for (String amounts : new String[] {"requests", "limits"}) {
            assertThat(injected.at("/resources/" + amounts).has("cpu")).isTrue();
            assertThat(injected.at("/resources/" + amounts).has("memory")).isTrue();
        }
        assertThat(injected.at("/securityContext/runAsNonRoot").asBoolean()).isTrue();
        assertThat(injected.at("/securityContext/allowPrivilegeEscalation").asBoolean(true))
                .isFalse();
        assertThat(injected.at("/securityContext/capabilities/drop/0").asString()).isEqualTo("ALL");
        assertThat(injected.at("/securityContext/seccompProfile/type").asString())
                .isEqualTo("RuntimeDefault");
    }

    @Test
    void defect17_whatAPodCostsTravelledThroughItsOwnEnvironment() {
        JsonNode injected = installation.create(halfAGpu()).patched().at("/spec/initContainers/0");

        // Which pod it meters and where it reports; the timekeeper computes the cost itself.
        assertThat(injected.path("env").valueStream().map(it -> it.path("name").asString()))
                .containsExactlyInAnyOrder(
                        "GPUSHARING_CA",
                        "GPUSHARING_NAMESPACE",
                        "GPUSHARING_NODE",
                        "GPUSHARING_POD",
                        "GPUSHARING_POD_UID",
                        "GPUSHARING_REQUEST",
                        "GPUSHARING_STATE_DIR",
                        "GPUSHARING_TIMEKEEPER_URL",
                        "GPUSHARING_TOKEN_FILE");
    }

    @Test
    void defect18_theDivisorOfTheChargeWasWrittenIntoTheWebhook() {
        // Nothing that we write into a pod is an amount of time or money: only what was asked for.
        Answered answer = installation.create(halfAGpu());

        assertThat(answer.annotation("gpusharing.io/request"))
                .isEqualTo("cuda/tencent.com/vcuda-core=50,cuda/tencent.com/vcuda-memory=15");
        assertThat(answer.patched().at("/metadata/annotations").propertyNames())
                .containsExactlyInAnyOrder(
                        "gpusharing.io/request",
                        "gpusharing.io/sidecar",
                        "gpusharing.io/standing",
                        "gpusharing.io/standing-as-of",
                        "tencent.com/vcuda-core-limit");
    }

    @Test
    void defect19_aWholeGpuWasWorthItsIgnoredMemoryNumber() {
        assertThat(installation.create(asking(100, 1)).annotation("tencent.com/vcuda-core-limit"))
                .isEmpty();
        assertThat(installation.create(asking(100, 1)).allowed()).isTrue();

        // The GPU determines how long the budget lasts, whatever memory is named beside it.
        installation.budget("30", OnExhausted.LowerPriority);
        assertThat(installation.create(asking(100, 200)).warnings())
                .isNotEmpty()
                .isEqualTo(installation.create(asking(100, 1)).warnings());
    }

    @Test
    void defects20And21_admissionAskedTheTimekeeperWhileTheUserWaited() {
        // The decision is a function of values that lie in memory: nothing that it depends on makes
        // a request, so nothing in it can wait or misinterpret an answer.
        assertThat(
                        reachedFrom(PodAdmission.class, TemplateAdmission.class).stream()
                                .flatMap(each -> each.getDirectDependenciesFromSelf().stream())
                                .map(it -> it.getTargetClass().getName()))
                .isNotEmpty()
                .noneMatch(name ->
                        name.matches(
                                "(java\\.net|java\\.nio\\.channels|io\\.fabric8|org\\.springframework\\.web)\\..*"));
    }

    @Test
    void defect22_deploymentsAndJobsGotNoAnswer() {
        ObjectNode job =
                yaml(
                        """
                        kind: Job
                        metadata: {name: bad}
                        spec: {template: {spec: {containers: [{name: cuda, resources: {limits: {tencent.com/vcuda-core: 150}}}]}}}
                        """);

        assertThat(installation.workload("batch", job, null).code()).isEqualTo(422);
    }

    @Test
    void defect23_aContainerWithoutResourcesWasAnError() {
        Answered answer =
                installation.create(
                        yaml(
                                "{metadata: {name: none}, spec: {containers: [{name: plain, image: x}]}}"));

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.operations()).isEmpty();
    }

    @Test
    void defect24_theValidatingAnswerWasNoAdmissionReviewAndRefusedAnyEnvironment() {
        ObjectNode deployment =
                yaml(
                        """
                        kind: Deployment
                        metadata: {name: good}
                        spec: {template: {spec: {containers: [{name: a, env: [{name: X, value: y}]}]}}}
                        """);

        Answered answer = installation.workload("apps", deployment, null);

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.operations()).isEmpty();
    }

    @Test
    void defect25_v1beta1WasPromisedAndAnsweredWithAnotherVersion() {
        byte[] old =
                JsonMapper.shared()
                        .writeValueAsString(
                                Installation.review("CREATE", "", "Pod", halfAGpu(), null))
                        .replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1")
                        .getBytes(UTF_8);

        assertThatThrownBy(() -> installation.answer(WebhookType.Mutate, old))
                .isInstanceOf(MalformedReviewException.class)
                .hasMessageContaining("v1beta1");
    }

    /** Our classes on which these depend, directly or not. */
    private static Set<JavaClass> reachedFrom(Class<?>... roots) {
        JavaClasses ours =
                new ClassFileImporter()
                        .withImportOption(new DoNotIncludeTests())
                        .importPackages("io.gpusharing");
        var next = new ArrayDeque<JavaClass>();
        for (Class<?> root : roots) {
            next.add(ours.get(root));
        }
        var reached = new HashSet<JavaClass>();
        while (!next.isEmpty()) {
            JavaClass each = next.remove();
            if (reached.add(each)) {
                each.getDirectDependenciesFromSelf().stream()
                        .map(Dependency::getTargetClass)
                        .filter(target -> target.getPackageName().startsWith("io.gpusharing"))
                        .forEach(next::add);
            }
        }
        return reached;
    }

    private static ObjectNode asking(int core, int memory) {
        return yaml(
                """
                metadata: {name: asking}
                spec:
                  containers:
                  - {name: cuda, resources: {limits: {tencent.com/vcuda-core: %d, tencent.com/vcuda-memory: %d}}}
                """
                        .formatted(core, memory));
    }
}
