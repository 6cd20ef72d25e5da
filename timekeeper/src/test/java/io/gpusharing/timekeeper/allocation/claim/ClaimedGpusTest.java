package io.gpusharing.timekeeper.allocation.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.kubernetes.Claimed;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.grammar.NvidiaGrammar;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.allocation.claim.ClaimProperties.GpuDriver;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The objects are as a control plane of 1.36 wrote them; ClaimsIT asks one. */
class ClaimedGpusTest {

    private static final String UID = "5d2f6b3e-6a3e-4c8e-9d2b-0d2f5a1c7e11";
    private static final String MADE =
            "resourceClaimStatuses: [{name: gpu, resourceClaimName: made}]";
    private static final Claimed WHOLE = own(BoundShare.exact(GpuShare.whole(1)));
    private static final Claimed WHOLE_BY_ESTIMATE = byEstimate(1);
    private static final Claimed LATER = new Claimed(BoundShare.NONE, List.of(), false);

    private final UnreadableObjects unreadable = new UnreadableObjects(object -> {});
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private FakeApiServer api;
    private ClaimedGpus claims;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        claims =
                claims(
                        new GpuDriver(
                                "gpu.example.com",
                                List.of("gpu.example.com"),
                                List.of(),
                                "cores",
                                "memory"));
        slice("device-0");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void consumedCapacityCountsAndNotTheRequestedOne() {
        claim("made", part("gpu.example.com", "device-0", "{cores: '35', memory: 20Gi}"));

        assertThat(claims.of(pod(MADE))).isEqualTo(share(350_000, 250_000));
    }

    @Test
    void aSliceThatCannotBeReadHidesNoDeviceOfAnother() {
        api.answer(
                "/resourceslices",
                json(
                        """
                        metadata: {resourceVersion: '1'}
                        items:
                        - metadata: {name: odd}
                          spec: {driver: gpu.example.com, devices: [{name: device-0}]}
                        - metadata: {name: node-1}
                          spec:
                            driver: gpu.example.com
                            pool: {name: node-1, generation: 1, resourceSliceCount: 1}
                            devices: [{name: device-0, capacity: {cores: {value: '100'}, memory: {value: 80Gi}}}]
                        """));
        claim("made", part("gpu.example.com", "device-0", "{cores: '35', memory: 20Gi}"));

        assertThat(claims.of(pod(MADE))).isEqualTo(share(350_000, 250_000));
        assertThat(unreadable.present()).extracting(it -> it.name()).containsExactly("odd");
    }

    @Test
    void aDeviceWithoutConsumedCapacityIsHeldWhole() {
        claim("made", "{request: gpu, driver: gpu.example.com, pool: node-1, device: device-9}");

        assertThat(claims.of(pod(MADE))).isEqualTo(WHOLE);
    }

    @Test
    void allDevicesOfAllClaimsCount() {
        claim(
                "made",
                part("gpu.example.com", "device-0", "{cores: '35', memory: 20Gi}")
                        + ", "
                        + part("gpu.example.com", "device-0", "{cores: '15', memory: 20Gi}"));
        assertThat(claims.of(pod(MADE))).isEqualTo(share(500_000, 500_000));
    }

    @Test
    void aNamedClaimMayBeHeldByOtherPodsToo() {
        claim("made", part("gpu.example.com", "device-0", "{cores: '35', memory: 20Gi}"));
        claim("named", part("gpu.example.com", "device-0", "{cores: '50', memory: 8Gi}"));

        Claimed claimed =
                claims.of(
                        pod(
                                MADE,
                                "{name: other, resourceClaimName: named}, {name: again, resourceClaimName: named}"));

        assertThat(claimed.own()).isEqualTo(share(350_000, 250_000).own());
        assertThat(claimed.shared())
                .singleElement()
                .satisfies(it -> {
                    assertThat(it.claim()).isEqualTo("named");
                    assertThat(it.share()).isEqualTo(share(500_000, 100_000).own());
                });
    }

    @Test
    void devicesOfOtherDriversAndThoseWithAdminAccessDoNotCount() {
        claim(
                "made",
                part("card.example.com", "device-0", "{cores: '35', memory: 20Gi}")
                        + ", {request: look, driver: gpu.example.com, pool: node-1, device: device-0, adminAccess: true, consumedCapacity: {cores: '100', memory: 80Gi}}");

        assertThat(claims.of(pod(MADE))).isEqualTo(Claimed.NONE);
    }

    @Test
    void aPartThatADriverDoesNotCountEqualsTheOther() {
        claims = claims(new GpuDriver("gpu.example.com", List.of(), List.of(), null, "memory"));
        claim("made", part("gpu.example.com", "device-0", "{memory: 20Gi}"));

        assertThat(claims.of(pod(MADE))).isEqualTo(share(250_000, 250_000));
    }

    @Test
    void aDeviceWithNoCapacityThatMeansAGpuIsHeldWhole() {
        claims = claims(new GpuDriver("gpu.example.com", List.of(), List.of(), null, null));
        claim("made", part("gpu.example.com", "device-0", "{cores: '35'}"));

        assertThat(claims.of(pod(MADE))).isEqualTo(WHOLE);
    }

    @Test
    void anUnknownPartOfADeviceCountsAsTheWholeDevice() {
        claim("made", part("gpu.example.com", "device-7", "{cores: '35', memory: 20Gi}"));

        assertThat(claims.of(pod(MADE))).isEqualTo(WHOLE_BY_ESTIMATE);
    }

    @Test
    void aClaimReservedForAnotherPodIsNotThisOnes() {
        api.store(
                claimPath("made"),
                json(
                        """
                        spec: {devices: {requests: []}}
                        status:
                          reservedFor: [{resource: pods, name: other, uid: 00000000-0000-4000-8000-000000000000}]
                          allocation: {devices: {results: [{request: gpu, driver: gpu.example.com, pool: node-1, device: device-9}]}}
                        """));

        assertThat(claims.of(pod(MADE))).isEqualTo(LATER);
    }

    @Test
    void aClaimThatIsAllocatedLaterIsSeenThen() {
        api.store(claimPath("made"), json("spec: {devices: {requests: []}}"));
        assertThat(claims.of(pod(MADE))).isEqualTo(LATER);

        claim("made", "{request: gpu, driver: gpu.example.com, pool: node-1, device: device-9}");

        assertThat(claims.of(pod(MADE))).isEqualTo(WHOLE);
    }

    @Test
    void aClaimThatWasReadOnceCountsAfterItsDeletion() {
        claim("made", "{request: gpu, driver: gpu.example.com, pool: node-1, device: device-9}");
        claims.of(pod(MADE));

        api.store(claimPath("made"), "");

        assertThat(claims.of(pod(MADE))).isEqualTo(WHOLE);
    }

    @Test
    void aClaimThatWasDeletedBeforeItWasReadCountsByItsTemplate() {
        api.store(claimPath("made"), "");
        api.store(
                "/resourceclaimtemplates/template",
                json(
                        """
                        metadata: {creationTimestamp: '2026-03-02T10:00:00Z'}
                        spec:
                          spec:
                            devices:
                              requests:
                              - {name: gpu, exactly: {deviceClassName: gpu.example.com, count: 2}}
                              - {name: card, exactly: {deviceClassName: card.example.com}}
                              - {name: look, exactly: {deviceClassName: gpu.example.com, adminAccess: true}}
                              - {name: any, firstAvailable: [{name: a, deviceClassName: gpu.example.com}, {name: b, deviceClassName: card.example.com}]}
                        """));

        assertThat(claims.of(pod(MADE + RAN))).isEqualTo(byEstimate(3));
    }

    @Test
    void aClaimThatCannotBeResolvedIsReportedAndCountsAsAWholeGpu() {
        api.store(claimPath("made"), "");
        api.store("/resourceclaimtemplates/template", "");

        assertThat(claims.of(pod(MADE + RAN))).isEqualTo(WHOLE_BY_ESTIMATE);
        assertThat(unresolved()).isEqualTo(1);
    }

    @Test
    void aMissingPermissionForClaimsIsReportedOnceThePodRunsAndStopsNoOtherPod() {
        api.refuse("/resourceclaims/made", 403);

        assertThat(claims.of(pod(MADE))).isEqualTo(LATER);
        assertThat(claims.of(pod(MADE + RAN))).isEqualTo(WHOLE_BY_ESTIMATE);
        assertThat(unresolved()).isEqualTo(1);
    }

    @Test
    void aDriversConfigurationByATenantIsNotRead() {
        api.store(
                claimPath("made"),
                json(
                        """
                        spec:
                          devices:
                            requests: []
                            config: [{opaque: {driver: x.example.com, parameters: {apiVersion: a/v1, kind: Pod, metadata: x}}}]
                        status:
                          reservedFor: [{resource: pods, name: pod, uid: %s}]
                          devices: [{driver: x.example.com, data: {apiVersion: v1, kind: Pod, metadata: x}}]
                          allocation:
                            devices:
                              results: [{request: gpu, driver: gpu.example.com, pool: node-1, device: device-9}]
                              config: [{opaque: {driver: x.example.com, parameters: {apiVersion: v1, kind: Pod, spec: 1}}}]
                        """
                                .formatted(UID)));

        assertThat(claims.of(pod(MADE))).isEqualTo(WHOLE);
    }

    @Test
    void anUnreadableClaimStopsNoOtherPod() {
        api.store(claimPath("made"), "{\"spec\": 1}");

        assertThat(claims.of(pod(MADE + RAN))).isEqualTo(WHOLE_BY_ESTIMATE);
    }

    @Test
    void aClaimMayAskForNothing() {
        api.store(claimPath("made"), "");
        api.store(
                "/resourceclaimtemplates/template",
                json(
                        """
                        metadata: {creationTimestamp: '2026-03-02T10:00:00Z'}
                        spec: {spec: {devices: {requests: null}}}
                        """));

        assertThat(claims.of(pod(MADE + RAN))).isEqualTo(Claimed.NONE);
    }

    @Test
    void aTemplateThatCameAfterThePodIsNotWhatItsClaimWasMadeFrom() {
        api.store(claimPath("made"), "");
        api.store(
                "/resourceclaimtemplates/template",
                json(
                        """
                        metadata: {creationTimestamp: '2026-03-02T10:00:09Z'}
                        spec: {spec: {devices: {requests: [{name: card, exactly: {deviceClassName: card.example.com}}]}}}
                        """));

        assertThat(claims.of(pod(MADE + RAN))).isEqualTo(WHOLE_BY_ESTIMATE);
    }

    @Test
    void oneClaimThatIsNotThePodsYetLeavesAllOfItOpen() {
        claim("made", part("gpu.example.com", "device-0", "{cores: '5', memory: 4Gi}"));
        api.store(claimPath("named"), json("spec: {devices: {requests: []}}"));

        assertThat(claims.of(pod(MADE, "{name: other, resourceClaimName: named}")).complete())
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{cores: '-1', memory: '-1'}", "{cores: '0', memory: '0'}"})
    void consumingNothingOfADeviceIsHoldingAllOfIt(String consumed) {
        claim("made", part("gpu.example.com", "device-0", consumed));

        assertThat(claims.of(pod(MADE))).isEqualTo(WHOLE);
    }

    @Test
    void aClaimIsReadAgainAfterTheApiServerCouldNotAnswer() {
        api.refuse("/resourceclaims/made", 500);

        assertThatThrownBy(() -> claims.of(pod(MADE)))
                .isInstanceOf(KubernetesClientException.class);
    }

    @Test
    void whoConsumesMoreThanThereIsHoldsAllOfIt() {
        claim("made", part("gpu.example.com", "device-0", "{cores: '1e99', memory: 20Gi}"));

        assertThat(claims.of(pod(MADE))).isEqualTo(share(1_000_000, 250_000));
    }

    @Test
    void anExtendedResourceThatAGrammarReadsIsNotCountedTwice() {
        claim(
                "made",
                "{request: read, driver: gpu.example.com, pool: node-1, device: device-8}, {request: unread, driver: gpu.example.com, pool: node-1, device: device-9}");

        assertThat(
                        claims.of(
                                pod(
                                        """
                                        extendedResourceClaimStatus:
                                            resourceClaimName: made
                                            requestMappings:
                                            - {containerName: cuda, resourceName: nvidia.com/gpu, requestName: read}
                                            - {containerName: cuda, resourceName: example.com/gpu, requestName: unread}
                                        """)))
                .isEqualTo(WHOLE);
    }

    @Test
    void aRequestByClassCountsWithoutItsClaimInTheStatus() {
        Pod pod = pod("startTime: '2026-03-02T10:00:05Z'");
        pod.getSpec().setResourceClaims(List.of());
        pod.getSpec()
                .getContainers()
                .getFirst()
                .setResources(
                        new ResourceRequirementsBuilder()
                                .addToLimits(
                                        "deviceclass.resource.kubernetes.io/gpu.example.com",
                                        new Quantity("2"))
                                .addToLimits(
                                        "deviceclass.resource.kubernetes.io/card.example.com",
                                        new Quantity("4"))
                                .build());
        assertThat(claims.of(pod)).isEqualTo(LATER);

        pod.getStatus().setContainerStatuses(pod(RAN.strip()).getStatus().getContainerStatuses());

        assertThat(claims.of(pod)).isEqualTo(byEstimate(2));
    }

    @Test
    void aNativeSidecarsGpuIsHeldBesideThoseOfTheContainers() {
        Pod pod = pod(RAN.strip());
        pod.getSpec().setResourceClaims(List.of());
        pod.getSpec().getContainers().getFirst().setResources(gpus(2));
        pod.getSpec().setInitContainers(List.of(init("step", null, 3), init("log", "Always", 1)));
        assertThat(claims.of(pod)).as("each step runs alone").isEqualTo(byEstimate(3));

        pod.getSpec().setInitContainers(List.of(init("step", null, 3), init("log", "Always", 2)));
        pod.getMetadata().setUid(UUID.randomUUID().toString());

        assertThat(claims.of(pod)).isEqualTo(byEstimate(4));
    }

    private static Container init(String name, @Nullable String restartPolicy, int gpus) {
        return new ContainerBuilder()
                .withName(name)
                .withRestartPolicy(restartPolicy)
                .withResources(gpus(gpus))
                .build();
    }

    private static ResourceRequirements gpus(int count) {
        return new ResourceRequirementsBuilder()
                .addToLimits(
                        "deviceclass.resource.kubernetes.io/gpu.example.com",
                        new Quantity(Integer.toString(count)))
                .build();
    }

    @Test
    void aTemplateMayNeedNoClaim() {
        assertThat(claims.of(pod("resourceClaimStatuses: [{name: gpu}]"))).isEqualTo(Claimed.NONE);
    }

    @Test
    void withoutADriverNoClaimIsRead() {
        claims = claims();

        assertThat(claims.of(pod(MADE))).isEqualTo(Claimed.NONE);
        assertThat(api.requests).isEmpty();
    }

    private static final String RAN =
            "\n  startTime: '2026-03-02T10:00:05Z'\n  containerStatuses: [{name: cuda, state: {terminated: {exitCode: 0}}}]";

    private double unresolved() {
        return registry.get("gpusharing.claims.unresolved").counter().count();
    }

    private ClaimedGpus claims(GpuDriver... drivers) {
        return new ClaimedGpus(
                api.client(),
                new RequestGrammars(List.of(new NvidiaGrammar())),
                new ClaimProperties(List.of(drivers)),
                unreadable,
                registry);
    }

    private static Claimed share(long compute, long memory) {
        return own(BoundShare.exact(new GpuShare(compute, memory)));
    }

    private static Claimed byEstimate(long gpus) {
        return own(new BoundShare(GpuShare.whole(gpus), false));
    }

    private static Claimed own(BoundShare share) {
        return new Claimed(share, List.of(), true);
    }

    private void claim(String name, String results) {
        api.store(
                claimPath(name),
                json(
                        """
                        metadata: {uid: some}
                        spec: {devices: {requests: []}}
                        status:
                          reservedFor: [{resource: pods, name: pod, uid: %s}]
                          allocation: {devices: {results: [%s]}}
                        """
                                .formatted(UID, results)));
    }

    private static String claimPath(String name) {
        return "/apis/resource.k8s.io/v1/namespaces/team-a/resourceclaims/" + name;
    }

    private static String part(String driver, String device, String consumed) {
        return "{request: gpu, driver: %s, pool: node-1, device: %s, shareID: a, consumedCapacity: %s}"
                .formatted(driver, device, consumed);
    }

    private void slice(String device) {
        api.answer(
                "/resourceslices",
                json(
                        """
                        metadata: {resourceVersion: '1'}
                        items:
                        - metadata: {name: node-1}
                          spec:
                            driver: gpu.example.com
                            nodeName: node-1
                            pool: {name: node-1, generation: 1, resourceSliceCount: 1}
                            devices:
                            - {name: %s, allowMultipleAllocations: true, capacity: {cores: {value: '100'}, memory: {value: 80Gi}}}
                        """
                                .formatted(device)));
    }

    private static Pod pod(String status, String... more) {
        return Serialization.unmarshal(
                """
                apiVersion: v1
                kind: Pod
                metadata: {name: pod, namespace: team-a, uid: %s}
                spec:
                  nodeName: node-1
                  resourceClaims: [{name: gpu, resourceClaimTemplateName: template}, %s]
                  containers: [{name: cuda, image: cuda}]
                status:
                  %s
                """
                        .formatted(UID, String.join(", ", more), status),
                Pod.class);
    }

    private static String json(String yaml) {
        return Serialization.asJson(Serialization.unmarshal(yaml, java.util.Map.class));
    }
}
