package io.gpusharing.webhook.admission;

import static io.gpusharing.webhook.admission.Manifests.halfAGpu;
import static io.gpusharing.webhook.admission.Manifests.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.Quantity;
import io.gpusharing.webhook.cluster.ContainerLimits;
import io.gpusharing.webhook.cluster.Quota;
import io.gpusharing.webhook.injection.SidecarProperties;
import io.gpusharing.webhook.injection.SidecarProperties.Mode;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The container that is added, in pods of every kind. */
class InjectionTest {

    private static final String CORE = "tencent.com/vcuda-core";
    private static final String MEMORY = "tencent.com/vcuda-memory";

    private final Installation installation = new Installation();

    @Test
    void anImageThatCannotBePulledBlocksNoPod() {
        Answered answer =
                new Installation().unpullable("gpusharing/sidecar:1").create(Manifests.halfAGpu());

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.initContainers()).isEmpty();
        assertThat(answer.annotation("gpusharing.io/sidecar")).isEmpty();
        assertThat(answer.warnings())
                .containsExactly(
                        "no metering container is added: its image cannot be pulled for now");
        assertThat(answer.annotation("gpusharing.io/request")).isNotEmpty();
    }

    @Test
    void whereItCanBePulledItIsInjectedThoughOthersCannotPullIt() {
        Installation others = new Installation().unpullable("gpusharing/sidecar:1", "team-b");
        Installation these = new Installation().unpullable("gpusharing/sidecar:1", "team-a");

        assertThat(others.create(halfAGpu()).initContainers())
                .containsExactly("gpusharing-sidecar");
        assertThat(these.create(halfAGpu()).initContainers()).isEmpty();
    }

    @Test
    void aNewerImageIsInjectedAtOnce() {
        Answered answer =
                new Installation().unpullable("gpusharing/sidecar:0").create(Manifests.halfAGpu());

        assertThat(answer.initContainers()).containsExactly("gpusharing-sidecar");
    }

    @Test
    void itComesFirstSoThatItSeesTheUsersInitContainersToo() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec").putArray("initContainers").addObject().put("name", "prepare");

        assertThat(installation.create(pod).initContainers())
                .containsExactly("gpusharing-sidecar", "prepare");
    }

    @Test
    void theUsersVolumesAreKeptAndOursFollowThem() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec").putArray("volumes").addObject().put("name", "data");

        assertThat(
                        installation
                                .create(pod)
                                .patched()
                                .at("/spec/volumes")
                                .valueStream()
                                .map(volume -> volume.path("name").asString()))
                .containsExactly("data", "gpusharing-token", "gpusharing-state");
    }

    @Test
    void aTokenBoundToThePodAndItsAudienceIsMounted() {
        JsonNode volume = installation.create(halfAGpu()).patched().at("/spec/volumes/0");

        assertThat(volume.at("/projected/sources/0/serviceAccountToken/audience").asString())
                .isEqualTo("gpusharing-timekeeper");
        assertThat(volume.at("/projected/sources/0/serviceAccountToken/path").asString())
                .isEqualTo("token");
    }

    /** Programs that empty nodes leave those alone on whose disk a pod keeps something. */
    @Test
    void nothingIsKeptOnTheDiskOfTheNode() {
        JsonNode volume = installation.create(halfAGpu()).patched().at("/spec/volumes/1");

        assertThat(volume.path("name").asString()).isEqualTo("gpusharing-state");
        assertThat(volume.at("/emptyDir/medium").asString()).isEqualTo("Memory");
    }

    @Test
    void namesThatTheUserTookAreLeftToTheUser() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec").putArray("volumes").addObject().put("name", "gpusharing-token");

        Answered answer = installation.create(pod);

        assertThat(answer.initContainers()).containsExactly("gpusharing-sidecar-2");
        assertThat(
                        answer.patched()
                                .at("/spec/volumes")
                                .valueStream()
                                .map(volume -> volume.path("name").asString()))
                .containsExactly("gpusharing-token", "gpusharing-token-2", "gpusharing-state-2");
    }

    @Test
    void aGuaranteedPodStaysGuaranteed() {
        ObjectNode pod =
                yaml(
                        """
                        metadata: {name: guaranteed}
                        spec:
                          containers:
                          - name: cuda
                            resources: {limits: {cpu: 2, memory: 4Gi, tencent.com/vcuda-core: 100}}
                        """);

        JsonNode resources =
                installation.create(pod).patched().at("/spec/initContainers/0/resources");

        assertThat(resources.path("requests")).isEqualTo(resources.path("limits"));
    }

    @Test
    void aBurstablePodIsAskedForLittle() {
        JsonNode resources =
                installation.create(halfAGpu()).patched().at("/spec/initContainers/0/resources");

        assertThat(resources.at("/requests/cpu").asString()).isEqualTo("5m");
        assertThat(resources.at("/limits/cpu").asString()).isEqualTo("100m");
    }

    @Test
    void aPodWithResourcesOfItsOwnPaysForTheContainerToo() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec/resources/limits").put("cpu", "4");

        assertThat(installation.create(pod).patched().at("/spec/initContainers/0").has("resources"))
                .isFalse();
    }

    @Test
    void itNamesAUserOnlyWhereThePodSaysRoot() {
        ObjectNode root = halfAGpu();
        root.withObject("/spec/securityContext").put("runAsUser", 0);
        ObjectNode other = halfAGpu();
        other.withObject("/spec/securityContext").put("runAsUser", 1000);

        assertThat(user(root).asLong()).isEqualTo(65532);
        assertThat(user(other).isMissingNode()).isTrue();
        assertThat(user(halfAGpu()).isMissingNode()).isTrue();
    }

    @Test
    void itIsRaisedToTheMinimumOfALimitRange() {
        installation.limits(
                new ContainerLimits(amounts("100m", "128Mi"), Map.of(), Map.of(), Map.of()));

        JsonNode resources =
                installation.create(halfAGpu()).patched().at("/spec/initContainers/0/resources");

        assertThat(resources.at("/requests/memory").asString()).isEqualTo("128Mi");
        assertThat(resources.at("/limits/memory").asString()).isEqualTo("128Mi");
    }

    @Test
    void itIsLoweredToTheMaximumOfALimitRange() {
        installation.limits(
                new ContainerLimits(Map.of(), amounts("50m", "60Mi"), Map.of(), Map.of()));

        JsonNode resources =
                installation.create(halfAGpu()).patched().at("/spec/initContainers/0/resources");

        assertThat(resources.at("/limits/cpu").asString()).isEqualTo("50m");
        assertThat(resources.at("/requests/memory").asString()).isEqualTo("48Mi");
        assertThat(resources.at("/limits/memory").asString()).isEqualTo("60Mi");
    }

    @Test
    void whereTheNamespaceAllowsTooLittleItIsLeftOutAndTheUserIsWarned() {
        installation.limits(
                new ContainerLimits(Map.of(), amounts("50m", "16Mi"), Map.of(), Map.of()));

        Answered answer = installation.create(halfAGpu());

        assertThat(answer.initContainers()).isEmpty();
        assertThat(answer.annotation("gpusharing.io/sidecar")).isEmpty();
        assertThat(answer.warnings())
                .containsExactly(
                        "no metering container is added: a LimitRange allows containers only 16Mi of memory");
    }

    @Test
    void aPodThatFillsItsLimitRangeIsNotPushedOverIt() {
        installation.limits(new ContainerLimits(Map.of(), Map.of(), amounts("1", "1Gi"), Map.of()));
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec/containers/0/resources/limits").put("memory", "1Gi");

        assertThat(installation.create(pod).initContainers()).isEmpty();
    }

    @Test
    void whereLimitsMayNotExceedRequestsTheyAreEqual() {
        installation.limits(new ContainerLimits(Map.of(), Map.of(), Map.of(), amounts("1", "1")));

        JsonNode resources =
                installation.create(halfAGpu()).patched().at("/spec/initContainers/0/resources");

        assertThat(resources.path("requests")).isEqualTo(resources.path("limits"));
    }

    @Test
    void theRemainderOfAPodLimitRangeIsUsed() {
        installation.limits(
                new ContainerLimits(Map.of(), Map.of(), amounts("2", "1080Mi"), Map.of()));
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec/containers/0/resources/limits").put("cpu", "1").put("memory", "1Gi");
        pod.withObject("/spec")
                .putArray("initContainers")
                .addObject()
                .put("name", "prepare")
                .putObject("resources")
                .putObject("limits")
                .put("cpu", "1")
                .put("memory", "1Gi");

        JsonNode resources =
                installation.create(pod).patched().at("/spec/initContainers/0/resources");

        assertThat(resources.at("/limits/memory").asString()).isEqualTo("58720256");
        assertThat(resources.path("requests")).isEqualTo(resources.path("limits"));
    }

    @Test
    void aQuotaThatThePodFillsIsNoReasonForARefusal() {
        ObjectNode pod = withMemory("1Gi");

        Answered answer =
                installation
                        .quotas(quota("requests.memory", "1Gi"), quota("pods", "7"))
                        .create(pod);

        assertThat(answer.initContainers()).isEmpty();
        assertThat(answer.annotation("gpusharing.io/sidecar")).isEmpty();
        assertThat(answer.warnings())
                .containsExactly(
                        "no metering container is added: quota team leaves it too little of requests.memory");
    }

    @Test
    void itIsCutToWhatAQuotaLeaves() {
        JsonNode resources =
                installation
                        .quotas(quota("limits.memory", "1080Mi"), quota("limits.cpu", "1050m"))
                        .create(withMemory("1Gi"))
                        .patched()
                        .at("/spec/initContainers/0/resources");

        assertThat(resources.at("/limits/memory").asString()).isEqualTo("58720256");
        assertThat(resources.at("/limits/cpu").asString()).isEqualTo("50m");
        assertThat(resources.at("/requests/memory").asString()).isEqualTo("48Mi");
    }

    @Test
    void whereAQuotaCannotBeReadNothingIsKnownToFit() {
        Answered answer = installation.unread("quota odd", "quota too").create(halfAGpu());

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.initContainers()).isEmpty();
        assertThat(answer.warnings())
                .containsExactly("no metering container is added: quota odd cannot be read");
    }

    @Test
    void amountsLargerThanAnyNumberAreFittedLikeOthers() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec/containers/0/resources/limits").put("cpu", "9e999");
        pod.withObject("/spec/containers/0/resources/requests").put("cpu", "1m");

        Answered answer =
                installation
                        .limits(
                                new ContainerLimits(
                                        Map.of(), amounts("9e999", "9e999"), Map.of(), Map.of()))
                        .quotas(quota("limits.cpu", "9e999"), quota("requests.cpu", "1E-400"))
                        .create(pod);

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.annotation("gpusharing.io/request")).isNotEmpty();
        assertThat(answer.warnings())
                .containsExactly(
                        "no metering container is added: quota team leaves it too little of limits.cpu");
    }

    @Test
    void whereThePodAloneIsTooMuchForAQuotaItIsNotOurs() {
        Answered answer =
                installation.quotas(quota("requests.memory", "512Mi")).create(withMemory("1Gi"));

        assertThat(answer.initContainers()).containsExactly("gpusharing-sidecar");
    }

    @Test
    void aRuntimesOverheadCountsInAQuota() {
        ObjectNode pod = withMemory("1Gi");
        pod.withObject("/spec/overhead").put("memory", "100Mi");

        assertThat(
                        installation
                                .quotas(quota("requests.memory", "1144Mi"))
                                .create(pod)
                                .initContainers())
                .isEmpty();
    }

    @Test
    void aQuotaThatDoesNotSelectThePodIsIgnored() {
        var terminating =
                new Quota(
                        "batch",
                        Map.of("requests.memory", BigDecimal.ZERO),
                        List.of(new Quota.Scope("Terminating", "Exists", Set.of())));
        var urgent =
                new Quota(
                        "urgent",
                        Map.of("requests.memory", new BigDecimal(1 << 30)),
                        List.of(new Quota.Scope("PriorityClass", "In", Set.of("urgent"))));

        assertThat(
                        installation
                                .quotas(terminating, urgent)
                                .create(withMemory("1Gi"))
                                .initContainers())
                .containsExactly("gpusharing-sidecar");
    }

    /** Without a request of its own the pod is BestEffort, and ours would change that. */
    @Test
    void aQuotaThatWouldCountThePodOnlyBecauseOfOursIsNoReasonForARefusal() {
        var notBestEffort =
                new Quota(
                        "burst",
                        Map.of("limits.cpu", BigDecimal.TEN),
                        List.of(new Quota.Scope("NotBestEffort", "Exists", Set.of())));

        Answered answer = installation.quotas(notBestEffort).create(halfAGpu());

        assertThat(answer.initContainers()).isEmpty();
        assertThat(answer.warnings())
                .containsExactly(
                        "no metering container is added: quota burst would count the pod because of it");
    }

    @Test
    void aChangedQuotaAddsNoSecondContainerAtTheNextCall() {
        Answered first =
                installation.quotas(quota("limits.memory", "1080Mi")).create(withMemory("1Gi"));

        Answered second = installation.quotas().received(first.patched());

        assertThat(second.initContainers()).containsExactly("gpusharing-sidecar");
    }

    /** Where a LimitRange says nothing else, an explicit zero keeps LimitRanger from giving any. */
    @Test
    void aLimitRangeThatGivesEveryContainerAGpuGivesOursNone() {
        JsonNode resources =
                installation
                        .limits(giving("cpu", CORE, MEMORY))
                        .create(halfAGpu())
                        .patched()
                        .at("/spec/initContainers/0/resources");

        for (String amounts : List.of("requests", "limits")) {
            assertThat(resources.path(amounts).path(CORE).asString()).isEqualTo("0");
            assertThat(resources.path(amounts).path(MEMORY).asString()).isEqualTo("0");
        }
        assertThat(resources.at("/requests/cpu").asString()).isEqualTo("5m");
    }

    @Test
    void inAPodWithResourcesOfItsOwnItGetsNoneEither() {
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec/resources/limits").put("cpu", "4");

        assertThat(
                        installation
                                .limits(giving(CORE))
                                .create(pod)
                                .patched()
                                .at("/spec/initContainers/0/resources")
                                .toString())
                .isEqualTo(
                        "{\"requests\":{\"%s\":\"0\"},\"limits\":{\"%s\":\"0\"}}"
                                .formatted(CORE, CORE));
    }

    @Test
    void whereEveryContainerMustHaveAGpuItIsLeftOut() {
        Map<String, Quantity> one = Map.of(CORE, Quantity.of(1));

        for (ContainerLimits demanding :
                List.of(
                        new ContainerLimits(one, Map.of(), Map.of(), Map.of(), Set.of(CORE)),
                        new ContainerLimits(Map.of(), Map.of(), Map.of(), one))) {
            Answered answer = new Installation().limits(demanding).create(halfAGpu());

            assertThat(answer.initContainers()).isEmpty();
            assertThat(answer.warnings())
                    .containsExactly(
                            "no metering container is added: a LimitRange demands tencent.com/vcuda-core of every container");
        }
    }

    /** The LimitRange is so new that nobody knew it when the container was added. */
    @ParameterizedTest
    @ValueSource(strings = {CORE, MEMORY, CORE + " " + MEMORY})
    void gpusThatALimitRangeHasGivenItMeanwhileAreTakenBack(String given) {
        ObjectNode pod = (ObjectNode) installation.create(halfAGpu()).patched();
        String request = pod.at("/metadata/annotations/gpusharing.io~1request").asString();
        give(pod.at("/spec/initContainers/0"), given.split(" ", -1));

        Answered second = installation.received(pod);

        assertThat(second.allowed()).as(second.message()).isTrue();
        assertThat(second.initContainers()).containsExactly("gpusharing-sidecar");
        assertThat(second.annotation("gpusharing.io/request")).isEqualTo(request);
        for (String resource : given.split(" ", -1)) {
            for (String amounts : List.of("requests", "limits")) {
                assertThat(
                                second.patched()
                                        .at("/spec/initContainers/0/resources/" + amounts)
                                        .path(resource)
                                        .asString())
                        .isEqualTo("0");
            }
        }
        assertThat(second.patched().at("/spec/containers/0/resources/limits").path(CORE).asString())
                .isEqualTo("50");
    }

    @Test
    void aGpuThatOnlyWhatLooksLikeOursAsksForIsJudgedAsTheTenants() {
        ObjectNode pod = (ObjectNode) installation.create(halfAGpu()).patched();
        ((ObjectNode) pod.at("/spec/containers/0")).remove("resources");
        give(pod.at("/spec/initContainers/0"), CORE, MEMORY);

        Answered answer = installation.received(pod);

        assertThat(answer.annotation("gpusharing.io/request"))
                .isEqualTo(
                        "gpusharing-sidecar/tencent.com/vcuda-core=25,gpusharing-sidecar/tencent.com/vcuda-memory=25");
        assertThat(answer.initContainers())
                .containsExactly("gpusharing-sidecar-2", "gpusharing-sidecar");
    }

    /** It is only counted, and nothing of it is judged: so nothing may be left out of it. */
    @Test
    void besideAWholeGpuThatNobodyPaysForItGetsNothingUnseen() {
        installation.grammars("vcuda", "nvidia");
        ObjectNode pod = (ObjectNode) installation.create(halfAGpu()).patched();
        ObjectNode resources = (ObjectNode) pod.at("/spec/containers/0/resources");
        resources.putObject("limits").put("nvidia.com/gpu", "1");
        resources.putObject("requests").put("nvidia.com/gpu", "1");
        give(pod.at("/spec/initContainers/0"), CORE, MEMORY);

        Answered answer = installation.received(pod);

        assertThat(
                        answer.patched()
                                .at("/spec/initContainers/0/resources/limits")
                                .path(CORE)
                                .asString())
                .isEqualTo("0");
    }

    /** What {@code kubectl debug --copy-to} makes: the same spec, without the annotations. */
    @Test
    void aCopyOfAPodWithAnOlderContainerGetsOursInItsPlace() {
        ObjectNode copy = (ObjectNode) installation.create(halfAGpu()).patched();
        copy.remove("metadata");
        copy.withObject("/metadata").put("name", "copy");
        ObjectNode older = (ObjectNode) copy.at("/spec/initContainers/0");
        older.put("image", "gpusharing/sidecar:0");
        ((ObjectNode) older.at("/env/0")).put("value", "an older authority");
        ((ObjectNode) copy.at("/spec/volumes/0/projected/sources/0/serviceAccountToken"))
                .put("expirationSeconds", 600);
        give(older, CORE, MEMORY);

        Answered answer = installation.received(copy);

        assertThat(answer.initContainers()).containsExactly("gpusharing-sidecar");
        assertThat(answer.patched().at("/spec/initContainers/0"))
                .isEqualTo(installation.create(halfAGpu()).patched().at("/spec/initContainers/0"));
        assertThat(answer.patched().at("/spec/volumes"))
                .isEqualTo(installation.create(halfAGpu()).patched().at("/spec/volumes"));
        assertThat(answer.annotation("gpusharing.io/request"))
                .isEqualTo("cuda/tencent.com/vcuda-core=50,cuda/tencent.com/vcuda-memory=15");
    }

    /** Those who were hit by two of them may copy or restore such a pod. */
    @Test
    void aCopyOfAPodWithTwoOfThemKeepsOne() {
        ObjectNode copy = (ObjectNode) installation.create(halfAGpu()).patched();
        ObjectNode first = (ObjectNode) copy.at("/spec/initContainers/0");
        ObjectNode second = first.deepCopy().put("name", "gpusharing-sidecar-2");
        ArrayNode volumes = (ArrayNode) copy.at("/spec/volumes");
        for (String name : List.of("gpusharing-token", "gpusharing-state")) {
            second.path("volumeMounts").forEach(mount -> rename(mount, name, name + "-2"));
            ObjectNode volume = (ObjectNode) volumes.get(volumes.size() - 2).deepCopy();
            rename(volume, name, name + "-2");
            volumes.add(volume);
        }
        ((ArrayNode) copy.at("/spec/initContainers")).insert(0, second);
        give(first, CORE, MEMORY);

        Answered answer = installation.received(copy);

        assertThat(answer.initContainers()).hasSize(1);
        assertThat(answer.annotation("gpusharing.io/sidecar"))
                .isEqualTo(answer.initContainers().getFirst());
    }

    @Test
    void whereASiteInjectsNoneACopyLosesTheOneThatItBringsAlong() {
        ObjectNode copy = (ObjectNode) installation.create(halfAGpu()).patched();

        Answered answer = installation.sidecars(Installation.sidecar(Mode.None)).received(copy);

        assertThat(answer.initContainers()).isEmpty();
        assertThat(answer.annotation("gpusharing.io/sidecar")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "os: {name: windows}",
                "nodeSelector: {kubernetes.io/os: windows}",
                "nodeSelector: {beta.kubernetes.io/os: windows}",
                "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}]}}}",
                "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: gpu, operator: Exists}, {operator: NotIn, values: [linux], key: kubernetes.io/os}]}]}}}"
            })
    void aPodThatLandsOnWindowsGetsNone(String spec) {
        Answered answer = installation.create(with(spec));

        assertThat(answer.initContainers()).isEmpty();
        assertThat(answer.annotation("gpusharing.io/request")).isNotEmpty();
        assertThat(answer.warnings()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "os: {name: linux}",
                "nodeSelector: {kubernetes.io/os: linux, disk: ssd}",
                "nodeSelector: {example.com/os: windows}",
                "affinity: {podAffinity: {}, nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}}]}}",
                "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows, linux]}]}]}}}",
                "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}, {matchFields: [{key: metadata.name, operator: In, values: [gpu-1]}]}]}}}",
                "affinity: null, nodeSelector: null, os: null"
            })
    void aPodThatMayLandOnLinuxGetsIt(String spec) {
        assertThat(installation.create(with(spec)).initContainers())
                .containsExactly("gpusharing-sidecar");
    }

    @Test
    void anAdministratorMayHaveANamespaceDoWithoutIt() {
        Answered without = installation.unmetered("team-a").create(halfAGpu());
        Answered other = installation.unmetered("team-b").create(halfAGpu());

        assertThat(without.initContainers()).isEmpty();
        assertThat(without.annotation("gpusharing.io/sidecar")).isEmpty();
        assertThat(without.annotation("gpusharing.io/request")).isNotEmpty();
        assertThat(without.warnings()).isEmpty();
        assertThat(other.initContainers()).containsExactly("gpusharing-sidecar");
    }

    /** Who is no administrator and writes the label is refused by the policy that comes later. */
    @Test
    void anAdministratorMayMakeAPodThatDoesWithoutIt() {
        ObjectNode without = halfAGpu();
        without.withObject("/metadata/labels").put("gpusharing.io/inject", "false");
        ObjectNode with = halfAGpu();
        with.withObject("/metadata/labels").put("gpusharing.io/inject", "true");

        assertThat(installation.create(without).initContainers()).isEmpty();
        assertThat(installation.create(with).initContainers()).hasSize(1);
    }

    private static ObjectNode with(String spec) {
        ObjectNode pod = halfAGpu();
        yaml("{%s}".formatted(spec))
                .propertyStream()
                .forEach(field -> pod.withObject("/spec").set(field.getKey(), field.getValue()));
        return pod;
    }

    private static void rename(JsonNode named, String from, String to) {
        if (named.path("name").asString().equals(from)) {
            ((ObjectNode) named).put("name", to);
        }
    }

    private static void give(JsonNode container, String... resources) {
        for (String amounts : List.of("limits", "requests")) {
            for (String resource : resources) {
                ((ObjectNode) container).withObject("/resources/" + amounts).put(resource, "25");
            }
        }
    }

    private static ContainerLimits giving(String... resources) {
        return new ContainerLimits(Map.of(), Map.of(), Map.of(), Map.of(), Set.of(resources));
    }

    private static ObjectNode withMemory(String memory) {
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec/containers/0/resources/limits").put("cpu", "1").put("memory", memory);
        pod.withObject("/spec/containers/0/resources/requests")
                .put("cpu", "500m")
                .put("memory", memory);
        return pod;
    }

    private static Quota quota(String resource, String left) {
        return new Quota("team", Map.of(resource, Quantity.parse(left).value()), List.of());
    }

    @Test
    void credentialsForItsImageAreAddedToTheUsers() {
        SidecarProperties plain = Installation.sidecar(Mode.PerPod);
        installation.sidecars(
                new SidecarProperties(
                        plain.mode(),
                        plain.image(),
                        plain.pullPolicy(),
                        List.of("registry", "mine"),
                        plain.timekeeperUrl(),
                        plain.runAsUser(),
                        plain.requests(),
                        plain.limits(),
                        Map.of("NVIDIA_VISIBLE_DEVICES", "all")));
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec").putArray("imagePullSecrets").addObject().put("name", "mine");

        JsonNode patched = installation.create(pod).patched();

        assertThat(
                        patched.at("/spec/imagePullSecrets")
                                .valueStream()
                                .map(secret -> secret.path("name").asString()))
                .containsExactly("mine", "registry");
        assertThat(patched.at("/spec/initContainers/0/env").toString())
                .contains("NVIDIA_VISIBLE_DEVICES");
    }

    private JsonNode user(ObjectNode pod) {
        return installation
                .create(pod)
                .patched()
                .at("/spec/initContainers/0/securityContext/runAsUser");
    }

    private static Map<String, Quantity> amounts(String cpu, String memory) {
        return Map.of("cpu", Quantity.parse(cpu), "memory", Quantity.parse(memory));
    }
}
