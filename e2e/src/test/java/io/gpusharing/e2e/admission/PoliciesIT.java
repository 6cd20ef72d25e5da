package io.gpusharing.e2e.admission;

import static io.gpusharing.e2e.admission.AdmissionCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Policies that hold at all times: the pods were completed by the webhook, and then it was stopped.
 * Nothing here needs a process of ours.
 */
@OnAdmissionCluster
@Order(OnAdmissionCluster.LAST + 1)
class PoliciesIT {

    private static final String TEAM = "team";
    private static final String SYSTEM = "gpusharing-system";
    private static final String CONTROLLERS = "system:serviceaccount:kube-system:";

    private final AdmissionCluster cluster;
    private final Api tenant;

    PoliciesIT(AdmissionCluster cluster) {
        this.cluster = cluster;
        this.tenant = cluster.tenant();
    }

    @BeforeAll
    static void start(AdmissionCluster cluster) {
        cluster.withWebhook();
        cluster.tenantNamespace(TEAM);
        for (String name :
                List.of(
                        "watched",
                        "finalized",
                        "owned",
                        "reported",
                        "bound",
                        "ending",
                        "leaving")) {
            ObjectNode pod = Pods.halfAGpu(name);
            // Only these tests decide where and when it runs.
            pod.withObject("/spec").put("schedulerName", "nobody");
            cluster.tenant().create(TEAM, pod).orFail();
        }
        cluster.withoutWebhook();
    }

    @Test
    void aPodWithoutAGpuNeedsNoWebhook() {
        tenant.create(TEAM, Pods.withoutGpu("cpu")).orFail();
    }

    @Test
    void aPodWithAGpuWaitsForIt() {
        Api.Answer answer = tenant.create(TEAM, Pods.halfAGpu("gpu"));

        assertThat(answer.code()).isEqualTo(500);
        assertThat(answer.message()).contains("failed calling webhook \"pods.gpusharing.io\"");
    }

    @Test
    void aWorkloadIsCreatedUnseen() {
        Workload.all("unseen", Workload.ILLEGAL)
                .forEach(workload -> cluster.api().create(TEAM, workload.manifest()).orFail());
    }

    /**
     * The template was not validated, and the controller that creates its pods is no administrator.
     */
    @Test
    void aControllerMayNotWriteOurKeysIntoItsPods() {
        cluster.api()
                .create(
                        TEAM,
                        """
                        apiVersion: apps/v1
                        kind: ReplicaSet
                        metadata: {name: kept}
                        spec:
                          selector: {matchLabels: {app: kept}}
                          template:
                            metadata: {labels: {app: kept}, annotations: {gpusharing.io/do-not-reclaim: 'true'}}
                            spec: {containers: [{name: c, image: c}]}
                        """)
                .orFail();

        String events =
                "/api/v1/namespaces/%s/events?fieldSelector=reason=FailedCreate,involvedObject.name=kept"
                        .formatted(TEAM);
        String refusal =
                eventually("an Event on the ReplicaSet")
                        .until(
                                () -> cluster.api().get(events).orFail().at("/items/0/message"),
                                message -> !message.isMissingNode())
                        .asText();
        assertThat(refusal).contains("leave gpusharing.io/do-not-reclaim out of the pod");
    }

    @Test
    void aPodWithoutAGpuMayNotClaimToBeMetered() {
        ObjectNode pod = Pods.withoutGpu("forged");
        pod.withObject("/metadata/labels").put("gpusharing.io/metered", "true");

        Api.Answer answer = tenant.create(TEAM, pod);

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message()).contains("leave gpusharing.io/metered out of the pod");
    }

    /** The webhook leaves the meter out before anybody asks who wrote the label. */
    @Test
    void aTenantMayNotDoWithoutTheMeter() {
        ObjectNode pod = Pods.withoutGpu("unmetered");
        pod.withObject("/metadata/labels").put("gpusharing.io/inject", "false");

        Api.Answer answer = tenant.create(TEAM, pod);

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message()).contains("leave gpusharing.io/inject out of the pod");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gpusharing.io/standing",
                "gpusharing.io/standing-as-of",
                "gpusharing.io/request",
                "gpusharing.io/sidecar",
                "gpusharing.io/budget",
                "gpusharing.io/do-not-reclaim"
            })
    void aTenantMayNotWriteOurAnnotations(String key) {
        Api.Answer answer =
                tenant.merge(watched(), "{metadata: {annotations: {%s: 'true'}}}".formatted(key));

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message()).contains("leave " + key + " as it is");
    }

    @Test
    void aTenantMayNotRemoveOurAnnotations() {
        Api.Answer answer =
                tenant.merge(watched(), "{metadata: {annotations: {gpusharing.io/request: null}}}");

        assertThat(answer.message()).contains("leave gpusharing.io/request as it is");
    }

    @Test
    void aTenantMayNotRemoveTheMeteredLabel() {
        Api.Answer answer =
                tenant.merge(watched(), "{metadata: {labels: {gpusharing.io/metered: null}}}");

        assertThat(answer.message()).contains("leave gpusharing.io/metered as it is");
    }

    @Test
    void aTenantMayNotReplaceTheMetersImage() {
        Api.Answer answer =
                tenant.patch(
                        watched(),
                        "{spec: {initContainers: [{name: gpusharing-sidecar, image: mine}]}}");

        assertThat(answer.message())
                .contains("leave the image of container gpusharing-sidecar as it is");
    }

    @Test
    void aTenantMayNotReplaceThePodWithoutOurKeys() {
        ObjectNode stored = tenant.get(watched()).orFail();

        Api.Answer answer = tenant.replace(watched(), withoutOurKeys(stored));

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message()).contains("gpusharing.io/request");
    }

    @Test
    void aTenantMayReplaceThePodWithAddedKeysOfItsOwn() {
        ObjectNode stored = tenant.get(watched()).orFail();
        stored.withObject("/metadata/labels").put("team", "a");

        tenant.replace(watched(), stored).orFail();
    }

    @Test
    void aTenantMayDebugItsOwnContainer() {
        debug("{name: looks, image: busybox, targetContainerName: cuda}").orFail();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{name: d, image: busybox, targetContainerName: gpusharing-sidecar}",
                "{name: d, image: busybox, volumeMounts: [{name: gpusharing-token, mountPath: /t}]}",
                "{name: d, image: busybox, volumeMounts: [{name: gpusharing-state, mountPath: /t}]}"
            })
    void aTenantMayNotDebugTheMeter(String container) {
        Api.Answer answer = debug(container);

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message()).contains("a debug container may neither target");
    }

    @Test
    void visibleDevicesInADebugContainerAreWarnedOf() {
        Api.Answer answer =
                debug(
                        "{name: sees, image: cuda, env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]}");

        answer.orFail();
        assertThat(answer.warnings())
                .singleElement()
                .asString()
                .contains("container sees: NVIDIA_VISIBLE_DEVICES is set by the device plugin");
    }

    @Test
    void aPodThatBypassesTheDevicePluginIsWarned() {
        ObjectNode pod = Pods.withoutGpu("tricky");
        pod.withObject("/metadata/annotations").put("cdi.k8s.io/mine", "nvidia.com/gpu=all");

        Api.Answer answer = tenant.create(TEAM, pod);

        answer.orFail();
        assertThat(answer.warnings())
                .singleElement()
                .asString()
                .contains("annotation cdi.k8s.io/mine is written by device plugins");
    }

    /** The device plugin writes this ConfigMap with its first GpuNode. */
    @Test
    void whatIsWarnedOfIsRefusedOnceGpusAreShared() {
        ObjectNode pod = Pods.withoutGpu("shared");
        pod.withObject("/metadata/annotations").put("cdi.k8s.io/mine", "nvidia.com/gpu=all");
        tenant.create(TEAM, pod).orFail();
        String annotated = Api.pod(TEAM, "shared");
        cluster.api()
                .create(
                        SYSTEM,
                        "{apiVersion: v1, kind: ConfigMap, metadata: {name: gpusharing-shared}}")
                .orFail();
        try {
            Api.Answer refusal =
                    eventually("a refusal")
                            .until(() -> tenant.dryRun(TEAM, pod), answer -> answer.code() == 403);
            assertThat(refusal.message())
                    .contains("annotation cdi.k8s.io/mine is written by device plugins");

            assertThat(
                            tenant.merge(
                                            annotated,
                                            "{metadata: {annotations: {cdi.k8s.io/mine: nvidia.com/gpu=0}}}")
                                    .code())
                    .isEqualTo(403);
            tenant.merge(annotated, "{metadata: {labels: {team: a}}}").orFail();
            assertThat(
                            debug(
                                            "{name: all, image: cuda, env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]}")
                                    .code())
                    .isEqualTo(403);
            tenant.create(TEAM, Pods.withoutGpu("plain")).orFail();
        } finally {
            cluster.api()
                    .delete("/api/v1/namespaces/%s/configmaps/gpusharing-shared".formatted(SYSTEM))
                    .orFail();
        }
        pod.withObject("/metadata").put("name", "again");
        eventually("a warning").until(() -> tenant.dryRun(TEAM, pod), Api.Answer::accepted);
    }

    @Test
    void finalizersComeAndGo() {
        String pod = Api.pod(TEAM, "finalized");

        tenant.merge(pod, "{metadata: {finalizers: [example.com/one]}}").orFail();
        Api jobs = cluster.api().as(CONTROLLERS + "job-controller");
        jobs.merge(pod, "{metadata: {finalizers: null}}").orFail();

        assertThat(tenant.get(pod).orFail().at("/metadata/finalizers").isMissingNode()).isTrue();
    }

    @Test
    void theGarbageCollectorTakesOwnersOffAndDeletes() {
        String pod = Api.pod(TEAM, "owned");
        Api collector = cluster.api().as(CONTROLLERS + "generic-garbage-collector");
        // An owner that exists, or the real garbage collector would be faster.
        String owner =
                cluster.api()
                        .get("/api/v1/namespaces/" + TEAM + "/serviceaccounts/default")
                        .orFail()
                        .at("/metadata/uid")
                        .asText();
        cluster.api()
                .merge(
                        pod,
                        "{metadata: {ownerReferences: [{apiVersion: v1, kind: ServiceAccount, name: default, uid: %s}]}}"
                                .formatted(owner))
                .orFail();

        collector.merge(pod, "{metadata: {ownerReferences: null}}").orFail();
        collector.delete(pod).orFail();
    }

    @Test
    void kubeletReportsStatusAndEndsThePod() {
        Api kubelet =
                cluster.api().as("system:node:gpu-node-1", "system:nodes", "system:authenticated");
        String pod = Api.pod(TEAM, "reported");
        bind("reported", "gpu-node-1");

        kubelet.patch(
                        pod + "/status",
                        "{status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}}")
                .orFail();
        // NodeRestriction looks a pod's node up in a cache, which may not know the binding yet.
        await().untilAsserted(() -> kubelet.delete(pod + "?gracePeriodSeconds=0").orFail());

        assertThat(cluster.api().get(pod).code()).isEqualTo(404);
    }

    @Test
    void theSchedulerBinds() {
        bind("bound", "gpu-node-2");
    }

    private void bind(String pod, String node) {
        cluster.api()
                .as("system:kube-scheduler")
                .create(
                        TEAM,
                        """
                        {apiVersion: v1, kind: Binding, metadata: {name: %s}, target: {apiVersion: v1, kind: Node, name: %s}}
                        """
                                .formatted(pod, node))
                .orFail();
    }

    @Test
    void finalizersLeaveAPodThatIsBeingDeletedAndNothingElseDoes() {
        String pod = Api.pod(TEAM, "ending");
        tenant.merge(pod, "{metadata: {finalizers: [example.com/wait]}}").orFail();
        tenant.delete(pod).orFail();

        assertThat(
                        tenant.merge(
                                        pod,
                                        "{metadata: {finalizers: null, labels: {gpusharing.io/metered: null}}}")
                                .message())
                .as("it may run on for its whole grace")
                .contains("leave gpusharing.io/metered as it is");
        tenant.merge(pod, "{metadata: {finalizers: null}}").orFail();
    }

    @Test
    void theNamespaceControllerEmptiesANamespace() {
        Api controller = cluster.api().as(CONTROLLERS + "namespace-controller");

        controller
                .delete("/api/v1/namespaces/" + TEAM + "/pods?fieldSelector=metadata.name=leaving")
                .orFail();
    }

    @Test
    void usersWhoMayUpdateBudgetsMayWriteOurKeys() {
        cluster.api()
                .merge(
                        watched(),
                        "{metadata: {annotations: {gpusharing.io/do-not-reclaim: 'true'}}}")
                .orFail();
        cluster.api()
                .merge(watched(), "{metadata: {annotations: {gpusharing.io/do-not-reclaim: null}}}")
                .orFail();
    }

    /** Any other value would leave the pod to reclaim, without a word. */
    @Test
    void aProtectionIsTrueOrFalse() {
        for (String object : List.of(watched(), "/api/v1/namespaces/" + TEAM)) {
            for (String value : List.of("yes", "True", "1", "")) {
                Api.Answer answer =
                        cluster.api()
                                .merge(
                                        object,
                                        "{metadata: {annotations: {gpusharing.io/do-not-reclaim: '%s'}}}"
                                                .formatted(value));
                assertThat(answer.accepted()).as(value).isFalse();
                assertThat(answer.message())
                        .contains("gpusharing.io/do-not-reclaim is true or false");
            }
            cluster.api()
                    .merge(
                            object,
                            "{metadata: {annotations: {gpusharing.io/do-not-reclaim: 'false'}}}")
                    .orFail();
            cluster.api()
                    .merge(
                            object,
                            "{metadata: {annotations: {gpusharing.io/do-not-reclaim: null}}}")
                    .orFail();
        }
    }

    private static String watched() {
        return Api.pod(TEAM, "watched");
    }

    private Api.Answer debug(String container) {
        return tenant.patch(
                watched() + "/ephemeralcontainers",
                "{spec: {ephemeralContainers: [%s]}}".formatted(container));
    }

    private static ObjectNode withoutOurKeys(ObjectNode stored) {
        ObjectNode pod = stored.deepCopy();
        pod.withObject("/metadata").remove("annotations");
        return pod;
    }
}
