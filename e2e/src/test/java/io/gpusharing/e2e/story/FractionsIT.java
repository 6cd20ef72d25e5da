package io.gpusharing.e2e.story;

import static io.gpusharing.e2e.story.GpuPods.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InClusterInstallation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * One label, and a node's GPUs are handed out in fractions: by the real device plugin to real
 * containers, through a real kubelet and containerd. The driver is a stand-in: two GPUs that its
 * {@code nvidia-smi} shows to whom it was given.
 */
@Tag("node")
@Order(2)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(RealNodes.OfTheRun.class)
class FractionsIT {

    private static final String TEAM = "fractions";
    private static final String NODE = RealNodes.FIRST;
    private static final String OTHER_NODE = RealNodes.SECOND;

    private static TestCluster cluster;
    private static Api api;
    private static Api tenant;
    private static Ledger ledger;
    private static InClusterInstallation services;
    private static GpuPods pods;
    private static PluginPods plugin;

    @BeforeAll
    static void start(RealNodes nodes) {
        cluster = nodes.cluster();
        api = nodes.api();
        ledger = nodes.ledger();
        services = nodes.installation();
        nodes.withdrawOtherProvider();
        // First what the device plugin does by itself, wherever a pod was bound.
        InClusterInstallation.placeByTheClustersScheduler(cluster);
        tenant = Team.create(cluster, api, TEAM);
        pods = new GpuPods(cluster, api, TEAM);
        plugin = new PluginPods(cluster);
    }

    @AfterEach
    void deletePods() {
        pods.kubectl("delete", "pods", "--all", "--grace-period=1");
        await("nobody holds a GPU").atMost(SOON).until(pods::grants, List::isEmpty);
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

        assertThat(pods.seenBy("vcuda")).hasSize(1);
        assertThat(pods.exec("vcuda", "cat", "/run/gpusharing/share.json"))
                .contains("\"core\":50", "\"memoryMiB\":3840", pods.seenBy("vcuda").getFirst());
        assertThat(pods.grants()).singleElement().asString().contains("vcuda cuda 50 3840");
        await("it is charged")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(ledger.allocations(TEAM)).containsKey("vcuda"));
    }

    @Test
    @Order(3)
    void twoHalvesShareAGpuAndAThirdGoesToTheOther() {
        String first = pods.gpuOfNew("first", vcuda(50, 15));
        String second = pods.gpuOfNew("second", vcuda(50, 15));
        String third = pods.gpuOfNew("third", vcuda(50, 15));

        assertThat(second).isEqualTo(first);
        assertThat(third).isNotEqualTo(first);
    }

    @Test
    @Order(4)
    void twiceSixtyNeverShareAGpuAndAWholeOneIsSharedWithNobody() {
        String first = pods.gpuOfNew("first", vcuda(60, 15));
        String second = pods.gpuOfNew("second", vcuda(60, 15));
        assertThat(second).isNotEqualTo(first);

        pods.kubectl("delete", "pod", "second", "--grace-period=1");
        assertThat(pods.gpuOfNew("whole", vcuda(100, 0))).isEqualTo(second);
    }

    @Test
    @Order(5)
    void aContainerThatIsRestartedGetsItsGpuAgain() {
        String gpu = pods.gpuOfNew("first", vcuda(50, 15));

        pods.killFirstProcess("first");

        await("it runs again")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(pods.restarts("first")).isPositive());
        assertThat(pods.gpuOf("first")).isEqualTo(gpu);
    }

    @Test
    @Order(6)
    void whileTheProcessesOfAPodThatWasDeletedByForceLiveNobodyGetsItsGpu() {
        // What cgroup v2 freezes can be killed all the same.
        assumeThat(Path.of("/sys/fs/cgroup/freezer")).as("the freezer of cgroup v1").exists();
        pods.create("first", vcuda(100, 0));
        pods.create("second", vcuda(100, 0));
        String held = pods.gpuOf("first");
        String uid = pods.pod("first").at("/metadata/uid").asText();
        cluster.node("freeze", NODE, uid);

        pods.kubectl("delete", "pod", "first", "--force", "--grace-period=0");
        pods.create("first", vcuda(100, 0));
        await("its successor of the same name is refused")
                .atMost(SOON)
                .untilAsserted(
                        () -> assertThat(pods.eventsOf("first")).contains("No GPU has room"));
        cluster.node("thaw", NODE, uid);

        assertThat(pods.gpuOf("first")).isEqualTo(held);
    }

    @Test
    @Order(7)
    void aPodThatFitsOnNoGpuIsEvictedAndPaysNothingForItsWaiting() {
        // Both GPUs together have so much memory, so that the scheduler takes it.
        ObjectNode pod = Api.yaml(GpuPods.manifest("giant", vcuda(50, 100)));
        // Its other container does not heed SIGTERM, so that it ends only some seconds later: what
        // lasts less than a whole second is not given back.
        ObjectNode beside = pod.at("/spec/containers/0").deepCopy();
        beside.put("name", "beside").remove("resources");
        beside.putArray("command").add("sleep").add("infinity");
        ((ArrayNode) pod.at("/spec/containers")).insert(0, beside);
        ((ObjectNode) pod.get("spec")).put("terminationGracePeriodSeconds", 5);
        api.create(TEAM, pod).orFail();

        await("it is evicted")
                .atMost(SOON)
                .until(() -> !api.get(Api.pod(TEAM, "giant")).accepted());
        assertThat(pods.eventsOf("giant")).contains("NotStarted", "It fits on no GPU of this node");
        await("it is given back what it was charged")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(ledger.corrections("giant"))
                                .singleElement()
                                .asString()
                                .startsWith("NotStarted: "));
        await("it has a receipt")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(services.api().get("/api/v1/evictions?namespace=" + TEAM))
                                .anySatisfy(receipt -> {
                                    assertThat(receipt.at("/victim/name").asText())
                                            .isEqualTo("giant");
                                    assertThat(receipt.path("cause").asText())
                                            .isEqualTo("RefusedStart");
                                    assertThat(receipt.path("result").asText())
                                            .isEqualTo("Evicted");
                                }));
    }

    @Test
    @Order(8)
    void restartsOfPluginKubeletAndContainerdDisturbNobody() {
        String gpu = pods.gpuOfNew("first", vcuda(50, 15));
        String id = pods.pod("first").at("/status/containerStatuses/0/containerID").asText();

        plugin.delete();
        // It ends the way to the ledger as well.
        cluster.node("restart", NODE, "containerd");
        cluster.node("restart", NODE, "kubelet");
        // A kubelet that has no plugin fails the pods that it gets meanwhile.
        plugin.awaitRollout();

        assertThat(pods.gpuOfNew("second", vcuda(50, 15))).isEqualTo(gpu);
        assertThat(pods.pod("first").at("/status/containerStatuses/0/containerID").asText())
                .isEqualTo(id);
        assertThat(pods.grants()).hasSize(2);
    }

    @Test
    @Order(9)
    void anInitContainerUsesTheGpuOfThoseThatFollowIt() {
        ObjectNode pod = Api.yaml(GpuPods.manifest("first", vcuda(50, 15)));
        ObjectNode init = pod.at("/spec/containers/0").deepCopy();
        init.put("name", "prepare").putArray("command").add("nvidia-smi");
        ((ObjectNode) pod.get("spec")).putArray("initContainers").add(init);
        api.create(TEAM, pod).orFail();

        String gpu = pods.gpuOf("first");
        assertThat(pods.kubectl("logs", "first", "--container=prepare")).contains(gpu);
        assertThat(pods.gpuOfNew("second", vcuda(50, 15))).isEqualTo(gpu);
    }

    @Test
    @Order(10)
    void aPodThatChoosesItsGpuItselfIsNotTaken() {
        String pod = GpuPods.manifest("greedy", vcuda(50, 15));
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
    void eachContainerSeesItsOwnGpusAndNoOther() {
        ObjectNode pod = Api.yaml(GpuPods.manifest("two", vcuda(60, 15)));
        ObjectNode second = pod.at("/spec/containers/0").deepCopy();
        second.put("name", "second");
        ((ArrayNode) pod.at("/spec/containers")).add(second);
        api.create(TEAM, pod).orFail();

        String first = pods.gpuOf("two");
        assertThat(pods.kubectl("exec", "two", "--container=second", "--", "nvidia-smi"))
                .doesNotContain(first)
                .contains("UUID: GPU-");
        pods.kubectl("delete", "pod", "two", "--grace-period=1");

        pods.create("both", vcuda(200, 0));
        assertThat(pods.seenBy("both")).hasSize(2).contains(first);
    }

    @Test
    @Order(12)
    void aKubeletThatStartsWithoutThePluginFailsWhoDoesNotRunAndLeavesTheOthersAlone() {
        String gpu = pods.gpuOfNew("first", vcuda(60, 15));
        String other = pods.gpuOfNew("second", vcuda(60, 15));
        int before = plugin.restarts();

        cluster.node("stop", NODE, "kubelet");
        cluster.node("on", NODE, "pkill", "-KILL", "-f", "[j]ava.*deviceplugin[.]jar");
        killProcesses("second");
        cluster.node("start", NODE, "kubelet");

        awaitFailed("second");
        plugin.awaitRestartAfter(before);
        assertThat(pods.gpuOf("first")).isEqualTo(gpu);
        assertThat(pods.restarts("first")).isZero();
        assertThat(pods.gpuOfNew("third", vcuda(60, 15))).isEqualTo(other);
    }

    @Test
    @Order(13)
    void aRebootFailsThePodsOfTheNodeAndTheirSuccessorsGetTheGpus() {
        String gpu = pods.gpuOfNew("first", vcuda(60, 15));
        String other = pods.gpuOfNew("second", vcuda(60, 15));
        int before = plugin.restarts();

        cluster.node("reboot", NODE);

        awaitFailed("first");
        awaitFailed("second");
        plugin.awaitRestartAfter(before);
        assertThat(
                        List.of(
                                pods.gpuOfNew("third", vcuda(60, 15)),
                                pods.gpuOfNew("fourth", vcuda(60, 15))))
                .containsExactlyInAnyOrder(gpu, other);
    }

    /** By the kubelet, which admits pods anew that do not run, and knows no plugin yet. */
    private static void awaitFailed(String pod) {
        await(pod + " has failed")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(pods.pod(pod).at("/status/reason").asText())
                                .isEqualTo("UnexpectedAdmissionError"));
    }

    @Test
    @Order(14)
    void aGpuThatFailsIsTakenFromTheNodeAndItsPodIsTold() {
        String gpu = pods.gpuOfNew("first", vcuda(50, 15));

        // An uncontained ECC error.
        cluster.node("event", NODE, gpu, "8", "95");

        await("the node offers one GPU")
                .atMost(SOON)
                .untilAsserted(
                        () -> assertThat(allocatable("tencent.com/vcuda-core")).isEqualTo("100"));
        await("its pod is told")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(pods.eventsOf("first")).contains("GpuUnhealthy"));
        assertThat(pods.gpuOfNew("second", vcuda(50, 15))).isNotEqualTo(gpu);
    }

    @Test
    @Order(15)
    void whereAnotherPluginOffersTheGpusOursDisturbsNothingAndSaysWhy() {
        cluster.node(
                "start",
                OTHER_NODE,
                "device-plugin",
                "aliyun.com/gpu-mem",
                "nvidia.com/gpu=0",
                "nvidia.com/gpu=1");
        await("the other one offers two")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(allocatable(OTHER_NODE, "aliyun.com/gpu-mem")).isEqualTo("2"));

        offer("aliyun");

        await("ours says why it offers nothing")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(pluginLog())
                                .contains(
                                        "aliyun.com/gpu-mem is offered on node gpu-node-2 by another device plugin"));
        assertThat(pods.gpuOfNew("one", "aliyun.com/gpu-mem: 1")).isNotEmpty();
        assertThat(allocatable(OTHER_NODE, "aliyun.com/gpu-mem")).isEqualTo("2");
    }

    @Test
    @Order(16)
    void whoComesFromGpushareFindsItsResourceAndItsEnvironment() {
        cluster.node("stop", OTHER_NODE, "device-plugin");
        await("ours takes over")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(allocatable(OTHER_NODE, "aliyun.com/gpu-mem")).isEqualTo("30"));

        String one = pods.gpuOfNew("one", "aliyun.com/gpu-mem: 5");
        assertThat(pods.gpuOfNew("two", "aliyun.com/gpu-mem: 12")).isNotEqualTo(one);
        assertThat(pods.gpuOfNew("three", "aliyun.com/gpu-mem: 3")).isNotEqualTo(one);
        assertThat(pods.exec("three", "sh", "-c", "env | grep ^ALIYUN_COM_GPU_MEM | sort").lines())
                .containsExactly(
                        "ALIYUN_COM_GPU_MEM_CONTAINER=3",
                        "ALIYUN_COM_GPU_MEM_DEV=15",
                        "ALIYUN_COM_GPU_MEM_IDX=1",
                        "ALIYUN_COM_GPU_MEM_POD=3");
    }

    @Test
    @Order(17)
    void whoComesFromMetagpuFindsItsResourceAndItsEnvironment() {
        offer("metagpu");
        await("the node offers metagpus")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(allocatable(OTHER_NODE, "cnvrg.io/metagpu")).isEqualTo("200"));

        String one = pods.gpuOfNew("one", "cnvrg.io/metagpu: 80");
        assertThat(pods.gpuOfNew("two", "cnvrg.io/metagpu: 80")).isNotEqualTo(one);
        assertThat(pods.exec("one", "sh", "-c", "echo $METAGPU_MAX_MEM")).isEqualTo("12288");
        assertThat(pods.exec("one", "sh", "-c", "echo $CNVRG_META_GPU_DEVICES").split(","))
                .hasSize(80);
        assertThat(pods.exec("one", "mgctl", "get", "processes"))
                .contains("one   fractions", "/12288", " 80");

        // Twice 20 are free.
        pods.create("three", "cnvrg.io/metagpu: 40");
        await("it waits for one GPU")
                .atMost(SOON)
                .untilAsserted(
                        () -> assertThat(pods.eventsOf("three")).contains("No GPU has room"));
        pods.kubectl("delete", "pod", "one", "--grace-period=1");
        assertThat(pods.gpuOf("three")).isEqualTo(one);
    }

    @Test
    @Order(18)
    void whereOurSchedulerIsTurnedOnAPodIsPlacedBeforeItIsBoundAndElseWaitsUnbound() {
        String before = pods.gpuOfNew("before", "cnvrg.io/metagpu: 80");

        InClusterInstallation.placeByOurScheduler(cluster);

        String one = pods.gpuOfNew("one", "cnvrg.io/metagpu: 80");
        assertThat(one).isNotEqualTo(before);
        assertThat(pods.pod("one").at("/spec/schedulerName").asText())
                .isEqualTo("gpusharing-scheduler");
        assertThat(pods.pod("one").at("/metadata/annotations").path("gpusharing.io/placement"))
                .hasToString(
                        "\"%s;cuda=%s\""
                                .formatted(pods.pod("one").at("/metadata/uid").asText(), one));

        // Twice 20 are free.
        pods.create("three", "cnvrg.io/metagpu: 40");
        await("it waits for one GPU")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(pods.eventsOf("three"))
                                .contains("no single GPU has 40 of 100 free"));
        assertThat(pods.pod("three").at("/spec/nodeName").isMissingNode()).isTrue();

        pods.kubectl("delete", "pod", "before", "--grace-period=1");
        assertThat(pods.gpuOf("three")).isEqualTo(before);
    }

    @Test
    @Order(19)
    void aGpuAndAHalfAreOneWholeAndHalfOfAnotherOrNeither() {
        String one = pods.gpuOfNew("large", "cnvrg.io/metagpu: 90");
        String other = pods.gpuOfNew("other", "cnvrg.io/metagpu: 20");
        assertThat(other).isNotEqualTo(one);
        assertThat(pods.gpuOfNew("small", "cnvrg.io/metagpu: 10")).isEqualTo(one);
        pods.kubectl("delete", "pod", "large", "--grace-period=1");

        // 90 and 80 are free, and no GPU is idle.
        pods.create("more", "cnvrg.io/metagpu: 150");
        await("it waits for both")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(pods.eventsOf("more"))
                                .contains("does not have 1 whole GPU and, of another, 50 of 100"));
        pods.kubectl("delete", "pod", "other", "--grace-period=1");

        assertThat(pods.seenBy("more")).containsExactlyInAnyOrder(one, other);
        assertThat(pods.grants()).contains("more cuda 100 15360", "more cuda 50 7680");
    }

    @Test
    @Order(20)
    void eachOfTwentyPodsAtOnceSeesTheGpuThatItsAnnotationNames() {
        List<String> names = IntStream.range(0, 20).mapToObj(i -> "pod-" + i).toList();
        names.forEach(name -> pods.create(name, "cnvrg.io/metagpu: 10"));

        var podsOf = new HashMap<String, Integer>();
        for (String name : names) {
            String gpu = pods.gpuOf(name);
            podsOf.merge(gpu, 1, Integer::sum);
            JsonNode pod = pods.pod(name);
            assertThat(pod.at("/metadata/annotations").path("gpusharing.io/placement").asText())
                    .isEqualTo("%s;cuda=%s".formatted(pod.at("/metadata/uid").asText(), gpu));
        }
        assertThat(podsOf.values()).containsExactly(10, 10);
    }

    @Test
    @Order(21)
    void itPlacesNobodyOnAGpuThatHasFailed() {
        String gpu = pods.gpuOfNew("first", vcuda(50, 15));

        assertThat(pods.gpuOfNew("second", vcuda(50, 15))).isEqualTo(gpu);
        pods.create("third", vcuda(50, 15));
        await("the node's other GPU has failed")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(pods.eventsOf("third"))
                                .contains("Insufficient tencent.com/vcuda-core"));
    }

    /** Of a pod, while its kubelet does not run. */
    private static void killProcesses(String pod) {
        cluster.node(
                "on",
                NODE,
                "sh",
                "-c",
                "for i in $(grep -ls %s /proc/[0-9]*/cgroup | cut -d / -f 3); do kill -KILL $i || true; done"
                        .formatted(pods.pod(pod).at("/metadata/uid").asText()));
    }

    private static String vcuda(int core, int memory) {
        return "tencent.com/vcuda-core: "
                + core
                + (memory > 0 ? ", tencent.com/vcuda-memory: " + memory : "");
    }

    /** The other node offers its GPUs by a dialect of its own. */
    private static void offer(String dialect) {
        cluster.kubectl()
                .run(
                        "label",
                        "node",
                        OTHER_NODE,
                        "--overwrite",
                        "gpusharing.io/gpus=shared",
                        "gpusharing.io/dialect=" + dialect)
                .orFail();
        cluster.kubectl()
                .run(
                        "delete",
                        "pods",
                        "--namespace=gpusharing-system",
                        "--selector=app.kubernetes.io/component=device-plugin",
                        "--field-selector=spec.nodeName=" + OTHER_NODE)
                .orFail();
    }

    /** Of the other node. */
    private static String pluginLog() {
        return cluster.kubectl()
                .run(
                        "logs",
                        "--namespace=gpusharing-system",
                        cluster.kubectl()
                                .run(
                                        "get",
                                        "pods",
                                        "--namespace=gpusharing-system",
                                        "--selector=app.kubernetes.io/component=device-plugin",
                                        "--field-selector=spec.nodeName=" + OTHER_NODE,
                                        "--output=name")
                                .text())
                .text();
    }

    private static String allocatable(String resource) {
        return allocatable(NODE, resource);
    }

    private static String allocatable(String node, String resource) {
        return api.get("/api/v1/nodes/" + node)
                .orFail()
                .path("status")
                .path("allocatable")
                .path(resource)
                .asText();
    }
}
