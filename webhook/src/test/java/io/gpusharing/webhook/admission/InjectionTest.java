package io.gpusharing.webhook.admission;

import static io.gpusharing.webhook.admission.Manifests.halfAGpu;
import static io.gpusharing.webhook.admission.Manifests.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.Quantity;
import io.gpusharing.webhook.injection.SidecarProperties;
import io.gpusharing.webhook.injection.SidecarProperties.Mode;
import io.gpusharing.webhook.standing.ContainerLimits;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The container that is added, in pods of every kind. */
class InjectionTest {

    private final Installation installation = new Installation();

    @Test
    void anImageThatNobodyCanPullHoldsNoPodUp() {
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
    void theUsersVolumesStayAndOursComeBehindThem() {
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
    void itIsRaisedToTheLeastThatALimitRangeAllows() {
        installation.limits(
                new ContainerLimits(amounts("100m", "128Mi"), Map.of(), Map.of(), Map.of()));

        JsonNode resources =
                installation.create(halfAGpu()).patched().at("/spec/initContainers/0/resources");

        assertThat(resources.at("/requests/memory").asString()).isEqualTo("128Mi");
        assertThat(resources.at("/limits/memory").asString()).isEqualTo("128Mi");
    }

    @Test
    void itIsLoweredToTheMostThatALimitRangeAllows() {
        installation.limits(
                new ContainerLimits(Map.of(), amounts("50m", "60Mi"), Map.of(), Map.of()));

        JsonNode resources =
                installation.create(halfAGpu()).patched().at("/spec/initContainers/0/resources");

        assertThat(resources.at("/limits/cpu").asString()).isEqualTo("50m");
        assertThat(resources.at("/requests/memory").asString()).isEqualTo("48Mi");
        assertThat(resources.at("/limits/memory").asString()).isEqualTo("60Mi");
    }

    @Test
    void whereTheNamespaceAllowsTooLittleItIsLeftOutAndTheUserIsTold() {
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
