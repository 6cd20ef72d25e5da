package io.gpusharing.e2e.admission;

import static io.gpusharing.e2e.admission.AdmissionCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.cluster.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Early verdicts on workloads, and where the later verdicts on their pods can be read. */
@OnAdmissionCluster
class WorkloadsIT {

    private static final String TEAM = "workloads";
    private static final String BROKE = "broke";
    private static final Set<String> ELSEWHERE =
            Set.of(
                    "correction.yaml",
                    "grant.yaml",
                    "team-a.yaml",
                    "workflow.yaml",
                    "workflow-mig.yaml");
    private static final String VERDICT =
            "container \"cuda\": resources.limits[tencent.com/vcuda-core] is 150";

    private final AdmissionCluster cluster;
    private final Api api;

    WorkloadsIT(AdmissionCluster cluster) {
        this.cluster = cluster;
        this.api = cluster.api();
    }

    @BeforeAll
    static void start(AdmissionCluster cluster) {
        cluster.withWebhook();
        cluster.namespace(TEAM);
        cluster.namespace(BROKE);
        define(cluster.api(), "kubeflow.org", "v1", "Notebook");
        define(cluster.api(), "serving.kserve.io", "v1beta1", "InferenceService");
        define(cluster.api(), "ray.io", "v1", "RayCluster");
        cluster.api()
                .create(
                        "",
                        """
                        apiVersion: gpusharing.io/v1alpha1
                        kind: GpuBudget
                        metadata: {name: broke}
                        spec: {namespaces: [broke], gpuMinutes: "0", onExhausted: Refuse}
                        """)
                .orFail();
        eventually("the webhook has read the budget")
                .until(() -> !cluster.api().dryRun(BROKE, Pods.halfAGpu("probe")).accepted());
    }

    /** An operator's kind under its name. What its objects say is not known here: all is taken. */
    private static void define(Api api, String group, String version, String kind) {
        String plural = kind.toLowerCase(Locale.ROOT) + "s";
        api.create(
                        "",
                        """
                        apiVersion: apiextensions.k8s.io/v1
                        kind: CustomResourceDefinition
                        metadata: {name: %1$s.%2$s}
                        spec:
                          group: %2$s
                          scope: Namespaced
                          names: {kind: %4$s, plural: %1$s, singular: %5$s}
                          versions:
                          - name: %3$s
                            served: true
                            storage: true
                            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
                        """
                                .formatted(
                                        plural,
                                        group,
                                        version,
                                        kind,
                                        kind.toLowerCase(Locale.ROOT)))
                .orFail();
        eventually("objects of kind " + kind + " are taken")
                .until(() -> api.get(Api.collection(TEAM, group + "/" + version, kind)).accepted());
    }

    static Stream<Workload> illegal() {
        return Workload.all("illegal", Workload.ILLEGAL);
    }

    static Stream<Workload> legal() {
        return Workload.all("legal", Workload.LEGAL);
    }

    /** Made before GPUSharing was there. */
    static Stream<Workload> old() {
        return Workload.all(AdmissionCluster.OLD, Workload.ILLEGAL);
    }

    /** But those of other kinds, and of objects without a namespace, which other tests create. */
    static List<String> examples() throws IOException {
        try (Stream<Path> files = Files.list(Repository.root().resolve("examples"))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !ELSEWHERE.contains(name))
                    .sorted()
                    .toList();
        }
    }

    static Stream<Workload> leaving() {
        return Workload.all(AdmissionCluster.OLD_AND_LEAVING, Workload.ILLEGAL);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("illegal")
    void anIllegalRequestInATemplateIsRefusedAtOnce(Workload workload) {
        Api.Answer answer = api.create(TEAM, workload.manifest());

        assertThat(answer.code()).isEqualTo(422);
        assertThat(answer.message())
                .contains("workloads.gpusharing.io")
                .contains(VERDICT)
                .contains("use 1..99, 100 or 200");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("legal")
    void aLegalTemplateIsCreatedUnchanged(Workload workload) {
        Api.Answer answer = api.create(TEAM, workload.manifest());

        assertThat(answer.orFail().toString()).doesNotContain("gpusharing");
        assertThat(answer.warnings()).isEmpty();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("examples")
    void anExampleIsTaken(String example) {
        assertThat(
                        cluster.cluster()
                                .kubectl()
                                .run(
                                        "create",
                                        "--dry-run=server",
                                        "--namespace=" + TEAM,
                                        "--filename=examples/" + example)
                                .orFail())
                .contains("created (server dry run)");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("old")
    void olderWorkloadsCanStillBeScaledAndLabelled(Workload workload) {
        api.patch(workload.in("default"), workload.harmless()).orFail();
        api.patch(workload.in("default"), "{metadata: {labels: {touched: 'yes'}}}").orFail();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("old")
    void aNewTemplateOfAnOldWorkloadHasToBeLegal(Workload workload) {
        Api.Answer answer = api.patch(workload.in("default"), workload.changedTemplate());

        assertThat(answer.code()).isEqualTo(422);
        assertThat(answer.message()).contains(VERDICT);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("leaving")
    void anOldWorkloadCanBeDeleted(Workload workload) {
        String path = workload.in("default");
        api.merge(path, "{metadata: {finalizers: [example.com/wait]}}").orFail();

        api.delete(path).orFail();
        api.merge(path, "{metadata: {finalizers: null}}").orFail();

        assertThat(api.get(path).code()).isEqualTo(404);
    }

    /** Even an administrator's, because its pods are made by a controller. */
    @Test
    void aTemplateWithAKeyOfOursIsRefusedAtOnce() {
        Api.Answer answer =
                api.create(
                        TEAM,
                        """
                        apiVersion: apps/v1
                        kind: Deployment
                        metadata: {name: kept}
                        spec:
                          selector: {matchLabels: {app: kept}}
                          template:
                            metadata: {labels: {app: kept}, annotations: {gpusharing.io/do-not-reclaim: 'true'}}
                            spec: {containers: [{name: cuda, image: cuda, resources: {limits: {tencent.com/vcuda-core: 100}}}]}
                        """);

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message())
                .contains(
                        "metadata.annotations[gpusharing.io/do-not-reclaim]: nobody but GPUSharing");
    }

    @Test
    void aSystemClassIsRefusedForGpuPods() {
        ObjectNode pod = Pods.halfAGpu("critical");
        pod.withObject("/spec").put("priorityClassName", "system-node-critical");

        Api.Answer answer = api.create(TEAM, pod);

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message()).contains("spec.priorityClassName is system-node-critical");
    }

    @Test
    void aDeploymentGetsAnEventThatItsPodsAreRefused() {
        Api.Answer answer =
                cluster.api()
                        .create(
                                BROKE,
                                """
                                apiVersion: apps/v1
                                kind: Deployment
                                metadata: {name: server}
                                spec:
                                  selector: {matchLabels: {app: server}}
                                  template:
                                    metadata: {labels: {app: server}}
                                    spec: {containers: [{name: cuda, image: cuda, resources: {limits: {tencent.com/vcuda-core: 100}}}]}
                                """);

        answer.orFail();
        assertThat(answer.warnings())
                .containsExactly("budget broke is used up: its pods are refused now");
        assertThat(event("Deployment", "server").path("message").asText())
                .contains("budget broke of namespace broke is used up");
    }

    @Test
    void aCronJobGetsAnEventThatThePodsOfItsJobsAreRefused() {
        api.create(
                        BROKE,
                        """
                        apiVersion: batch/v1
                        kind: CronJob
                        metadata: {name: nightly}
                        spec:
                          suspend: true
                          schedule: '0 0 1 1 *'
                          jobTemplate:
                            spec:
                              template:
                                spec:
                                  restartPolicy: Never
                                  containers: [{name: cuda, image: cuda, resources: {limits: {tencent.com/vcuda-core: 100}}}]
                        """)
                .orFail();

        cluster.cluster()
                .kubectl()
                .run("create", "job", "--from=cronjob/nightly", "tonight", "--namespace=" + BROKE)
                .orFail();

        assertThat(event("CronJob", "nightly").path("message").asText())
                .contains("budget broke of namespace broke is used up");
    }

    @Test
    void aStatefulSetGetsTheEventItself() {
        api.create(
                        BROKE,
                        """
                        apiVersion: apps/v1
                        kind: StatefulSet
                        metadata: {name: store}
                        spec:
                          serviceName: store
                          selector: {matchLabels: {app: store}}
                          template:
                            metadata: {labels: {app: store}}
                            spec: {containers: [{name: cuda, image: cuda, resources: {limits: {tencent.com/vcuda-core: 100}}}]}
                        """)
                .orFail();

        assertThat(event("StatefulSet", "store").path("type").asText()).isEqualTo("Warning");
    }

    /** The refusal in the Event on this object; it comes a moment after the object itself. */
    private JsonNode event(String kind, String name) {
        String events =
                "/api/v1/namespaces/%s/events?fieldSelector=reason=GpuRequestRefused,involvedObject.kind=%s,involvedObject.name=%s"
                        .formatted(BROKE, kind, name);
        return eventually("an Event on " + kind + " " + name)
                .until(
                        () -> api.get(events).orFail().at("/items/0"),
                        found -> !found.isMissingNode());
    }
}
