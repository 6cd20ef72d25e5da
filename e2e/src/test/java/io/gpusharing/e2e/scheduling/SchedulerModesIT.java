package io.gpusharing.e2e.scheduling;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Chart;
import io.gpusharing.e2e.installation.ClusterScheduler;
import io.gpusharing.e2e.installation.PlacingScheduler;
import io.gpusharing.e2e.installation.SimulatedDevicePlugin;
import io.gpusharing.e2e.installation.Webhooks;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Who places pods is changed while pods wait, by what an administrator would do. The webhook and
 * the policies are the chart's; nodes of two GPUs each and their device plugins are simulated.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SchedulerModesIT {

    private static final String TEAM = "team";
    private static final String OURS = "gpusharing-scheduler";
    private static final String DEFAULT = "default-scheduler";
    private static final String FIRST = "gpu-node-1";
    private static final String SECOND = "gpu-node-2";

    private static TestCluster cluster;
    private static Path kubeScheduler;
    private static Webhooks webhooks;
    private static PlacingScheduler scheduler;

    @BeforeAll
    static void start() {
        cluster = TestCluster.start(Repository.root().resolve(".run/modes"));
        kubeScheduler = cluster.kubeScheduler();
        webhooks = Webhooks.install(cluster, 1);
        webhooks.start(Map.of());
        cluster.createNamespace(TEAM);
        scheduler = PlacingScheduler.installed(cluster);
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @AfterEach
    void deletePods() {
        kubectl("delete", "deployments,pods", "--all", "--namespace=" + TEAM, "--timeout=60s");
    }

    private static void kubectl(String... arguments) {
        cluster.kubectl().run(arguments).orFail();
    }

    private static ConditionFactory soon(String what) {
        return await(what).atMost(Duration.ofSeconds(30));
    }

    /** The node becomes one of ours. */
    private static void label(String node) {
        kubectl("label", "node", node, "gpusharing.io/gpus=shared");
        SimulatedDevicePlugin.describe(cluster, node, 2);
    }

    private static String create(String name, String resources, String... how) {
        String manifest =
                """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s, namespace: %s}
                spec:
                  containers: [{name: cuda, image: cuda, resources: {limits: {%s}}}]
                """
                        .formatted(name, TEAM, resources);
        String[] command =
                Stream.concat(Stream.of("create", "-f", "-"), Stream.of(how))
                        .toArray(String[]::new);
        return cluster.kubectl().pipe(manifest, command).orFail();
    }

    private static void create(String name, int core) {
        create(name, part(core));
    }

    private static String part(int core) {
        return "tencent.com/vcuda-core: %d, tencent.com/vcuda-memory: 4".formatted(core);
    }

    private static Pod pod(String name) {
        return requireNonNull(cluster.client().pods().inNamespace(TEAM).withName(name).get(), name);
    }

    private static String annotation(String pod, String key) {
        return pod(pod).getMetadata().getAnnotations().getOrDefault(key, "none");
    }

    private static String schedulerOf(String pod) {
        return pod(pod).getSpec().getSchedulerName();
    }

    private static void isBound(String pod) {
        soon(pod + " is bound").until(() -> pod(pod).getSpec().getNodeName() != null);
    }

    private static void waits(String pod, String why) {
        soon(pod + " is told why it waits")
                .untilAsserted(() ->
                        assertThat(pod(pod).getStatus().getConditions())
                                .anySatisfy(condition ->
                                        assertThat(condition.getMessage()).contains(why)));
        assertThat(pod(pod).getSpec().getNodeName()).isNull();
    }

    /** From now on new pods get this scheduler. */
    private static void newPodsGet(String name) {
        soon("new pods get " + name)
                .ignoreExceptionsInstanceOf(AssertionError.class)
                .until(
                        () ->
                                create(
                                        "probe",
                                        part(10),
                                        "--dry-run=server",
                                        "--output=jsonpath={.spec.schedulerName}"),
                        name::equals);
    }

    /** As {@code helm upgrade} does, as far as pods notice it. */
    private static void mode(String mode) {
        Stream.of("webhook", "admission-policy", "scheduler-policy")
                .forEach(template ->
                        Chart.set(cluster, "scheduler.mode=" + mode, template + ".yaml"));
        webhooks.stop();
        webhooks.start(Map.of());
    }

    /** As docs/provider.md has it where no helm does. */
    private static void deleteScheduler() {
        String ours =
                "--selector=app.kubernetes.io/part-of=gpusharing,app.kubernetes.io/component=scheduler";
        kubectl(
                "delete",
                "--all-namespaces",
                ours,
                "deployment,poddisruptionbudget,configmap,service,networkpolicy,role,rolebinding,serviceaccount");
        kubectl(
                "delete",
                ours,
                "flowschema,clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding");
    }

    @Test
    @Order(1)
    void schedulersOfOtherProvidersKeepTheirPodsUntilAllNodesAreOurs() throws IOException {
        label(FIRST);
        cluster.kubectl()
                .pipe(
                        """
                        apiVersion: v1
                        kind: Node
                        metadata: {name: gpushare, annotations: {kwok.x-k8s.io/node: fake}}
                        """,
                        "create",
                        "-f",
                        "-")
                .orFail();
        kubectl(
                "patch",
                "node",
                "gpushare",
                "--subresource=status",
                "--patch",
                "{\"status\":{\"capacity\":{\"cpu\":\"8\",\"memory\":\"32Gi\",\"pods\":\"110\",\"aliyun.com/gpu-mem\":\"30\"},\"allocatable\":{\"cpu\":\"8\",\"memory\":\"32Gi\",\"pods\":\"110\",\"aliyun.com/gpu-mem\":\"30\"}}}");
        cluster.killScheduler();
        try (var _ = new OtherExtenders(cluster, kubeScheduler)) {
            create("of-gpu-manager", 60);
            create("of-gpushare", "aliyun.com/gpu-mem: 3");
            isBound("of-gpu-manager");
            isBound("of-gpushare");

            assertThat(schedulerOf("of-gpu-manager")).isEqualTo(DEFAULT);
            assertThat(annotation("of-gpu-manager", "tencent.com/predicate-gpu-idx-0"))
                    .isEqualTo("0");
            assertThat(schedulerOf("of-gpushare")).isEqualTo(DEFAULT);
            assertThat(pod("of-gpushare").getSpec().getNodeName()).isEqualTo("gpushare");
            assertThat(annotation("of-gpushare", "ALIYUN_COM_GPU_MEM_ASSIGNED")).isEqualTo("false");
            for (String pod : List.of("of-gpu-manager", "of-gpushare")) {
                assertThat(annotation(pod, "gpusharing.io/placement")).isEqualTo("none");
            }

            label(SECOND);
            newPodsGet(OURS);
            create("ours", 60);
            isBound("ours");
            assertThat(annotation("ours", "gpusharing.io/placement")).contains("-gpu-");
            assertThat(annotation("ours", "tencent.com/gpu-assigned")).isEqualTo("true");
            create("still-of-gpushare", "aliyun.com/gpu-mem: 3");
            isBound("still-of-gpushare");
            assertThat(schedulerOf("still-of-gpushare")).isEqualTo(DEFAULT);
        } finally {
            cluster.resume();
        }
    }

    @Test
    @Order(2)
    void withTheLastNodeOfOursPodsGoAsBeforeAndWhoNamesOurSchedulerWaits() {
        newPodsGet(OURS);
        for (int i = 1; i <= 4; i++) {
            create("large-" + i, 60);
            isBound("large-" + i);
        }
        create("waiter", 60);
        waits("waiter", "2 no single GPU has 60 of 100");

        for (String node : List.of(FIRST, SECOND)) {
            kubectl("label", "node", node, "gpusharing.io/gpus-");
            kubectl("delete", "gpunode", node);
        }
        newPodsGet(DEFAULT);
        kubectl("delete", "pod", "large-1", "--namespace=" + TEAM);
        waits("waiter", "its GPUs are not shared by GPUSharing");
        create("as-before", 60);
        isBound("as-before");
        assertThat(annotation("as-before", "gpusharing.io/placement")).isEqualTo("none");

        kubectl("delete", "pods", "as-before", "large-2", "--namespace=" + TEAM);
        label(FIRST);
        label(SECOND);
        isBound("waiter");
        assertThat(annotation("waiter", "gpusharing.io/placement")).contains("-gpu-");
    }

    @Test
    @Order(3)
    void whoWaitsWhenTheModeChangesKeepsItsSchedulerUntilItIsMadeAnew() {
        newPodsGet(OURS);
        for (int i = 1; i <= 4; i++) {
            create("large-" + i, 60);
            isBound("large-" + i);
        }
        cluster.kubectl()
                .pipe(
                        """
                        apiVersion: apps/v1
                        kind: Deployment
                        metadata: {name: waiter, namespace: %s}
                        spec:
                          selector: {matchLabels: {app: waiter}}
                          template:
                            metadata: {labels: {app: waiter}}
                            spec:
                              containers: [{name: cuda, image: cuda, resources: {limits: {%s}}}]
                        """
                                .formatted(TEAM, part(60)),
                        "create",
                        "-f",
                        "-")
                .orFail();
        String waiter = soon("it is there").until(() -> waiter(), name -> !name.isEmpty());
        waits(waiter, "2 no single GPU has 60 of 100");

        scheduler.stop();
        deleteScheduler();
        mode("Extender");
        newPodsGet(DEFAULT);
        ClusterScheduler own = ClusterScheduler.on(cluster, ExtenderIT.keysOf(cluster));
        kubectl("delete", "pod", "large-1", "--namespace=" + TEAM);
        create("new", 20);
        isBound("new");
        assertThat(schedulerOf("new")).isEqualTo(DEFAULT);
        assertThat(annotation("new", "gpusharing.io/placement")).contains("-gpu-");
        assertThat(pod(waiter).getSpec().getNodeName()).isNull();

        kubectl("delete", "pod", waiter, "--namespace=" + TEAM);
        String second =
                soon("another is made")
                        .until(() -> waiter(), it -> !it.equals(waiter) && !it.isEmpty());
        isBound(second);
        assertThat(annotation(second, "gpusharing.io/placement")).contains("-gpu-");

        // Of the GPUs 40, 40, 40 and 20 or so are free.
        create("last", 60);
        waits("last", "no single GPU has 60 of 100");
        own.takeOut();
        isBound("last");
        assertThat(annotation("last", "gpusharing.io/placement")).isEqualTo("none");
    }

    /** The pod of the Deployment; empty while there is none. */
    private static String waiter() {
        return cluster
                .client()
                .pods()
                .inNamespace(TEAM)
                .withLabel("app", "waiter")
                .list()
                .getItems()
                .stream()
                .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                .map(pod -> pod.getMetadata().getName())
                .findFirst()
                .orElse("");
    }
}
