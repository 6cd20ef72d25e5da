package io.gpusharing.e2e.admission;

import static io.gpusharing.e2e.admission.AdmissionCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.testing.WildPod;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What is promised of the injected container: a pod that is admitted without it is admitted with
 * it, and runs as it would have run.
 */
@OnAdmissionCluster
class InjectedSidecarIT {

    private static final String PLAIN = "sidecars";
    private static final String RESTRICTED = "restricted";
    private static final String QUOTA = "with-quota";
    private static final String FITTED = "with-limits";
    private static final String TIGHT = "with-tight-limits";
    private static final String POD_MAX = "with-pod-limits";
    private static final String RATIO = "with-ratio";
    private static final String GIVEN = "with-given-gpus";
    private static final String UNMETERED = "unmetered";

    private final AdmissionCluster cluster;
    private final Api api;

    InjectedSidecarIT(AdmissionCluster cluster) {
        this.cluster = cluster;
        this.api = cluster.api();
    }

    @BeforeAll
    static void start(AdmissionCluster cluster) {
        cluster.withWebhook();
        Api api = cluster.api();
        cluster.namespace(PLAIN);
        cluster.namespace(RESTRICTED, "pod-security.kubernetes.io/enforce: restricted");
        cluster.namespace(UNMETERED, "gpusharing.io/inject: 'false'");
        cluster.namespace(QUOTA);
        api.create(
                        QUOTA,
                        """
                        apiVersion: v1
                        kind: ResourceQuota
                        metadata: {name: compute}
                        spec: {hard: {requests.cpu: 2, requests.memory: 4Gi, limits.cpu: 4, limits.memory: 4Gi}}
                        """)
                .orFail();
        limits(
                api,
                cluster.namespace(FITTED),
                """
                {type: Container, min: {cpu: 50m, memory: 128Mi}, max: {cpu: 90m, memory: 1Gi},
                 default: {cpu: 80m, memory: 512Mi}, defaultRequest: {cpu: 60m, memory: 256Mi}}
                """);
        limits(api, cluster.namespace(TIGHT), "{type: Container, max: {memory: 16Mi}}");
        limits(api, cluster.namespace(POD_MAX), "{type: Pod, max: {cpu: 1, memory: 1Gi}}");
        limits(
                api,
                cluster.namespace(GIVEN),
                "{type: Container, default: {tencent.com/vcuda-core: 25, tencent.com/vcuda-memory: 8}}");
        limits(
                api,
                cluster.namespace(RATIO),
                "{type: Container, maxLimitRequestRatio: {cpu: 1, memory: 1}, default: {cpu: 1, memory: 1Gi}}");
        // A node that the pods of other tests cannot fill.
        api.create(
                        "",
                        """
                        apiVersion: v1
                        kind: Node
                        metadata:
                          name: jobs-only
                          annotations: {kwok.x-k8s.io/node: fake}
                          labels: {jobs-only: 'yes'}
                        spec: {taints: [{key: jobs-only, effect: NoSchedule}]}
                        status:
                          capacity: {cpu: 4, memory: 8Gi, pods: 10, tencent.com/vcuda-core: 100, tencent.com/vcuda-memory: 60}
                          allocatable: {cpu: 4, memory: 8Gi, pods: 10, tencent.com/vcuda-core: 100, tencent.com/vcuda-memory: 60}
                        """)
                .orFail();
        eventually("the webhook has read the last LimitRange")
                .until(() -> api.dryRun(RATIO, Pods.halfAGpu("probe")).accepted());
    }

    private static void limits(Api api, String namespace, String item) {
        api.create(
                        namespace,
                        "{apiVersion: v1, kind: LimitRange, metadata: {name: limits}, spec: {limits: [%s]}}"
                                .formatted(item))
                .orFail();
    }

    @Test
    void aNamespaceThatEnforcesRestrictedLetsItIn() {
        assertThat(api.create(RESTRICTED, Pods.halfAGpu("loose")).message())
                .as("the namespace does refuse what is not restricted")
                .contains("violates PodSecurity \"restricted:latest\"")
                .doesNotContain("gpusharing-sidecar");

        Api.Answer answer = api.create(RESTRICTED, wild("restricted-namespace"));

        assertThat(Pods.sidecar(answer.orFail()).isMissingNode()).isFalse();
        assertThat(answer.warnings()).isEmpty();
    }

    @Test
    void itGetsNoTokenOfThePodsServiceAccountWhichTheOthersGet() {
        ObjectNode pod = api.create(PLAIN, Pods.halfAGpu("with-token")).orFail();

        String token = "\"name\":\"kube-api-access-";
        assertThat(pod.at("/spec/containers/0/volumeMounts").toString()).contains(token);
        assertThat(Pods.sidecar(pod).path("volumeMounts").toString())
                .contains("/var/run/secrets/kubernetes.io/serviceaccount")
                .doesNotContain(token);
    }

    @Test
    void inAPodThatRunsAsRootItRunsAsAnotherUser() {
        ObjectNode pod = api.create(PLAIN, wild("stable-diffusion-webui")).orFail();

        assertThat(pod.at("/spec/securityContext/runAsUser").asInt()).isZero();
        JsonNode security = Pods.sidecar(pod).path("securityContext");
        assertThat(security.path("runAsUser").asInt()).isPositive();
        assertThat(security.path("runAsNonRoot").asBoolean()).isTrue();
    }

    @Test
    void whereThePodNamesNoUserItNamesNoneEither() {
        ObjectNode pod = api.dryRun(PLAIN, Pods.halfAGpu("nobody")).orFail();

        assertThat(Pods.sidecar(pod).path("securityContext").has("runAsUser")).isFalse();
    }

    @Test
    void aQuotaOnCpuAndMemoryCountsItAndLetsItIn() {
        ObjectNode pod = resources("counted", "{cpu: 100m, memory: 64Mi}");

        assertThat(Pods.sidecar(api.create(QUOTA, pod).orFail()).isMissingNode()).isFalse();

        eventually("the quota is counted")
                .untilAsserted(() -> {
                    JsonNode used =
                            api.get("/api/v1/namespaces/" + QUOTA + "/resourcequotas/compute")
                                    .orFail()
                                    .at("/status/used");
                    assertThat(used.path("limits.cpu").asText()).isEqualTo("200m");
                    assertThat(used.path("limits.memory").asText()).isEqualTo("128Mi");
                });
    }

    @Test
    void aLimitRangeFindsItAsLargeAsItDemands() {
        Api.Answer answer = api.create(FITTED, Pods.halfAGpu("fitted"));

        JsonNode resources = Pods.sidecar(answer.orFail()).path("resources");
        assertThat(resources.at("/requests/cpu").asText()).isEqualTo("50m");
        assertThat(resources.at("/limits/cpu").asText()).isEqualTo("90m");
        assertThat(resources.at("/requests/memory").asText()).isEqualTo("128Mi");
        assertThat(answer.warnings()).isEmpty();
    }

    @Test
    void whereALimitRangeAllowsItTooLittleThePodGoesWithoutItAndTheUserIsWarned() {
        Api.Answer answer = api.create(TIGHT, resources("tight", "{cpu: 10m, memory: 16Mi}"));

        ObjectNode pod = answer.orFail();
        assertThat(pod.at("/spec/initContainers").isMissingNode()).isTrue();
        assertThat(pod.at("/metadata/labels/gpusharing.io~1metered").asText()).isEqualTo("true");
        assertThat(answer.warnings())
                .containsExactly(
                        "no metering container is added: a LimitRange allows containers only 16Mi of memory");
    }

    @Test
    void aPodThatFillsItsLimitRangeIsNotPushedOverIt() {
        ObjectNode full = api.create(POD_MAX, resources("full", "{cpu: 1, memory: 1Gi}")).orFail();
        ObjectNode half =
                api.create(POD_MAX, resources("half", "{cpu: 500m, memory: 512Mi}")).orFail();

        assertThat(full.at("/spec/initContainers").isMissingNode()).isTrue();
        assertThat(Pods.sidecar(half).isMissingNode()).isFalse();
    }

    @Test
    void whereLimitsMayNotExceedRequestsItsDoNot() {
        ObjectNode pod = api.create(RATIO, Pods.halfAGpu("even")).orFail();

        JsonNode resources = Pods.sidecar(pod).path("resources");
        assertThat(resources.path("requests")).isEqualTo(resources.path("limits"));
    }

    @Test
    void anAdministratorMayHaveANamespaceOrAPodDoWithoutIt() {
        ObjectNode labelled = Pods.halfAGpu("labelled");
        labelled.withObject("/metadata/labels").put("gpusharing.io/inject", "false");

        assertThat(Pods.sidecar(api.create(PLAIN, labelled).orFail()).isMissingNode()).isTrue();
        ObjectNode pod = api.create(UNMETERED, Pods.halfAGpu("half")).orFail();
        assertThat(Pods.sidecar(pod).isMissingNode()).isTrue();
        assertThat(Pods.annotation(pod, "gpusharing.io/request")).isNotEmpty();
    }

    /** LimitRanger runs once more after the webhook, and gives to whatever names no amount. */
    @Test
    void aLimitRangeThatGivesEveryContainerAGpuGivesItNone() {
        ObjectNode pod = api.create(GIVEN, Pods.halfAGpu("half")).orFail();

        assertThat(Pods.names(pod.at("/spec/initContainers")))
                .containsExactly("gpusharing-sidecar");
        assertThat(Pods.annotation(pod, "gpusharing.io/request"))
                .isEqualTo("cuda/tencent.com/vcuda-core=50,cuda/tencent.com/vcuda-memory=15");
        for (String amounts : List.of("requests", "limits")) {
            assertThat(
                            Pods.sidecar(pod)
                                    .path("resources")
                                    .path(amounts)
                                    .path("tencent.com/vcuda-core")
                                    .asText())
                    .isEqualTo("0");
        }
    }

    @Test
    void aPodWithResourcesOfItsOwnPaysForItToo() {
        ObjectNode pod = api.create(PLAIN, wild("pod-level-resources")).orFail();

        assertThat(Pods.sidecar(pod).path("resources")).isEmpty();
        assertThat(pod.at("/spec/resources/limits/cpu").asText()).isEqualTo("4");
    }

    @Test
    void aGuaranteedPodStaysGuaranteed() {
        ObjectNode pod =
                api.create(PLAIN, resources("guaranteed", "{cpu: 2, memory: 1Gi}")).orFail();

        assertThat(Pods.sidecar(pod).isMissingNode()).isFalse();
        assertThat(pod.at("/status/qosClass").asText()).isEqualTo("Guaranteed");
    }

    @Test
    void aJobWithItCompletes() {
        api.create(
                        PLAIN,
                        """
                        apiVersion: batch/v1
                        kind: Job
                        metadata: {name: brief}
                        spec:
                          template:
                            spec:
                              restartPolicy: Never
                              nodeSelector: {jobs-only: 'yes'}
                              tolerations: [{key: jobs-only, operator: Exists}]
                              containers:
                              - {name: cuda, image: cuda, resources: {limits: {tencent.com/vcuda-core: 10, tencent.com/vcuda-memory: 1}}}
                        """)
                .orFail();

        eventually("the Job completes")
                .until(() ->
                        api.get("/apis/batch/v1/namespaces/" + PLAIN + "/jobs/brief")
                                        .orFail()
                                        .at("/status/succeeded")
                                        .asInt()
                                == 1);
        JsonNode pod =
                api.get("/api/v1/namespaces/" + PLAIN + "/pods?labelSelector=job-name=brief")
                        .orFail()
                        .at("/items/0");
        assertThat(Pods.sidecar(pod).path("restartPolicy").asText()).isEqualTo("Always");
        assertThat(pod.at("/status/phase").asText()).isEqualTo("Succeeded");
    }

    @Test
    void aPodThatWouldNotFitIntoEtcdWithItGoesWithoutIt() {
        Api.Answer large = api.create(PLAIN, padded("large", 1_360));
        Api.Answer tooLarge = api.create(PLAIN, padded("too-large", 1_420));

        assertThat(Pods.sidecar(large.orFail()).isMissingNode()).isFalse();
        assertThat(tooLarge.orFail().at("/spec/initContainers").isMissingNode()).isTrue();
        assertThat(tooLarge.warnings())
                .containsExactly("no metering container is added: the pod is too large");
    }

    @Test
    void aMirrorPodIsNotChanged() {
        Api node = api.as("system:node:gpu-node-1", "system:nodes", "system:authenticated");
        ObjectNode pod = Pods.halfAGpu("mirror");
        pod.withObject("/metadata/annotations").put("kubernetes.io/config.mirror", "abc");
        pod.withObject("/spec").put("nodeName", "gpu-node-1");
        // A node may create no other pods than those that it owns.
        pod.withArray("/metadata/ownerReferences")
                .addObject()
                .put("apiVersion", "v1")
                .put("kind", "Node")
                .put("name", "gpu-node-1")
                .put(
                        "uid",
                        api.get("/api/v1/nodes/gpu-node-1").orFail().at("/metadata/uid").asText())
                .put("controller", true);

        ObjectNode stored = node.create(PLAIN, pod).orFail();

        assertThat(Pods.withoutOurs(stored)).isEqualTo(stored);
    }

    @Test
    void aMirrorPodAnnotationByATenantHasNoEffect() {
        ObjectNode pod = Pods.halfAGpu("mirror-too");
        pod.withObject("/metadata/annotations").put("kubernetes.io/config.mirror", "abc");
        pod.withObject("/spec").put("nodeName", "gpu-node-1");

        Api.Answer answer = cluster.api().create(PLAIN, pod);

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message()).contains("spec.nodeName is gpu-node-1");
    }

    @Test
    void aWindowsPodIsJudgedButGetsNoContainer() {
        ObjectNode pod = Pods.halfAGpu("windows");
        pod.withObject("/spec/os").put("name", "windows");

        ObjectNode stored = api.create(PLAIN, pod).orFail();

        assertThat(stored.at("/spec/initContainers").isMissingNode()).isTrue();
        assertThat(Pods.annotation(stored, "gpusharing.io/request")).isNotEmpty();
    }

    private static ObjectNode wild(String origin) {
        return WildPod.all().stream()
                .filter(shape -> shape.origin().equals(origin))
                .map(shape -> Pods.of(shape.manifest()))
                .findFirst()
                .orElseThrow();
    }

    /** Half a GPU, and this much of cpu and memory as limit and as request. */
    private static ObjectNode resources(String name, String amounts) {
        ObjectNode pod = Pods.halfAGpu(name);
        ObjectNode limits = (ObjectNode) pod.at("/spec/containers/0/resources/limits");
        limits.setAll(Api.yaml(amounts));
        return pod;
    }

    private static ObjectNode padded(String name, int kibibytes) {
        ObjectNode pod = Pods.halfAGpu(name);
        ArrayNode arguments = ((ObjectNode) pod.at("/spec/containers/0")).putArray("args");
        for (int i = 0; i < kibibytes; i++) {
            arguments.add("x".repeat(1024 - 3));
        }
        return pod;
    }
}
