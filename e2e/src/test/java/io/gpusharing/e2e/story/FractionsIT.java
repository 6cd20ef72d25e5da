package io.gpusharing.e2e.story;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InClusterInstallation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * One label, and a node's GPUs are handed out in fractions: by the real device plugin to real
 * containers, through a real kubelet and containerd. The driver is a stand-in: two GPUs that its
 * {@code nvidia-smi} shows to whom it was given.
 */
@Tag("node")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FractionsIT {

    private static final String TEAM = "fractions";
    private static final String NODE = "gpu-node-1";
    private static final Duration SOON = Duration.ofSeconds(90);
    private static final Pattern UUID = Pattern.compile("UUID: (GPU-[0-9-]+)");

    private static TestCluster cluster;
    private static Api api;
    private static Api tenant;
    private static Ledger ledger;

    @BeforeAll
    static void start() {
        cluster =
                TestCluster.start(
                        Repository.root().resolve(".run/node/cluster"), Map.of("GPUS", "2"));
        InClusterInstallation.on(cluster);
        api = new Api(cluster.client());
        ledger = Ledger.bundled(cluster);
        tenant = Team.create(cluster, api, TEAM);
    }

    @AfterAll
    static void end() {
        cluster.saveLogs(Repository.root().resolve("e2e/target/logs/fractions"));
        cluster.close();
    }

    @AfterEach
    void deletePods() {
        kubectl("delete", "pods", "--all", "--grace-period=1");
        await("nobody holds a GPU").atMost(SOON).until(FractionsIT::grants, List::isEmpty);
    }

    @Test
    @Order(1)
    void withoutALabelNothingIsOfferedAndNothingRuns() {
        JsonNode plugin =
                api.get(
                                "/apis/apps/v1/namespaces/gpusharing-system/daemonsets/gpusharing-device-plugin")
                        .orFail();

        assertThat(plugin.at("/status/desiredNumberScheduled").asInt()).isZero();
        assertThat(allocatable("tencent.com/vcuda-core")).isEmpty();
    }

    @Test
    @Order(2)
    void oneLabelAndTheExampleRunsOnHalfAGpuThatItPaysFor() throws IOException {
        cluster.kubectl().run("label", "node", NODE, "gpusharing.io/gpus=shared").orFail();
        await("the node offers two GPUs")
                .atMost(SOON)
                .untilAsserted(
                        () -> assertThat(allocatable("tencent.com/vcuda-core")).isEqualTo("200"));
        assertThat(allocatable("tencent.com/vcuda-memory")).isEqualTo("120");

        api.create(TEAM, Files.readString(Repository.root().resolve("examples/pod.yaml"))).orFail();

        assertThat(seenBy("vcuda")).hasSize(1);
        assertThat(exec("vcuda", "cat", "/run/gpusharing/share.json"))
                .contains("\"core\":50", "\"memoryMiB\":3840", seenBy("vcuda").getFirst());
        assertThat(grants()).singleElement().asString().contains("vcuda cuda 50 3840");
        await("it is charged")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(ledger.allocations(TEAM)).containsKey("vcuda"));
    }

    @Test
    @Order(3)
    void twoHalvesShareAGpuAndAThirdGoesToTheOther() {
        String first = gpuOf(start("first", 50, 15));
        String second = gpuOf(start("second", 50, 15));
        String third = gpuOf(start("third", 50, 15));

        assertThat(second).isEqualTo(first);
        assertThat(third).isNotEqualTo(first);
    }

    @Test
    @Order(4)
    void twiceSixtyNeverShareAGpuAndAWholeOneIsSharedWithNobody() {
        String first = gpuOf(start("first", 60, 15));
        String second = gpuOf(start("second", 60, 15));
        assertThat(second).isNotEqualTo(first);

        kubectl("delete", "pod", "second", "--grace-period=1");
        assertThat(gpuOf(start("whole", 100, 0))).isEqualTo(second);
    }

    @Test
    @Order(5)
    void aContainerThatIsRestartedGetsItsGpuAgain() {
        String gpu = gpuOf(start("first", 50, 15));

        // Its first process.
        exec("first", "sh", "-c", "kill 1");

        await("it runs again")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(
                                        pod("first")
                                                .at("/status/containerStatuses/0/restartCount")
                                                .asInt())
                                .isPositive());
        assertThat(gpuOf("first")).isEqualTo(gpu);
    }

    @Test
    @Order(6)
    void whileTheProcessesOfAPodThatWasDeletedByForceLiveNobodyGetsItsGpu() {
        // What cgroup v2 freezes can be killed all the same.
        assumeThat(Path.of("/sys/fs/cgroup/freezer")).as("the freezer of cgroup v1").exists();
        start("first", 100, 0);
        start("second", 100, 0);
        String held = gpuOf("first");
        String uid = pod("first").at("/metadata/uid").asText();
        cluster.node("freeze", NODE, uid);

        kubectl("delete", "pod", "first", "--force", "--grace-period=0");
        create("first", 100, 0);
        await("its successor of the same name is refused")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(eventsOf("first")).contains("No GPU has room"));
        cluster.node("thaw", NODE, uid);

        assertThat(gpuOf("first")).isEqualTo(held);
    }

    @Test
    @Order(7)
    void aPodThatFitsOnNoGpuIsEvictedAndPaysNothingForItsWaiting() {
        // Both GPUs together have so much memory, so that the scheduler takes it.
        create("giant", 50, 100);

        await("it is evicted")
                .atMost(SOON)
                .until(() -> !api.get(Api.pod(TEAM, "giant")).accepted());
        assertThat(eventsOf("giant")).contains("NotStarted", "It fits on no GPU of this node");
        await("it is given back what it was charged")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(ledger.corrections("giant"))
                                .singleElement()
                                .asString()
                                .startsWith("NotStarted: "));
    }

    @Test
    @Order(8)
    void restartsOfPluginKubeletAndContainerdDisturbNobody() {
        String gpu = gpuOf(start("first", 50, 15));
        String id = pod("first").at("/status/containerStatuses/0/containerID").asText();

        cluster.kubectl()
                .run(
                        "delete",
                        "pods",
                        "--namespace=gpusharing-system",
                        "--selector=app.kubernetes.io/component=device-plugin")
                .orFail();
        // It ends the way to the ledger as well.
        cluster.node("restart", NODE, "containerd");
        cluster.node("restart", NODE, "kubelet");
        // A kubelet that has no plugin fails the pods that it gets meanwhile.
        awaitPlugin();

        assertThat(gpuOf(start("second", 50, 15))).isEqualTo(gpu);
        assertThat(pod("first").at("/status/containerStatuses/0/containerID").asText())
                .isEqualTo(id);
        assertThat(grants()).hasSize(2);
    }

    @Test
    @Order(9)
    void anInitContainerUsesTheGpuOfThoseThatFollowIt() {
        ObjectNode pod = Api.yaml(podOf("first", 50, 15));
        ObjectNode init = pod.at("/spec/containers/0").deepCopy();
        init.put("name", "prepare").putArray("command").add("nvidia-smi");
        ((ObjectNode) pod.get("spec")).putArray("initContainers").add(init);
        api.create(TEAM, pod).orFail();

        String gpu = gpuOf("first");
        assertThat(kubectl("logs", "first", "--container=prepare")).contains(gpu);
        assertThat(start("second", 50, 15)).satisfies(it -> assertThat(gpuOf(it)).isEqualTo(gpu));
    }

    @Test
    @Order(10)
    void aPodThatChoosesItsGpuItselfIsNotTaken() {
        String pod = podOf("greedy", 50, 15);
        assertThat(tenant.dryRun(TEAM, pod).code()).isEqualTo(201);
        for (String greedy :
                List.of(
                        pod.replace("spec:", "spec:\n  nodeName: " + NODE),
                        pod.replace(
                                "command:",
                                "env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]\n    command:"),
                        annotated(pod, "gpusharing.io/placement"),
                        annotated(pod, "cdi.k8s.io/mine"))) {
            assertThat(tenant.dryRun(TEAM, greedy).code()).as(greedy).isEqualTo(403);
        }
    }

    private static String annotated(String pod, String key) {
        return pod.replace(
                "name: greedy",
                "name: greedy, annotations: {%s: gpusharing.io/gpu=0}".formatted(key));
    }

    @Test
    @Order(11)
    void aGpuThatFailsIsTakenFromTheNodeAndItsPodIsTold() {
        String gpu = gpuOf(start("first", 50, 15));

        // An uncontained ECC error.
        cluster.node("event", NODE, gpu, "8", "95");

        await("the node offers one GPU")
                .atMost(SOON)
                .untilAsserted(
                        () -> assertThat(allocatable("tencent.com/vcuda-core")).isEqualTo("100"));
        await("its pod is told")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(eventsOf("first")).contains("GpuUnhealthy"));
        assertThat(gpuOf(start("second", 50, 15))).isNotEqualTo(gpu);
    }

    private static void awaitPlugin() {
        cluster.kubectl()
                .run(
                        "rollout",
                        "status",
                        "daemonset/gpusharing-device-plugin",
                        "--namespace=gpusharing-system",
                        "--timeout=90s")
                .orFail();
    }

    private static String start(String name, int core, int memory) {
        create(name, core, memory);
        return name;
    }

    private static void create(String name, int core, int memory) {
        api.create(TEAM, podOf(name, core, memory)).orFail();
    }

    private static String podOf(String name, int core, int memory) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s}
        spec:
          containers:
          - name: cuda
            image: nvidia/cuda:13.0.1-base-ubuntu24.04
            command: [sh, -c, "trap 'exit 1' TERM; while :; do sleep 1; done"]
            resources: {limits: {tencent.com/vcuda-core: %d%s}}
        """
                .formatted(name, core, memory > 0 ? ", tencent.com/vcuda-memory: " + memory : "");
    }

    private static String gpuOf(String name) {
        List<String> seen = seenBy(name);
        assertThat(seen).hasSize(1);
        return seen.getFirst();
    }

    /** What nvidia-smi in the pod's container says, once it runs. */
    private static List<String> seenBy(String name) {
        await(name + " runs")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(
                                        pod(name)
                                                .at("/status/containerStatuses/0/state/running")
                                                .isMissingNode())
                                .as(eventsOf(name))
                                .isFalse());
        var uuids = new ArrayList<String>();
        Matcher matcher = UUID.matcher(exec(name, "nvidia-smi"));
        while (matcher.find()) {
            uuids.add(matcher.group(1));
        }
        return uuids;
    }

    private static JsonNode pod(String name) {
        return api.get(Api.pod(TEAM, name)).orFail();
    }

    private static String exec(String name, String... command) {
        var words = new ArrayList<>(List.of("exec", name, "--container=cuda", "--"));
        words.addAll(List.of(command));
        return kubectl(words.toArray(String[]::new));
    }

    private static String eventsOf(String name) {
        return kubectl("get", "events", "--field-selector=involvedObject.name=" + name);
    }

    private static String kubectl(String... words) {
        var command = new ArrayList<>(List.of(words));
        command.add(1, "--namespace=" + TEAM);
        return cluster.kubectl().run(command.toArray(String[]::new)).orFail();
    }

    private static String allocatable(String resource) {
        return api.get("/api/v1/nodes/" + NODE)
                .orFail()
                .path("status")
                .path("allocatable")
                .path(resource)
                .asText();
    }

    /** What the node's GpuNode says: pod, container, hundredths of processors, MiB. */
    private static List<String> grants() {
        Api.Answer answer = api.get("/apis/gpusharing.io/v1alpha1/gpunodes/" + NODE);
        if (!answer.accepted()) {
            return List.of();
        }
        return StreamSupport.stream(answer.body().at("/status/gpus").spliterator(), false)
                .flatMap(gpu -> StreamSupport.stream(gpu.path("grants").spliterator(), false))
                .map(grant ->
                        "%s %s %s %s"
                                .formatted(
                                        grant.path("pod").asText(),
                                        grant.path("container").asText(),
                                        grant.path("core").asText(),
                                        grant.path("memoryMiB").asText()))
                .toList();
    }
}
