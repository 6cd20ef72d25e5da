package io.gpusharing.e2e.story;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Chart;
import io.gpusharing.e2e.installation.Installation;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * GPUs by resource claims, which a scheduler and a driver allocate without us. The test writes the
 * driver's slices; the real scheduler and controllers allocate, reserve and bind.
 */
class ClaimsIT {

    private static final String TEAM = "team-with-claims";

    private static final String DRIVER =
            "gpuDrivers[0].name=gpu.example.com,"
                    + "gpuDrivers[0].deviceClasses={part.example.com,whole.example.com},"
                    + "gpuDrivers[0].extendedResources={example.com/whole-gpu},"
                    + "gpuDrivers[0].computeCapacity=cores,gpuDrivers[0].memoryCapacity=memory";

    private static TestCluster cluster;
    private static Installation installation;
    private static Ledger ledger;
    private static Api api;

    @BeforeAll
    static void start() {
        cluster = TestCluster.start(Repository.root().resolve(".run/claims"));
        installation =
                Installation.on(
                        cluster,
                        Map.of(
                                "GPUSHARING_SWEEP_EVERY",
                                "1s",
                                "GPUSHARING_CLAIMS_DRIVERS_0_NAME",
                                "gpu.example.com",
                                "GPUSHARING_CLAIMS_DRIVERS_0_DEVICECLASSES",
                                "part.example.com,whole.example.com",
                                "GPUSHARING_CLAIMS_DRIVERS_0_EXTENDEDRESOURCES",
                                "example.com/whole-gpu",
                                "GPUSHARING_CLAIMS_DRIVERS_0_COMPUTECAPACITY",
                                "cores",
                                "GPUSHARING_CLAIMS_DRIVERS_0_MEMORYCAPACITY",
                                "memory"));
        api = new Api(cluster.client());
        String webhook =
                api.get(
                                "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/gpusharing-webhook")
                        .orFail()
                        .at("/webhooks/0/clientConfig/url")
                        .asText()
                        .replace("/mutate", "");
        Chart.set(cluster, DRIVER, "rbac-timekeeper.yaml");
        Chart.set(cluster, DRIVER, "admission-policy.yaml");
        Chart.set(cluster, DRIVER, "claims-policy.yaml");
        Chart.set(cluster, DRIVER + ",webhook.url=" + webhook, "webhook-configurations.yaml");
        ledger = Ledger.of(cluster, installation);
        cluster.createNamespace(TEAM);
        budget();
        devices();
        await("the webhook is asked about pods with claims")
                .atMost(Duration.ofSeconds(60))
                .until(() -> isLabelled(api.dryRun(TEAM, pod("first", "any")).orFail()));
    }

    private static void budget() {
        api.create(
                        "",
                        "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: team}, spec: {namespaces: [%s], gpuMinutes: '10000'}}"
                                .formatted(TEAM))
                .orFail();
        api.create(
                        TEAM,
                        """
                        apiVersion: rbac.authorization.k8s.io/v1
                        kind: RoleBinding
                        metadata: {name: everything}
                        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
                        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: tenant}]
                        """)
                .orFail();
    }

    private static void devices() {
        String amounts = "{cpu: 64, memory: 256Gi, pods: 110}";
        api.create("", "{apiVersion: v1, kind: Node, metadata: {name: with-devices}}").orFail();
        api.merge(
                        "/api/v1/nodes/with-devices/status",
                        "{status: {capacity: %s, allocatable: %1$s}}".formatted(amounts))
                .orFail();
        String shared =
                """
                allowMultipleAllocations: true
                    attributes: {kind: {string: part}}
                    capacity:
                      cores: {value: '100', requestPolicy: {default: '100', validRange: {min: '5', step: '5', max: '100'}}}
                      memory: {value: 80Gi, requestPolicy: {default: 80Gi, validRange: {min: 1Gi, step: 1Gi, max: 80Gi}}}
                """;
        String whole =
                IntStream.rangeClosed(1, 8)
                        .mapToObj(
                                "- {name: gpu-%d, attributes: {kind: {string: whole}}}"::formatted)
                        .collect(Collectors.joining("\n  "));
        api.create(
                        "",
                        """
                        apiVersion: resource.k8s.io/v1
                        kind: ResourceSlice
                        metadata: {name: with-devices}
                        spec:
                          driver: gpu.example.com
                          nodeName: with-devices
                          pool: {name: with-devices, generation: 1, resourceSliceCount: 1}
                          devices:
                          - name: gpu-0
                            %s
                          %s
                        """
                                .formatted(shared, whole))
                .orFail();
        for (String kind : new String[] {"part", "whole"}) {
            api.create(
                            "",
                            """
                            apiVersion: resource.k8s.io/v1
                            kind: DeviceClass
                            metadata: {name: %s.example.com}
                            spec:
                              selectors:
                              - cel: {expression: "device.driver == 'gpu.example.com' && device.attributes['gpu.example.com'].kind == '%1$s'"}
                              extendedResourceName: example.com/%1$s-gpu
                            """
                                    .formatted(kind))
                    .orFail();
        }
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    /** 33 of 100 cores are 35, since the driver allocates them in steps of 5. */
    @Test
    void aPartIsChargedAsTheDriverRoundedIt() {
        template(
                "part",
                "deviceClassName: part.example.com, capacity: {requests: {cores: '33', memory: 20Gi}}");

        JsonNode pod = api.create(TEAM, pod("part", "part")).orFail();

        assertThat(isLabelled(pod)).isTrue();
        assertThat(pod.at("/spec/initContainers").isMissingNode()).isTrue();
        Ledger.AllocationInterval charge = charge("part");
        assertThat(charge.rate()).isEqualTo(350_000);
        assertThat(charge.since()).isEqualTo(boundAt("part"));
    }

    @Test
    void aDeviceOfItsOwnIsAWholeGpu() {
        template("whole", "deviceClassName: whole.example.com");

        api.create(TEAM, pod("whole", "whole")).orFail();

        assertThat(charge("whole").rate()).isEqualTo(1_000_000);
    }

    @Test
    void aClaimThatTwoPodsNameIsChargedOnce() {
        api.create(
                        TEAM,
                        """
                        apiVersion: resource.k8s.io/v1
                        kind: ResourceClaim
                        metadata: {name: of-both}
                        spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: whole.example.com}}]}}
                        """)
                .orFail();
        for (String name : List.of("one", "other")) {
            String naming =
                    pod(name, "none")
                            .replace(
                                    "resourceClaimTemplateName: none",
                                    "resourceClaimName: of-both");
            api.create(TEAM, naming).orFail();
            assertThat(charge(name).rate()).isZero();
        }
        assertThat(charge("of-both").rate()).isEqualTo(1_000_000);
        assertThat(charge("of-both").since()).isEqualTo(boundAt("one"));

        ends("one");
        await("the end of the one is known")
                .atMost(Duration.ofSeconds(60))
                .until(() -> !charge("one").until().isEmpty());
        assertThat(charge("of-both").until()).isEmpty();

        Instant end = ends("other");
        await("nobody holds it any more")
                .atMost(Duration.ofSeconds(60))
                .until(() -> !charge("of-both").until().isEmpty());
        assertThat(charge("of-both").ended()).isEqualTo(end);
    }

    private static Instant ends(String pod) {
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        api.merge(
                        Api.pod(TEAM, pod) + "/status",
                        """
                        status:
                          phase: Succeeded
                          containerStatuses:
                          - {name: cuda, image: cuda, imageID: '', ready: false, restartCount: 0,
                             state: {terminated: {exitCode: 0, startedAt: '%s', finishedAt: '%1$s'}}}
                        """
                                .formatted(now))
                .orFail();
        return now;
    }

    @Test
    void aPodThatSlippedByTheWebhookIsFoundAndChargedFromItsBinding() {
        template("slipped", "deviceClassName: whole.example.com");
        installation.webhook().program().kill();
        try {
            JsonNode pod = api.create(TEAM, pod("slipped-by", "slipped")).orFail();

            assertThat(isLabelled(pod)).isFalse();
            Ledger.AllocationInterval charge = charge("slipped-by");
            assertThat(charge.rate()).isEqualTo(1_000_000);
            assertThat(charge.since()).isEqualTo(boundAt("slipped-by"));
        } finally {
            installation.webhook().restart();
            installation.webhook().awaitReady();
            installation.awaitAdmission();
        }
    }

    /** With the claim's finalizer gone the scheduler would hand the device to somebody else. */
    @Test
    void aRunningPodWhoseClaimIsTakenAwayIsStillCharged() {
        template("taken", "deviceClassName: whole.example.com");
        api.create(TEAM, pod("taken", "taken")).orFail();
        assertThat(charge("taken").rate()).isEqualTo(1_000_000);
        String claim =
                "/apis/resource.k8s.io/v1/namespaces/%s/resourceclaims/%s"
                        .formatted(
                                TEAM,
                                api.get(Api.pod(TEAM, "taken"))
                                        .orFail()
                                        .at("/status/resourceClaimStatuses/0/resourceClaimName")
                                        .asText());
        Api tenant = api.as("tenant", "system:authenticated");
        String status = "{status: {allocation: null, reservedFor: null}}";

        assertThat(tenant.merge(claim, "{metadata: {finalizers: null}}").message())
                .contains("leave the finalizers of a claim that is in use");
        // From 1.36 on the API server itself requires a right for that, which no role of a
        // namespace gives.
        assertThat(tenant.merge(claim + "/status", status).message())
                .containsAnyOf(
                        "leave allocation and reservedFor of a claim to the scheduler",
                        "requires resource=\"resourceclaims/binding\"");

        api.merge(claim + "/status", status).orFail();
        installation.timekeeper().program().kill();
        installation.timekeeper().restart();
        installation.timekeeper().awaitReady();
        await("the timekeeper leads again")
                .atMost(Duration.ofSeconds(60))
                .until(installation.timekeeper()::leads);
        assertThat(api.get(claim).orFail().at("/status/allocation").isMissingNode()).isTrue();
        assertThat(charge("taken").rate()).isEqualTo(1_000_000);
        assertThat(charge("taken").until()).isEmpty();
    }

    /** From Kubernetes 1.36 on the scheduler does so by default. */
    @ParameterizedTest(name = "{1}")
    @CsvSource({
        "by-class, deviceclass.resource.kubernetes.io/whole.example.com",
        "by-name, example.com/whole-gpu"
    })
    void aPodForWhichTheSchedulerMakesTheClaimIsLabelledAndCharged(String name, String resource) {
        assertThat(isLabelled(api.create(TEAM, asking(name, resource)).orFail())).isTrue();

        JsonNode made =
                await("the scheduler made a claim for " + name)
                        .atMost(Duration.ofSeconds(60))
                        .until(
                                () ->
                                        api.get(Api.pod(TEAM, name))
                                                .orFail()
                                                .at("/status/extendedResourceClaimStatus"),
                                JsonNode::isObject);
        Api tenant = api.as("tenant", "system:authenticated");
        assertThat(
                        tenant.merge(
                                        Api.pod(TEAM, name) + "/status",
                                        "{status: {extendedResourceClaimStatus: null}}")
                                .message())
                .contains("says by which claims it is charged");
        assertThat(api.get(Api.pod(TEAM, name)).orFail().at("/status/extendedResourceClaimStatus"))
                .isEqualTo(made);
        assertThat(charge(name).rate()).isEqualTo(1_000_000);
        assertThat(charge(name).since()).isEqualTo(boundAt(name));
    }

    /** Kubernetes takes a claim that says it was made for the pod for the one of its template. */
    @Test
    void aClaimThatATenantPutsInThePlaceOfItsTemplatesIsChargedByItsAllocation() {
        Api tenant = api.as("tenant", "system:authenticated");
        String uid =
                tenant.create(TEAM, pod("adopts", "comes-later"))
                        .orFail()
                        .at("/metadata/uid")
                        .asText();
        tenant.create(
                        TEAM,
                        """
                        apiVersion: resource.k8s.io/v1
                        kind: ResourceClaim
                        metadata:
                          name: put-in-place
                          annotations: {resource.kubernetes.io/pod-claim-name: gpu}
                          ownerReferences: [{apiVersion: v1, kind: Pod, name: adopts, uid: %s, controller: true}]
                        spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: whole.example.com}}]}}
                        """
                                .formatted(uid))
                .orFail();
        template(
                "comes-later",
                "deviceClassName: part.example.com, capacity: {requests: {cores: '5', memory: 1Gi}}");

        assertThat(charge("adopts").rate()).isEqualTo(1_000_000);
        assertThat(
                        api.get(Api.pod(TEAM, "adopts"))
                                .orFail()
                                .at("/status/resourceClaimStatuses/0/resourceClaimName")
                                .asText())
                .isEqualTo("put-in-place");
    }

    @Test
    void nobodyHidesTheClaimsOfAPod() {
        template("hidden", "deviceClassName: whole.example.com");
        api.create(TEAM, pod("hidden", "hidden")).orFail();
        charge("hidden");

        assertThat(
                        api.as("tenant", "system:authenticated")
                                .merge(
                                        Api.pod(TEAM, "hidden") + "/status",
                                        "{status: {resourceClaimStatuses: null}}")
                                .message())
                .contains("says by which claims it is charged");
    }

    private static String asking(String name, String resource) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s}
        spec:
          tolerations: [{operator: Exists}]
          containers:
          - name: cuda
            image: cuda
            resources: {limits: {%s: 1}}
        """
                .formatted(name, resource);
    }

    private static void template(String name, String request) {
        api.create(
                        TEAM,
                        """
                        apiVersion: resource.k8s.io/v1
                        kind: ResourceClaimTemplate
                        metadata: {name: %s}
                        spec: {spec: {devices: {requests: [{name: gpu, exactly: {%s}}]}}}
                        """
                                .formatted(name, request))
                .orFail();
    }

    private static String pod(String name, String template) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s}
        spec:
          tolerations: [{operator: Exists}]
          resourceClaims: [{name: gpu, resourceClaimTemplateName: %s}]
          containers:
          - name: cuda
            image: cuda
            resources: {claims: [{name: gpu}]}
        """
                .formatted(name, template);
    }

    private static boolean isLabelled(JsonNode pod) {
        return pod.at("/metadata/labels/gpusharing.io~1metered").asText().equals("true");
    }

    private static Ledger.AllocationInterval charge(String pod) {
        return await(pod + " is charged")
                .atMost(Duration.ofSeconds(60))
                // PostgreSQL goes for a moment after a timekeeper that was killed.
                .ignoreExceptions()
                .until(() -> ledger.allocations(TEAM).get(pod), it -> it != null);
    }

    private static Instant boundAt(String pod) {
        JsonNode scheduled = Api.condition(api.get(Api.pod(TEAM, pod)).orFail(), "PodScheduled");
        return Instant.parse(scheduled.path("lastTransitionTime").asText());
    }
}
