package io.gpusharing.e2e.story;

import static io.gpusharing.e2e.story.GpuPods.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.nvml.PhysicalGpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
 * A node whose GPUs are those of this computer hands them out in fractions: what {@link
 * FractionsIT} and {@link NodeStoryIT} tell of fake ones, as far as it is about the GPU. What is
 * expected is what NVML says of the GPUs, however many and whichever they are.
 */
@Tag("gpu")
@Order(1)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(RealNodes.OfTheRun.class)
class GpuSharingIT {

    private static final String TEAM = "sharing";
    private static final String SPENT = "spent";
    private static final String NODE = RealNodes.FIRST;
    private static final String CORE = "tencent.com/vcuda-core";
    private static final String MEMORY = "tencent.com/vcuda-memory";

    private static TestCluster cluster;
    private static Api api;
    private static Ledger ledger;
    private static GpuPods pods;
    private static PluginPods plugin;
    private static List<PhysicalGpu> gpus;

    @BeforeAll
    static void start(RealNodes nodes) {
        cluster = nodes.cluster();
        api = nodes.api();
        ledger = nodes.ledger();
        nodes.installation().awaitScheduler();
        Team.create(cluster, api, TEAM);
        pods = new GpuPods(cluster, api, TEAM, GpuWork.IMAGE);
        plugin = new PluginPods(cluster);
        gpus = GpuWork.gpus();
    }

    @AfterEach
    void deletePods() {
        pods.kubectl("delete", "pods", "--all", "--grace-period=1");
        await("nobody holds a GPU").atMost(SOON).until(pods::grants, List::isEmpty);
    }

    @Test
    @Order(1)
    void withoutALabelNothingIsOffered() {
        assertThat(allocatable(CORE)).isEmpty();
    }

    @Test
    @Order(2)
    void oneLabelAndTheNodeOffersWhatNvmlSaysOfItsGpus() {
        cluster.kubectl().run("label", "node", NODE, "gpusharing.io/gpus=shared").orFail();

        await("the node offers its GPUs")
                .atMost(SOON)
                .untilAsserted(
                        () -> assertThat(allocatable(CORE)).isEqualTo("" + 100 * gpus.size()));
        assertThat(allocatable(MEMORY))
                .isEqualTo("" + gpus.stream().mapToLong(GpuSharingIT::blocks).sum());
        JsonNode told = status().path("gpus");
        assertThat(told).hasSameSizeAs(gpus);
        for (int i = 0; i < gpus.size(); i++) {
            JsonNode gpu = told.get(i);
            assertThat(gpu.path("uuid").asText()).isEqualTo(gpus.get(i).uuid());
            assertThat(gpu.path("model").asText()).isEqualTo(gpus.get(i).model());
            assertThat(gpu.path("memoryMiB").asLong()).isEqualTo(gpus.get(i).memoryMiB());
            assertThat(gpu.path("health").asText()).isEqualTo("Healthy");
        }
        assertThat(status().path("tier").asText()).isEqualTo("TimeSlice");
    }

    @Test
    @Order(3)
    void theExampleRunsOnHalfAGpuThatItPaysFor() throws IOException {
        String example = Files.readString(Repository.root().resolve("examples/pod.yaml"));
        api.create(TEAM, pods.ofItsImage(example)).orFail();

        String gpu = pods.gpuOf("vcuda");
        assertThat(gpus).extracting(PhysicalGpu::uuid).contains(gpu);
        assertThat(pods.exec("vcuda", "cat", "/run/gpusharing/share.json"))
                .contains("\"core\":50", "\"memoryMiB\":3840", gpu);
        JsonNode pod = pods.pod("vcuda");
        assertThat(pod.at("/metadata/annotations").path("gpusharing.io/placement").asText())
                .as("where our scheduler has placed it before it was bound")
                .isEqualTo("%s;cuda=%s".formatted(pod.at("/metadata/uid").asText(), gpu));
        assertThat(charge(TEAM, "vcuda").rate())
                .as("micro-GPUs: the larger part of half the processors and its memory")
                .isEqualTo(Math.max(500_000, 3840 * 1_000_000L / memoryOf(gpu)));
    }

    @Test
    @Order(4)
    void twoHalvesShareEachGpuAndOneMoreWaitsUntilOneHasGone() {
        List<String> halves =
                IntStream.range(0, 2 * gpus.size()).mapToObj(i -> "half-" + i).toList();
        halves.forEach(name -> pods.create(name, half()));
        Map<String, Integer> podsOf = new HashMap<>();
        halves.forEach(name -> podsOf.merge(pods.gpuOf(name), 1, Integer::sum));
        assertThat(podsOf)
                .hasSameSizeAs(gpus)
                .allSatisfy((gpu, count) -> assertThat(count).isEqualTo(2));

        pods.create("waits", half());
        await("it waits")
                .atMost(SOON)
                .untilAsserted(
                        () -> assertThat(pods.eventsOf("waits")).contains("FailedScheduling"));
        assertThat(pods.pod("waits").at("/spec/nodeName").isMissingNode()).isTrue();
        String freed = pods.gpuOf("half-0");
        pods.kubectl("delete", "pod", "half-0", "--grace-period=1");

        assertThat(pods.gpuOf("waits")).isEqualTo(freed);
    }

    @Test
    @Order(5)
    void aContainerThatIsRestartedGetsItsGpuAgain() {
        String gpu = pods.gpuOfNew("first", half());

        pods.killFirstProcess("first");

        await("it runs again")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(pods.restarts("first")).isPositive());
        assertThat(pods.gpuOf("first")).isEqualTo(gpu);
    }

    @Test
    @Order(6)
    void anInitContainerUsesTheGpuOfThoseThatFollowIt() {
        ObjectNode pod = GpuWork.pod("first", half(), "sleep 3600");
        ObjectNode init = pod.at("/spec/containers/0").deepCopy();
        init.put("name", "prepare").putArray("command").add("nvidia-smi").add("-L");
        ((ObjectNode) pod.get("spec")).putArray("initContainers").add(init);
        api.create(TEAM, pod).orFail();

        String gpu = pods.gpuOf("first");
        assertThat(pods.kubectl("logs", "first", "--container=prepare")).contains(gpu);
        assertThat(pods.gpuOfNew("second", half())).isEqualTo(gpu);
    }

    @Test
    @Order(7)
    void whileTheProcessesOfAPodThatWasDeletedByForceLiveNobodyGetsItsGpus() {
        // What cgroup v2 freezes can be killed all the same.
        assumeThat(Path.of("/sys/fs/cgroup/freezer")).as("the freezer of cgroup v1").exists();
        api.create(TEAM, GpuWork.pod("first", allGpus(), GpuWork.holding(100))).orFail();
        GpuWork.said(pods, "first", "beat");
        String uid = pods.pod("first").at("/metadata/uid").asText();
        cluster.node("freeze", NODE, uid);

        pods.kubectl("delete", "pod", "first", "--force", "--grace-period=0");
        pods.create("next", allGpus());
        await("its successor is refused")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(pods.eventsOf("next"))
                                .containsAnyOf("FailedScheduling", "No GPU has room"));
        cluster.node("thaw", NODE, uid);

        assertThat(pods.seenBy("next")).hasSameSizeAs(gpus);
    }

    /** Its own grace is an hour, it ignores the signal, and it computes. */
    @Test
    @Order(8)
    void reclaimTakesTheGpusFromAPodOverItsBudgetForOneWhoseBudgetHasTimeLeft() {
        cluster.createNamespace(SPENT);
        api.create(
                        "",
                        "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: %s}, spec: {namespaces: [%1$s], gpuMinutes: '0.2', onExhausted: Reclaim, minimumRunTime: 2s}}"
                                .formatted(SPENT))
                .orFail();
        ObjectNode stubborn =
                GpuWork.pod("stubborn", allGpus(), "trap '' TERM; " + GpuWork.holding(100));
        ((ObjectNode) stubborn.get("spec")).put("terminationGracePeriodSeconds", 3600);
        api.create(SPENT, stubborn).orFail();
        GpuWork.said(new GpuPods(cluster, api, SPENT), "stubborn", "beat");

        pods.create("waits", allGpus());

        assertThat(pods.seenBy("waits")).hasSameSizeAs(gpus);
        await("its end is in the ledger").atMost(SOON).until(() -> ledger.open(SPENT) == 0);
        assertThat(charge(SPENT, "stubborn").ended())
                .as("it had ended when the other was bound")
                .isBeforeOrEqualTo(
                        Instant.parse(
                                Api.condition(pods.pod("waits"), "PodScheduled")
                                        .path("lastTransitionTime")
                                        .asText()));
    }

    @Test
    @Order(9)
    void allOfItIsChargedToTheSecond() {
        await("every pod's end is in the ledger").atMost(SOON).until(() -> ledger.open() == 0);

        assertThat(ledger.differences()).isEmpty();
        assertThat(ledger.total()).as("micro-GPU-seconds in all").isPositive();
        assertThat(ledger.estimated()).isZero();
    }

    @Test
    @Order(10)
    void restartsOfPluginKubeletAndContainerdDisturbNoProgram() {
        api.create(TEAM, GpuWork.pod("first", half(), GpuWork.holding(100))).orFail();
        JsonNode before = GpuWork.said(pods, "first", "beat");
        String gpu = pods.gpuOf("first");
        String id = pods.pod("first").at("/status/containerStatuses/0/containerID").asText();

        plugin.delete();
        // It ends the way to the ledger as well.
        cluster.node("restart", NODE, "containerd");
        cluster.node("restart", NODE, "kubelet");
        plugin.awaitRollout();

        GpuWork.awaitBeatAfter(pods, "first", before);
        assertThat(pods.gpuOfNew("second", half())).isEqualTo(gpu);
        assertThat(pods.pod("first").at("/status/containerStatuses/0/containerID").asText())
                .isEqualTo(id);
        assertThat(pods.grants()).hasSize(2);
    }

    @Test
    @Order(11)
    void aRebootFailsThePodsOfTheNodeAndTheirSuccessorsGetTheGpus() {
        api.create(TEAM, GpuWork.pod("first", half(), GpuWork.holding(100))).orFail();
        String gpu = pods.gpuOf("first");
        int before = plugin.restarts();

        cluster.node("reboot", NODE);

        await("it has failed")
                .atMost(SOON)
                .until(() -> pods.pod("first").at("/status/phase").asText().equals("Failed"));
        plugin.awaitRestartAfter(before);
        String second = pods.ofItsImage(GpuPods.manifest("second", half()));
        // The webhooks were on that node, too.
        await("it is admitted").atMost(SOON).until(() -> api.create(TEAM, second).accepted());
        assertThat(pods.gpuOf("second")).isEqualTo(gpu);
    }

    private static Ledger.AllocationInterval charge(String namespace, String pod) {
        return await(pod + " is charged")
                .atMost(SOON)
                .until(() -> ledger.allocations(namespace).get(pod), it -> it != null);
    }

    /** Half of a GPU's processors and of its memory, of the smallest one. */
    private static String half() {
        return "%s: 50, %s: %d"
                .formatted(
                        CORE,
                        MEMORY,
                        gpus.stream().mapToLong(GpuSharingIT::blocks).min().orElseThrow() / 2);
    }

    private static String allGpus() {
        return "%s: %d".formatted(CORE, 100 * gpus.size());
    }

    /** Units of vcuda-memory. */
    private static long blocks(PhysicalGpu gpu) {
        return gpu.memoryMiB() / 256;
    }

    private static long memoryOf(String uuid) {
        return gpus.stream()
                .filter(gpu -> gpu.uuid().equals(uuid))
                .findFirst()
                .orElseThrow()
                .memoryMiB();
    }

    private static JsonNode status() {
        return api.get("/apis/gpusharing.io/v1alpha1/gpunodes/" + NODE).orFail().path("status");
    }

    private static String allocatable(String resource) {
        return api.get("/api/v1/nodes/" + NODE)
                .orFail()
                .at("/status/allocatable")
                .path(resource)
                .asText();
    }
}
