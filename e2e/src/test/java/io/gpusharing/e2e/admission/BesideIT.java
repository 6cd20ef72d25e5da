package io.gpusharing.e2e.admission;

import static io.gpusharing.e2e.admission.AdmissionCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What docs/beside.md says was tried: other programs' changes and objects, played by what they
 * send, on a real API server.
 */
@OnAdmissionCluster
class BesideIT {

    private static final String NATIVE = "beside-istio";
    private static final String HELD = "beside-istio-held";
    private static final String KYVERNO = "beside-kyverno";
    private static final String KUEUE = "beside-kueue";
    private static final String LIMITS = "beside-limits";
    private static final String REGISTRY = "beside-registry";
    private static final String UNMETERED = "beside-registry-unmetered";
    private static final String TEAM = "beside";
    private static final String EVICTOR = "system:serviceaccount:beside:evictor";
    private static final String OLD = "2026-01-01T00:00:00Z";

    /** As these programs call their configurations: all are asked after ours. */
    private static final List<String> WEBHOOKS =
            List.of(
                    "istio-sidecar-injector",
                    "istio-sidecar-injector-held",
                    "kyverno-resource-mutating-webhook-cfg",
                    "kueue-mutating-webhook-configuration");

    private static OtherWebhook other;
    private final AdmissionCluster cluster;
    private final Api api;

    BesideIT(AdmissionCluster cluster) {
        this.cluster = cluster;
        this.api = cluster.api();
    }

    @BeforeAll
    static void start(AdmissionCluster cluster) {
        cluster.withWebhook();
        Api api = cluster.api();
        other = OtherWebhook.start();
        for (String namespace : List.of(NATIVE, HELD, KYVERNO, KUEUE)) {
            cluster.namespace(namespace);
        }
        cluster.namespace(LIMITS, "demands: limits");
        cluster.namespace(REGISTRY, "demands: registry");
        cluster.namespace(UNMETERED, "demands: registry, gpusharing.io/inject: 'false'");
        cluster.tenantNamespace(TEAM);
        other.register(api, WEBHOOKS.get(0), NATIVE, "Never", OtherPrograms::nativeProxy);
        other.register(api, WEBHOOKS.get(1), HELD, "Never", OtherPrograms::heldByTheProxy);
        other.register(api, WEBHOOKS.get(2), KYVERNO, "IfNeeded", OtherPrograms::mirrored);
        other.register(api, WEBHOOKS.get(3), KUEUE, "Never", OtherPrograms::queued);
        demand(
                cluster,
                "registry",
                "c.image.startsWith('registry.example.com/')",
                "an image is of another registry");
        demand(
                cluster,
                "limits",
                "['cpu', 'memory'].all(r, r in c.?resources.?limits.orValue({}))",
                "a container has no limits");
        cluster.cluster()
                .kubectl()
                .pipe(
                        """
                        apiVersion: rbac.authorization.k8s.io/v1
                        kind: ClusterRole
                        metadata: {name: beside-evictor}
                        rules: [{apiGroups: [''], resources: [pods/eviction], verbs: [create]}]
                        ---
                        apiVersion: rbac.authorization.k8s.io/v1
                        kind: ClusterRoleBinding
                        metadata: {name: beside-evictor}
                        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: beside-evictor}
                        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: '%s'}]
                        """
                                .formatted(EVICTOR),
                        "create",
                        "-f",
                        "-")
                .orFail();
        eventually("the API server asks the other webhooks, too")
                .until(() ->
                        api.dryRun(KUEUE, Pods.withoutGpu("probe"))
                                .orFail()
                                .at("/spec/schedulingGates")
                                .isArray());
        for (String namespace : List.of(LIMITS, REGISTRY, UNMETERED)) {
            eventually("the policy is in force in " + namespace)
                    .until(() -> !api.dryRun(namespace, Pods.withoutGpu("probe")).accepted());
        }
    }

    /** As Kyverno's and Gatekeeper's usual rules do, of every container of new pods. */
    private static void demand(
            AdmissionCluster cluster, String what, String expression, String message) {
        cluster.cluster()
                .kubectl()
                .pipe(
                        """
                        apiVersion: admissionregistration.k8s.io/v1
                        kind: ValidatingAdmissionPolicy
                        metadata: {name: beside-%1$s}
                        spec:
                          failurePolicy: Fail
                          matchConstraints:
                            resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
                          validations:
                          - expression: >-
                              (object.spec.containers + object.spec.?initContainers.orValue([])).all(c, %2$s)
                            message: %3$s
                        ---
                        apiVersion: admissionregistration.k8s.io/v1
                        kind: ValidatingAdmissionPolicyBinding
                        metadata: {name: beside-%1$s}
                        spec:
                          policyName: beside-%1$s
                          validationActions: [Deny]
                          matchResources: {namespaceSelector: {matchLabels: {demands: %1$s}}}
                        """
                                .formatted(what, expression, message),
                        "create",
                        "-f",
                        "-")
                .orFail();
    }

    @AfterAll
    static void end(AdmissionCluster cluster) {
        var names = new ArrayList<>(List.of("delete", "mutatingwebhookconfigurations"));
        names.addAll(WEBHOOKS);
        cluster.cluster().kubectl().run(names.toArray(String[]::new)).orFail();
        cluster.cluster()
                .kubectl()
                .run(
                        "delete",
                        "validatingadmissionpolicies/beside-registry",
                        "validatingadmissionpolicies/beside-limits",
                        "validatingadmissionpolicybindings/beside-registry",
                        "validatingadmissionpolicybindings/beside-limits",
                        "clusterroles/beside-evictor",
                        "clusterrolebindings/beside-evictor",
                        "gpubudgets/beside-kueue",
                        "--ignore-not-found")
                .orFail();
        other.close();
    }

    @Test
    void istiosNativeProxyComesBeforeTheMeterAndLeavesItOne() {
        ObjectNode pod = api.create(NATIVE, Pods.halfAGpu("half")).orFail();

        assertThat(Pods.names(pod.at("/spec/initContainers")))
                .containsExactly("istio-init", "istio-proxy", "gpusharing-sidecar");
        assertJudged(pod);
    }

    @Test
    void aProxyThatHoldsTheApplicationTakesTheFirstPlaceAndNoGpu() {
        ObjectNode pod = api.create(HELD, Pods.halfAGpu("half")).orFail();

        assertThat(Pods.names(pod.at("/spec/containers"))).containsExactly("istio-proxy", "cuda");
        assertThat(Pods.names(pod.at("/spec/initContainers")))
                .containsExactly("gpusharing-sidecar", "istio-init");
        assertJudged(pod);
    }

    @Test
    void imagesThatAreRewrittenForAMirrorLeaveOneMeter() {
        ObjectNode pod = api.create(KYVERNO, Pods.halfAGpu("half")).orFail();

        assertThat(Pods.names(pod.at("/spec/initContainers")))
                .containsExactly("gpusharing-sidecar");
        assertThat(Pods.sidecar(pod).path("image").asText())
                .startsWith("mirror.example.com/gpusharing/sidecar");
        assertJudged(pod);
    }

    /** The second one replaces the first, which has failed, after the budget was used up. */
    @Test
    void membersOfAPodGroupAreOfOneShapeWhateverTheBudgetHasLeft() {
        ObjectNode first = api.create(KUEUE, member("train-1")).orFail();
        api.create(
                        "",
                        """
                        apiVersion: gpusharing.io/v1alpha1
                        kind: GpuBudget
                        metadata: {name: beside-kueue}
                        spec: {namespaces: [beside-kueue], gpuMinutes: "0", onExhausted: LowerPriority}
                        """)
                .orFail();
        eventually("the webhook has read the budget")
                .until(() ->
                        "gpu-over-budget"
                                .equals(
                                        api.dryRun(KUEUE, Pods.halfAGpu("probe"))
                                                .orFail()
                                                .at("/spec/priorityClassName")
                                                .asText()));

        ObjectNode second = api.create(KUEUE, member("train-2")).orFail();

        assertThat(Pods.annotation(second, "kueue.x-k8s.io/role-hash"))
                .isNotEmpty()
                .isEqualTo(Pods.annotation(first, "kueue.x-k8s.io/role-hash"));
        assertThat(first.at("/spec/priorityClassName").asText()).isEqualTo("gpu-in-budget");
        assertThat(first.at("/spec/priority").asText()).isEqualTo("0");
        assertThat(second.at("/spec/priorityClassName").asText()).isEqualTo("gpu-over-budget");
        assertThat(second.at("/spec/priority").asText()).isEqualTo("-100");
        assertThat(second.at("/spec/preemptionPolicy").asText()).isEqualTo("Never");
        assertThat(second.at("/spec/initContainers").isMissingNode()).isTrue();
        assertThat(Pods.annotation(second, "gpusharing.io/request")).isNotEmpty();
    }

    @Test
    void aRuleAboutAllImagesSeesTheMeterAndOneAboutLimitsIsMetByIt() {
        ObjectNode pod = Pods.halfAGpu("half");
        ObjectNode container = (ObjectNode) pod.at("/spec/containers/0");
        container.put("image", "registry.example.com/cuda");
        container.withObject("/resources/limits").put("cpu", "1").put("memory", "1Gi");

        Api.Answer refused = api.create(REGISTRY, pod);
        ObjectNode unmetered = api.create(UNMETERED, pod).orFail();
        ObjectNode limited = api.create(LIMITS, pod).orFail();

        assertThat(refused.accepted()).isFalse();
        assertThat(refused.message()).contains("an image is of another registry");
        assertThat(unmetered.at("/spec/initContainers").isMissingNode()).isTrue();
        assertThat(Pods.annotation(unmetered, "gpusharing.io/request")).isNotEmpty();
        assertJudged(limited);
    }

    @Test
    void aTenantCopiesAPodToDebugIt() {
        ObjectNode pod = Pods.halfAGpu("half");
        pod.withObject("/spec").put("schedulerName", "nobody");
        cluster.tenant().create(TEAM, pod).orFail();
        api.merge(
                        Api.pod(TEAM, "half"),
                        "{metadata: {annotations: {gpusharing.io/standing-as-of: '%s'}}}"
                                .formatted(OLD))
                .orFail();

        cluster.cluster()
                .kubectl()
                .as(AdmissionCluster.TENANT, "system:authenticated")
                .run(
                        "debug",
                        "half",
                        "--namespace=" + TEAM,
                        "--copy-to=copy",
                        "--image=busybox",
                        "--container=debugger",
                        "--profile=general")
                .orFail();

        ObjectNode copy = api.get(Api.pod(TEAM, "copy")).orFail();
        assertThat(Pods.names(copy.at("/spec/containers"))).containsExactly("cuda", "debugger");
        assertDecidedAnew(copy);
    }

    @Test
    void aPodFromVelerosBackupIsDecidedAnewAndKeepsItsProtection() {
        ObjectNode pod = Pods.halfAGpu("restored");
        ObjectNode backup = Pods.saved(api.dryRun(TEAM, pod).orFail());
        backup.withObject("/metadata/annotations")
                .put("gpusharing.io/standing-as-of", OLD)
                .put("gpusharing.io/placement", "7b0c;cuda=GPU-6d1f")
                .put("gpusharing.io/do-not-reclaim", "true");
        backup.withObject("/metadata/labels")
                .put("velero.io/backup-name", "nightly")
                .put("velero.io/restore-name", "nightly-20260101");
        backup.withObject("/spec").remove(List.of("nodeName", "priority"));

        Api.Answer restored = api.create(TEAM, backup);
        Api.Answer byATenant = cluster.tenant().dryRun(TEAM, renamed(backup, "by-a-tenant"));

        assertDecidedAnew(restored.orFail());
        assertThat(restored.warnings())
                .anyMatch(warning -> warning.startsWith("a copy of an older pod"));
        assertThat(Pods.annotation(restored.orFail(), "gpusharing.io/placement")).isEmpty();
        assertThat(Pods.annotation(restored.orFail(), "gpusharing.io/do-not-reclaim"))
                .isEqualTo("true");
        assertThat(byATenant.code()).as(byATenant.message()).isGreaterThanOrEqualTo(400);
        assertThat(byATenant.message()).contains("gpusharing.io/do-not-reclaim");
    }

    @Test
    void aPodOfVolcanosStaysItsOwnWhereNoNodeIsOurs() {
        ObjectNode pod = Pods.halfAGpu("volcano");
        pod.withObject("/metadata/labels").put("volcano.sh/job-name", "train");
        pod.withObject("/metadata/annotations").put("scheduling.k8s.io/group-name", "train");
        pod.withObject("/spec").put("schedulerName", "volcano");

        ObjectNode stored = api.create(TEAM, pod).orFail();

        assertThat(stored.at("/spec/schedulerName").asText()).isEqualTo("volcano");
        assertJudged(stored);
    }

    /** A descheduler says nothing of the grace, a cluster-autoscaler its own longest. */
    @Test
    void programsThatDrainNodesMayEvictPodsWithGpus() {
        Api evictor = api.as(EVICTOR, "system:serviceaccounts", "system:authenticated");
        for (String name : List.of("descheduled", "scaled-down")) {
            ObjectNode pod = Pods.halfAGpu(name);
            pod.withObject("/spec").put("schedulerName", "nobody");
            api.create(TEAM, pod).orFail();
            api.as("system:kube-scheduler")
                    .create(
                            TEAM,
                            "{apiVersion: v1, kind: Binding, metadata: {name: %s}, target: {apiVersion: v1, kind: Node, name: gpu-node-2}}"
                                    .formatted(name))
                    .orFail();
        }
        String eviction = "{apiVersion: policy/v1, kind: Eviction, metadata: {name: %s}%s}";

        Api.Answer descheduled =
                evictor.post(
                        Api.pod(TEAM, "descheduled") + "/eviction",
                        eviction.formatted("descheduled", ""));
        Api.Answer scaledDown =
                evictor.post(
                        Api.pod(TEAM, "scaled-down") + "/eviction",
                        eviction.formatted(
                                "scaled-down", ", deleteOptions: {gracePeriodSeconds: 600}"));

        assertThat(descheduled.accepted()).as(descheduled.message()).isTrue();
        assertThat(scaledDown.accepted()).as(scaledDown.message()).isTrue();
    }

    private static void assertJudged(ObjectNode pod) {
        assertThat(Pods.annotation(pod, "gpusharing.io/request"))
                .isEqualTo("cuda/tencent.com/vcuda-core=50,cuda/tencent.com/vcuda-memory=15");
        assertThat(Pods.sidecar(pod).isMissingNode()).isFalse();
    }

    private static void assertDecidedAnew(ObjectNode pod) {
        assertJudged(pod);
        assertThat(Pods.annotation(pod, "gpusharing.io/standing-as-of")).isGreaterThan(OLD);
        assertThat(Pods.names(pod.at("/spec/initContainers")))
                .containsExactly("gpusharing-sidecar");
        assertThat(pod.at("/metadata/labels/gpusharing.io~1metered").asText()).isEqualTo("true");
    }

    private static ObjectNode renamed(ObjectNode pod, String name) {
        ObjectNode other = pod.deepCopy();
        other.withObject("/metadata").put("name", name);
        return other;
    }

    private static ObjectNode member(String name) {
        ObjectNode pod = Pods.halfAGpu(name);
        pod.withObject("/metadata/labels")
                .put("kueue.x-k8s.io/queue-name", "research")
                .put("kueue.x-k8s.io/pod-group-name", "train");
        pod.withObject("/metadata/annotations").put("kueue.x-k8s.io/pod-group-total-count", "2");
        return pod;
    }
}
