package io.gpusharing.webhook.admission;

import static io.gpusharing.webhook.admission.Manifests.halfAGpu;
import static io.gpusharing.webhook.admission.Manifests.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.request.Violation;
import io.gpusharing.testing.Fixture;
import io.gpusharing.testing.YamlFixtures;
import io.gpusharing.webhook.cluster.PriorityClasses;
import io.gpusharing.webhook.decision.Reaction;
import io.gpusharing.webhook.injection.SidecarProperties.Mode;
import io.gpusharing.webhook.policy.PolicyProperties;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

class PodAdmissionTest {

    private final Installation installation = new Installation();

    @ParameterizedTest(name = "{0}")
    @YamlFixtures("vcuda/invalid-*")
    void everyIllegalRequestOfTheTableIsRefusedWithEveryViolation(Fixture pod) {
        Answered answer = installation.received(manifest(pod));

        assertThat(answer.allowed()).isFalse();
        assertThat(answer.code()).isEqualTo(422);
        assertThat(answer.message())
                .contains(pod.violations().stream().map(Violation::message).toList());
    }

    @ParameterizedTest(name = "{0}")
    @YamlFixtures("vcuda/valid-*")
    void everyLegalRequestOfTheTableIsCompleted(Fixture pod) {
        Answered answer = installation.received(manifest(pod));

        assertThat(answer.allowed()).isTrue();
        assertThat(
                        answer.patched()
                                .path("metadata")
                                .path("labels")
                                .path("gpusharing.io/metered")
                                .asString())
                .isEqualTo("true");
        assertThat(answer.initContainers()).first().isEqualTo("gpusharing-sidecar");
    }

    @ParameterizedTest(name = "{0}")
    @YamlFixtures("vcuda/unrelated-*")
    void podsWithoutGpusAreLeftAlone(Fixture pod) {
        Answered answer = installation.received(manifest(pod));

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.operations()).isEmpty();
    }

    @Test
    void aPodWithResourceClaimsGetsTheLabelAlone() {
        ObjectNode pod = withoutGpu();
        pod.withObject("/spec").putArray("resourceClaims").addObject().put("name", "gpu");

        Answered answer = installation.create(pod);

        assertThat(answer.patched().at("/metadata/labels/gpusharing.io~1metered").asString())
                .isEqualTo("true");
        assertThat(answer.patched().at("/metadata/annotations").isMissingNode()).isTrue();
        assertThat(answer.initContainers()).isEmpty();
    }

    @Test
    void anEmptyListOfResourceClaimsIsIgnored() {
        ObjectNode pod = withoutGpu();
        pod.withObject("/spec").putArray("resourceClaims");

        assertThat(installation.create(pod).operations()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "deviceclass.resource.kubernetes.io/whole.example.com: 1",
                "example.com/gpu: 1",
                "tencent.com/vcuda-core: 0, example.com/gpu: 1"
            })
    void aPodForWhichTheSchedulerMakesTheClaimGetsTheLabelToo(String limits) {
        installation.gpuDriver("example.com/gpu");

        Answered answer = installation.create(pod(limits));

        assertThat(answer.patched().at("/metadata/labels/gpusharing.io~1metered").asString())
                .isEqualTo("true");
        assertThat(answer.patched().at("/metadata/annotations").isMissingNode()).isTrue();
        assertThat(answer.initContainers()).isEmpty();
    }

    @Test
    void alsoWhereAnInitContainerAsksForIt() {
        ObjectNode pod = withoutGpu();
        pod.withObject("/spec")
                .putArray("initContainers")
                .add(pod("example.com/gpu: 1").at("/spec/containers/0"));

        assertThat(installation.gpuDriver("example.com/gpu").create(pod).operations()).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "deviceclass.resource.kubernetes.io/whole.example.com: 0",
                "example.com/card: 1"
            })
    void noneIsMadeForNothingNorForWhatNoClassNames(String limits) {
        installation.gpuDriver("example.com/gpu");

        assertThat(installation.create(pod(limits)).operations()).isEmpty();
    }

    @Test
    void withoutADriverOfGpusAClassIsIgnored() {
        assertThat(
                        installation
                                .create(
                                        pod(
                                                "deviceclass.resource.kubernetes.io/whole.example.com: 1"))
                                .operations())
                .isEmpty();
    }

    @Test
    void aFractionBesideItIsCompletedAsAnyOther() {
        installation.gpuDriver("example.com/gpu");

        Answered answer =
                installation.create(pod("tencent.com/vcuda-core: 100, example.com/gpu: 1"));

        assertThat(answer.annotation("gpusharing.io/request"))
                .isEqualTo("cuda/tencent.com/vcuda-core=100");
    }

    private static ObjectNode withoutGpu() {
        return yaml(
                "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: x}]}}");
    }

    @Test
    void aCompletedPodSaysWhatWasJudgedAndWhereItStood() {
        Answered answer = installation.budget("10", OnExhausted.LowerPriority).create(halfAGpu());

        assertThat(answer.annotation("gpusharing.io/budget")).isEqualTo("a");
        assertThat(answer.annotation("gpusharing.io/standing")).isEqualTo("InBudget");
        assertThat(answer.annotation("gpusharing.io/standing-as-of"))
                .isEqualTo("2026-03-10T12:00:00Z");
        assertThat(answer.annotation("gpusharing.io/request"))
                .isEqualTo("cuda/tencent.com/vcuda-core=50,cuda/tencent.com/vcuda-memory=15");
        assertThat(answer.annotation("gpusharing.io/sidecar")).isEqualTo("gpusharing-sidecar");
        assertThat(answer.annotation("tencent.com/vcuda-core-limit")).isEqualTo("50");
        assertThat(answer.audit("standing")).isEqualTo("InBudget");
    }

    @Test
    void aPodWithoutAClassGetsTheInBudgetClass() {
        Answered answer = installation.create(halfAGpu());

        assertThat(answer.priorityClass()).isEqualTo("gpu-in-budget");
        assertThat(answer.patched().at("/spec/priority").asInt(-1))
                .as("what the class also sets is kept, or the API server would ask twice")
                .isZero();
        assertThat(answer.patched().at("/spec/preemptionPolicy").asString())
                .isEqualTo("PreemptLowerPriority");
    }

    @Test
    void valueAndPolicyOfAnotherClassAreRemoved() {
        for (PriorityClasses classes :
                List.of(
                        new PriorityClasses(Map.of("gpu-in-budget", 10), Set.of(), null),
                        new PriorityClasses(
                                Map.of("gpu-in-budget", 0), Set.of("gpu-in-budget"), null),
                        PriorityClasses.NONE)) {
            Answered answer = installation.classes(classes).create(halfAGpu());

            assertThat(answer.priorityClass()).isEqualTo("gpu-in-budget");
            assertThat(answer.patched().path("spec").has("priority")).isFalse();
            assertThat(answer.patched().path("spec").has("preemptionPolicy")).isFalse();
        }
    }

    @Test
    void inBudgetAUsersClassIsKept() {
        Answered answer =
                installation
                        .budget("10", OnExhausted.LowerPriority)
                        .create(withClass(halfAGpu(), "urgent", 1000));

        assertThat(answer.priorityClass()).isEqualTo("urgent");
        assertThat(answer.patched().path("spec").path("priority").asInt()).isEqualTo(1000);
    }

    @Test
    void overBudgetAUsersClassIsLoweredAndTheUserIsWarned() {
        Answered answer =
                installation
                        .overBudget(OnExhausted.LowerPriority)
                        .create(withClass(halfAGpu(), "urgent", 1000));

        assertThat(answer.priorityClass()).isEqualTo("gpu-over-budget");
        assertThat(answer.patched().path("spec").has("priority")).isFalse();
        assertThat(answer.warnings()).singleElement().asString().contains("budget a is used up");
    }

    @Test
    void overBudgetAClassThatIsLowerStillIsKept() {
        Answered answer =
                installation
                        .overBudget(OnExhausted.LowerPriority)
                        .create(withClass(halfAGpu(), "batch-low", -1000));

        assertThat(answer.priorityClass()).isEqualTo("batch-low");
    }

    @ParameterizedTest
    @EnumSource(names = {"LowerPriority", "Reclaim"})
    void overBudgetAPodStillRunsMeteredAtLowPriority(OnExhausted onExhausted) {
        Answered answer = installation.overBudget(onExhausted).create(halfAGpu());

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.priorityClass()).isEqualTo("gpu-over-budget");
        assertThat(answer.annotation("gpusharing.io/standing")).isEqualTo("OverBudget");
        assertThat(answer.initContainers()).containsExactly("gpusharing-sidecar");
    }

    @Test
    void aBudgetThatOnlyObservesLowersNothing() {
        Answered answer = installation.overBudget(OnExhausted.Observe).create(halfAGpu());

        assertThat(answer.priorityClass()).isEqualTo("gpu-in-budget");
        assertThat(answer.annotation("gpusharing.io/standing")).isEqualTo("OverBudget");
    }

    @Test
    void aBudgetThatRefusesDeniesNewGpuPods() {
        Answered answer = installation.overBudget(OnExhausted.Refuse).create(halfAGpu());

        assertThat(answer.allowed()).isFalse();
        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message()).contains("budget a of namespace team-a is used up");
    }

    @Test
    void aRefusalSaysWhenThereIsTimeAgain() {
        Answered answer = installation.budgetThatEndsIn(0, OnExhausted.Refuse).create(halfAGpu());

        assertThat(answer.message())
                .isEqualTo(
                        "budget a of namespace team-a is used up and refuses new GPU pods until its next period begins at 2026-04-01T00:00:00Z, or until a GpuGrant adds time");
    }

    @Test
    void aBudgetOfNothingPromisesNothingForItsNextPeriod() {
        Answered answer = installation.budget("0", OnExhausted.Refuse).create(halfAGpu());

        assertThat(answer.message()).endsWith("refuses new GPU pods until a GpuGrant adds time");
    }

    @Test
    void classesOfTheSystemAreChosenOnlyWhereTheSiteListsThem() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec").put("priorityClassName", "system-node-critical");

        assertThat(installation.create(pod).message())
                .contains("spec.priorityClassName is system-node-critical: it is for parts");
        assertThat(installation.allowedClasses("system-node-critical").create(pod).allowed())
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 0", "50, 0", "100, 0", "101, 1", "500, 1", "abc, 1"})
    void anInvalidCeilingIsReported(String ceiling, int warnings) {
        ObjectNode pod = halfAGpu();
        pod.withObject("/metadata/annotations").put("tencent.com/vcuda-core-limit", ceiling);

        assertThat(installation.create(pod).warnings()).hasSize(warnings);
    }

    @Test
    void theClustersDefaultClassDoesNotCountAsTheUsersChoice() {
        Answered answer =
                installation
                        .classes(new PriorityClasses(Map.of("standard", -5), Set.of(), "standard"))
                        .create(withClass(halfAGpu(), "standard", -5));

        assertThat(answer.priorityClass()).isEqualTo("gpu-in-budget");
    }

    @Test
    void aDefaultClassThatOutranksOursIsNotTakenAway() {
        Answered answer =
                installation
                        .classes(new PriorityClasses(Map.of("standard", 500), Set.of(), "standard"))
                        .create(withClass(halfAGpu(), "standard", 500));

        assertThat(answer.priorityClass()).isEqualTo("standard");
    }

    @Test
    void aClassThatTheSiteDoesNotAllowIsRefusedWithTheList() {
        Answered answer =
                installation
                        .allowedClasses("research", "teaching")
                        .create(withClass(halfAGpu(), "urgent", 1000));

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message()).contains("urgent").contains("[research, teaching]");
    }

    @Test
    void forgedKeysAreRefusedByName() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/metadata/annotations").put("gpusharing.io/standing", "InBudget");
        pod.withObject("/metadata/labels").put("gpusharing.io/metered", "false");

        Answered answer = installation.overBudget(OnExhausted.LowerPriority).create(pod);

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message())
                .contains(
                        "metadata.annotations[gpusharing.io/standing]: nobody but GPUSharing writes it here")
                .contains(
                        "metadata.labels[gpusharing.io/metered]: nobody but GPUSharing writes it here");
    }

    @Test
    void whereForgedKeysOnlyWarnTheyAreOverwritten() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/metadata/annotations")
                .put("gpusharing.io/standing", "InBudget")
                .put("gpusharing.io/budget", "somebody-elses");

        Answered answer =
                installation
                        .policy(
                                new PolicyProperties(
                                        Reaction.Warn,
                                        Reaction.Refuse,
                                        Reaction.Refuse,
                                        Reaction.Warn,
                                        Reaction.Warn,
                                        Reaction.Warn,
                                        Reaction.Warn,
                                        Reaction.Warn))
                        .create(pod);

        assertThat(answer.annotation("gpusharing.io/standing")).isEqualTo("Unlimited");
        assertThat(
                        answer.patched()
                                .path("metadata")
                                .path("annotations")
                                .has("gpusharing.io/budget"))
                .isFalse();
        assertThat(answer.warnings())
                .containsExactly(
                        "metadata.annotations[gpusharing.io/budget]: nobody but GPUSharing writes it here; remove it",
                        "metadata.annotations[gpusharing.io/standing]: nobody but GPUSharing writes it here; remove it");
    }

    @Test
    void aNodeChosenByHandAndAPrivilegedFractionAreRefusedTogether() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec").put("nodeName", "node-1");
        ((ObjectNode) pod.at("/spec/containers/0"))
                .putObject("securityContext")
                .put("privileged", true);

        Answered answer = installation.create(pod);

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message())
                .startsWith("2 problems: (1) spec.nodeName is node-1")
                .contains("(2) container \"cuda\": privileged");
    }

    @ParameterizedTest
    @CsvSource({
        "aliyun, aliyun.com/gpu-mem",
        "hami, nvidia.com/gpumem",
        "metagpu, cnvrg.io/metagpu",
        "nvidia, nvidia.com/gpu.shared",
        "nvidia, nvidia.com/mig-1g.5gb"
    })
    void aPrivilegedPartOfAGpuIsRefusedInEveryProvidersWords(String grammar, String resource) {
        ObjectNode pod =
                yaml(
                        """
                        metadata: {name: part}
                        spec:
                          containers:
                          - name: cuda
                            securityContext: {privileged: true}
                            resources: {limits: {%s: 4}}
                        """
                                .formatted(resource));

        Answered answer =
                installation.grammars(grammar).budget("10", OnExhausted.LowerPriority).create(pod);

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message()).startsWith("container \"cuda\": privileged");
    }

    @Test
    void aPrivilegedWholeGpuIsNoWayAround() {
        ObjectNode pod =
                yaml(
                        """
                        metadata: {name: whole}
                        spec:
                          containers:
                          - name: cuda
                            securityContext: {privileged: true}
                            resources: {limits: {tencent.com/vcuda-core: 200}}
                        """);

        assertThat(installation.create(pod).allowed()).isTrue();
    }

    @Test
    void handMadeAccessToDevicesIsWarnedOf() {
        ObjectNode pod =
                yaml(
                        """
                        metadata: {name: bypass, annotations: {cdi.k8s.io/gpu: nvidia.com/gpu=0}}
                        spec:
                          containers:
                          - name: cuda
                            env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
                            resources: {limits: {tencent.com/vcuda-core: 100}}
                          volumes:
                          - {name: dev, hostPath: {path: /dev/nvidia0}}
                          - {name: data, hostPath: {path: /data}}
                        """);

        Answered answer = installation.create(pod);

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.warnings()).hasSize(3).allMatch(warning -> warning.length() <= 120);
    }

    @Test
    void aMirrorPodOfANodeIsLeftAloneAndTheAnnotationAloneIsNoWayAround() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/metadata/annotations").put("kubernetes.io/config.mirror", "x");
        ObjectNode byNode =
                Installation.review("CREATE", "", "Pod", Manifests.asReceived(pod), null);
        byNode.withObject("/request/userInfo").putArray("groups").add("system:nodes");

        assertThat(installation.ask(WebhookType.Mutate, byNode).operations()).isEmpty();
        assertThat(installation.create(pod).operations()).isNotEmpty();
    }

    @Test
    void aWindowsPodIsStampedAndGetsNoLinuxContainer() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec/os").put("name", "windows");

        Answered answer = installation.create(pod);

        assertThat(answer.annotation("gpusharing.io/request")).isNotEmpty();
        assertThat(answer.initContainers()).isEmpty();
    }

    @Test
    void updatesDeletionsAndOtherKindsAreLeftAlone() {
        ObjectNode pod = Manifests.asReceived(halfAGpu());

        assertThat(
                        installation
                                .ask(
                                        WebhookType.Mutate,
                                        Installation.review("UPDATE", "", "Pod", pod, pod))
                                .operations())
                .isEmpty();
        assertThat(
                        installation
                                .ask(
                                        WebhookType.Mutate,
                                        Installation.review("CREATE", "apps", "Pod", pod, null))
                                .operations())
                .isEmpty();
        assertThat(
                        installation
                                .ask(
                                        WebhookType.Mutate,
                                        Installation.review("CREATE", "", "Secret", pod, null))
                                .allowed())
                .isTrue();
    }

    @Test
    void aUsersCeilingIsNeverOverwritten() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/metadata/annotations").put("tencent.com/vcuda-core-limit", "80");

        assertThat(installation.create(pod).annotation("tencent.com/vcuda-core-limit"))
                .isEqualTo("80");
    }

    @Test
    void completingACompletedPodChangesNothing() {
        Answered first = installation.budget("10", OnExhausted.LowerPriority).create(halfAGpu());
        var completed = (ObjectNode) first.patched();
        completed.withObject("/spec").put("priority", 0).put("preemptionPolicy", "Never");

        Answered second = installation.at(Installation.NOW.plusSeconds(3)).received(completed);

        assertThat(second.allowed()).isTrue();
        assertThat(second.operations()).isEmpty();
    }

    @Test
    void aStampOfJustBeforeTheBudgetEndedBuysNothing() {
        installation.budgetThatEndsIn(1, OnExhausted.Refuse);
        Answered first = installation.create(halfAGpu());

        Answered second =
                installation.at(Installation.NOW.plusSeconds(3)).received(first.patched());

        assertThat(second.code()).isEqualTo(403);
        assertThat(second.audit("rules")).isEqualTo("BUDGET_USED_UP");
    }

    @Test
    void aFreshStampThatClaimsABetterStandingIsWrittenOver() {
        Answered first = installation.budget("10", OnExhausted.LowerPriority).create(halfAGpu());

        Answered second =
                installation
                        .overBudget(OnExhausted.LowerPriority)
                        .at(Installation.NOW.plusSeconds(3))
                        .received(first.patched());

        assertThat(second.annotation("gpusharing.io/standing")).isEqualTo("OverBudget");
        assertThat(second.annotation("gpusharing.io/standing-as-of"))
                .isEqualTo("2026-03-10T12:00:03Z");
        assertThat(second.priorityClass()).isEqualTo("gpu-over-budget");
    }

    @Test
    void theReplicaThatIsAskedSecondMayHaveAClockThatIsBehind() {
        Answered first = installation.create(halfAGpu());
        var changed = (ObjectNode) first.patched();
        amounts(changed).put("tencent.com/vcuda-core", "60");

        Answered second = installation.at(Installation.NOW.minusSeconds(3)).received(changed);

        assertThat(second.allowed()).as(second.message()).isTrue();
    }

    @Test
    void anAmountRaisedByAnotherWebhookIsValidatedAndStampedAgain() {
        var raised = (ObjectNode) installation.create(halfAGpu()).patched();
        amounts(raised).put("tencent.com/vcuda-core", "80");

        Answered second = installation.received(raised);

        assertThat(second.allowed()).as(second.message()).isTrue();
        assertThat(second.annotation("gpusharing.io/request"))
                .isEqualTo("cuda/tencent.com/vcuda-core=80,cuda/tencent.com/vcuda-memory=15");
        assertThat(second.annotation("tencent.com/vcuda-core-limit")).isEqualTo("80");
    }

    @Test
    void anAmountRaisedToAnIllegalOneIsRefused() {
        var raised = (ObjectNode) installation.create(halfAGpu()).patched();
        amounts(raised).put("tencent.com/vcuda-core", "150");

        assertThat(installation.received(raised).code()).isEqualTo(422);
    }

    @Test
    void aUsersCeilingIsKeptAlsoThen() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/metadata/annotations").put("tencent.com/vcuda-core-limit", "90");
        var raised = (ObjectNode) installation.create(pod).patched();
        amounts(raised).put("tencent.com/vcuda-core", "80");

        assertThat(installation.received(raised).annotation("tencent.com/vcuda-core-limit"))
                .isEqualTo("90");
    }

    @Test
    void aPartForWhichHamiWouldAddTheCountGetsItFromUs() {
        installation.grammars("hami");
        Answered answer = installation.create(pod("nvidia.com/gpumem: 4096"));

        assertThat(answer.annotation("gpusharing.io/request"))
                .isEqualTo("cuda/nvidia.com/gpu=1,cuda/nvidia.com/gpumem=4096");
        assertThat(
                        answer.patched()
                                .path("spec")
                                .path("containers")
                                .path(0)
                                .path("resources")
                                .path("limits")
                                .path("nvidia.com/gpu")
                                .asString())
                .isEqualTo("1");
        assertThat(answer.warnings())
                .containsExactly("container \"cuda\": nvidia.com/gpu is 1 by default");
    }

    @Test
    void aWholeGpuThatNoBudgetPaysForIsOnlyCounted() {
        installation.grammars("vcuda", "nvidia", "hami");
        ObjectNode pod = pod("nvidia.com/gpu: 1, nvidia.com/mig-1g.10gb: 1");
        pod.withObject("/spec").put("nodeName", "gpu-1");

        Answered answer = installation.create(pod);

        assertThat(answer.patched().at("/metadata/labels/gpusharing.io~1metered").asString())
                .isEqualTo("true");
        assertThat(answer.patched().at("/metadata/annotations").isMissingNode()).isTrue();
        assertThat(answer.initContainers()).isEmpty();
        assertThat(answer.patched().at("/spec/priorityClassName").isMissingNode()).isTrue();
        assertThat(answer.warnings()).isEmpty();
        assertThat(installation.received((ObjectNode) answer.patched()).operations()).isEmpty();
    }

    @Test
    void aWholeGpuThatABudgetPaysForIsCompletedAsAFractionIs() {
        installation.grammars("vcuda", "nvidia").budget("10", OnExhausted.LowerPriority);

        Answered answer = installation.create(pod("nvidia.com/gpu: 1"));

        assertThat(answer.annotation("gpusharing.io/request")).isEqualTo("cuda/nvidia.com/gpu=1");
        assertThat(answer.initContainers()).containsExactly("gpusharing-sidecar");
        assertThat(answer.patched().at("/spec/priorityClassName").asString())
                .isEqualTo("gpu-in-budget");
    }

    @Test
    void aPartOfAGpuIsCompletedWithAndWithoutABudget() {
        installation.grammars("vcuda", "nvidia", "hami");

        assertThat(installation.create(pod("nvidia.com/gpumem: 4096")).initContainers())
                .containsExactly("gpusharing-sidecar");
    }

    @Test
    void whileBudgetsAreAwayAWholeGpuIsCompletedInCaseThereIsOne() {
        installation.grammars("vcuda", "nvidia").budgetsAway();

        assertThat(installation.create(pod("nvidia.com/gpu: 1")).initContainers())
                .containsExactly("gpusharing-sidecar");
    }

    @Test
    void aPodThatIsOnlyCountedMayNotSetOurKeysEither() {
        installation.grammars("vcuda", "nvidia");
        ObjectNode pod = pod("nvidia.com/gpu: 1");
        pod.withObject("/metadata/annotations").put("gpusharing.io/sidecar", "cuda");

        assertThat(installation.create(pod).code()).isEqualTo(403);
    }

    private static ObjectNode pod(String limits) {
        return yaml(
                """
                metadata: {name: whole}
                spec:
                  containers:
                  - name: cuda
                    resources: {limits: {%s}}
                """
                        .formatted(limits));
    }

    @Test
    void aCountThatAnotherWebhookAddsAfterUsIsTakenOver() {
        installation.grammars("metagpu", "hami");
        var added =
                (ObjectNode)
                        installation
                                .create(
                                        yaml(
                                                """
                                                metadata: {name: part}
                                                spec:
                                                  containers:
                                                  - name: cuda
                                                    resources: {limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 4096}}
                                                """))
                                .patched();
        amounts(added).put("nvidia.com/gpu", "2");

        Answered second = installation.received(added);

        assertThat(second.annotation("gpusharing.io/request"))
                .isEqualTo("cuda/nvidia.com/gpu=2,cuda/nvidia.com/gpumem=4096");
    }

    @Test
    void whatOthersChangeInOurContainerDoesNotMakeASecondOne() {
        var changed = (ObjectNode) installation.create(halfAGpu()).patched();
        var ours = (ObjectNode) changed.at("/spec/initContainers/0");
        ours.put("image", "mirror.example.com:5000/gpusharing/sidecar:1@sha256:00")
                .put("imagePullPolicy", "Always");
        ours.withArray("env").addObject().put("name", "MESH").put("value", "on");
        ours.putObject("securityContext").put("runAsUser", 1234);

        Answered second = installation.received(changed);

        assertThat(second.initContainers()).containsExactly("gpusharing-sidecar");
        assertThat(second.operations()).isEmpty();
    }

    @Test
    void aPodWithAStampedContainerOfItsOwnGetsOursBesideIt() {
        var pod = (ObjectNode) installation.create(halfAGpu()).patched();
        ((ObjectNode) pod.at("/spec/initContainers/0")).putArray("env");

        Answered answer = installation.received(pod);

        assertThat(answer.initContainers())
                .containsExactly("gpusharing-sidecar-2", "gpusharing-sidecar");
        assertThat(answer.annotation("gpusharing.io/sidecar")).isEqualTo("gpusharing-sidecar-2");
    }

    private static ObjectNode amounts(ObjectNode pod) {
        JsonNode resources = pod.at("/spec/containers/0/resources");
        ObjectNode limits = (ObjectNode) resources.path("limits");
        ((ObjectNode) resources).set("requests", limits);
        return limits;
    }

    /** As kubectl debug --copy-to makes it, and a restored backup: with all that was written. */
    @Test
    void aCopyOfAnOldPodIsDecidedAnew() {
        var old =
                (ObjectNode)
                        installation
                                .budget("10", OnExhausted.LowerPriority)
                                .sharing("tencent.com/vcuda-core")
                                .create(halfAGpu())
                                .patched();
        old.withObject("/metadata/annotations")
                .put("gpusharing.io/placement", "7b0c;cuda=GPU-6d1f")
                .put("gpusharing.io/budget-exhausted-at", "2026-03-10T12:05:00Z")
                .put("tencent.com/predicate-gpu-idx-0", "1")
                .put("tencent.com/gpu-assigned", "true");
        installation.at(Installation.NOW.plusSeconds(600)).overBudget(OnExhausted.LowerPriority);

        Answered copy = installation.received(old);

        assertThat(copy.allowed()).as(copy.message()).isTrue();
        assertThat(copy.warnings()).anyMatch(it -> it.startsWith("a copy of an older pod"));
        assertThat(copy.annotation("gpusharing.io/standing")).isEqualTo("OverBudget");
        assertThat(copy.priorityClass()).isEqualTo("gpu-over-budget");
        assertThat(copy.annotation("gpusharing.io/standing-as-of"))
                .isEqualTo(Installation.NOW.plusSeconds(600).toString());
        assertThat(copy.patched().at("/metadata/annotations").propertyNames())
                .containsExactlyInAnyOrder(
                        "gpusharing.io/budget",
                        "gpusharing.io/request",
                        "gpusharing.io/sidecar",
                        "gpusharing.io/standing",
                        "gpusharing.io/standing-as-of",
                        "tencent.com/vcuda-core-limit");
    }

    @Test
    void aStampThatNobodyHasWrittenSoIsNoCopy() {
        for (String missing :
                List.of(
                        "gpusharing.io/standing",
                        "gpusharing.io/standing-as-of",
                        "gpusharing.io/request")) {
            var old = (ObjectNode) installation.create(halfAGpu()).patched();
            old.withObject("/metadata/annotations").put(missing, "made up");

            Answered answer = installation.at(Installation.NOW.plusSeconds(600)).received(old);
            installation.at(Installation.NOW);

            assertThat(answer.code()).as(missing).isEqualTo(403);
            assertThat(answer.message())
                    .contains(
                            "annotations[%s]: nobody but GPUSharing writes it".formatted(missing));
        }
    }

    @Test
    void withoutTheReportingCaPodsStartUnmeteredFromInsideInsteadOfNotAtAll() {
        Answered answer = installation.reportingCa(null).create(halfAGpu());

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.initContainers()).isEmpty();
        assertThat(answer.annotation("gpusharing.io/sidecar")).isEmpty();
    }

    @Test
    void aSiteMayDoWithoutTheContainer() {
        Answered answer = installation.sidecars(Installation.sidecar(Mode.None)).create(halfAGpu());

        assertThat(answer.initContainers()).isEmpty();
        assertThat(answer.annotation("gpusharing.io/standing")).isEqualTo("Unlimited");
    }

    @Test
    void aPodNearTheSizeLimitGetsNoContainerButIsStillStamped() {
        ObjectNode pod = halfAGpu();
        ((ObjectNode) pod.at("/spec/containers/0")).putArray("args").add("x".repeat(1_433_000));

        Answered answer = installation.create(pod);

        assertThat(answer.initContainers()).isEmpty();
        assertThat(answer.annotation("gpusharing.io/request")).isNotEmpty();
        assertThat(answer.warnings()).singleElement().asString().contains("too large");
    }

    @Test
    void annotationsThatOursMakeTooLongAreRefusedWithTheExcess() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/metadata/annotations").put("big", "ä".repeat(131_000));

        Answered answer = installation.create(pod);

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.audit("rules")).isEqualTo("ANNOTATIONS_TOO_LONG");
        assertThat(answer.message())
                .startsWith("metadata.annotations have 262003 bytes, and GPUSharing adds ");
        int by = Integer.parseInt(answer.message().replaceAll(".* ", ""));
        pod.withObject("/metadata/annotations").put("big", "a".repeat(262_000 - by));
        Answered shorter = installation.create(pod);
        assertThat(shorter.allowed()).isTrue();
        assertThat(bytes(shorter.patched().at("/metadata/annotations"))).isEqualTo(256 * 1024);
    }

    private static int bytes(JsonNode annotations) {
        return annotations
                .propertyStream()
                .mapToInt(it -> it.getKey().length() + it.getValue().asString().length())
                .sum();
    }

    @Test
    void theAuditLogSaysWhereNoBudgetIsKnown() {
        Answered answer = installation.create(halfAGpu());

        assertThat(answer.audit("standing")).isEqualTo("Unlimited");
        assertThat(answer.audit("budget")).isEqualTo("none known");
        assertThat(answer.warnings()).isEmpty();
    }

    @Test
    void theUserIsWarnedWhileBudgetsCannotBeRead() {
        assertThat(installation.budgetsAway().create(halfAGpu()).warnings())
                .containsExactly(
                        "no budget of namespace team-a is known, and budgets cannot be read for now");
        assertThat(
                        installation
                                .budget("10", OnExhausted.LowerPriority)
                                .budgetsAway()
                                .create(halfAGpu())
                                .warnings())
                .noneMatch(warning -> warning.startsWith("no budget"));
    }

    @Test
    void anAnswerRepeatsTheUid() {
        assertThat(installation.create(halfAGpu()).uid())
                .isEqualTo("7d1c4f6e-3f2b-4f43-9f1c-2f1b7a3f9a11");
    }

    private static ObjectNode withClass(ObjectNode pod, String name, int value) {
        pod.withObject("/spec")
                .put("priorityClassName", name)
                .put("priority", value)
                .put("preemptionPolicy", "PreemptLowerPriority");
        return pod;
    }

    private static ObjectNode manifest(Fixture fixture) {
        return (ObjectNode) JsonMapper.shared().valueToTree(fixture.manifest());
    }
}
