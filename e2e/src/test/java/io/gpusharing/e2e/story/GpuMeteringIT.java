package io.gpusharing.e2e.story;

import static io.gpusharing.e2e.story.GpuPods.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InClusterInstallation;
import io.gpusharing.nvml.PhysicalGpu;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What programs do on the GPUs of this computer, and what of it is measured: kernels of a known
 * time at a known period, memory, a result that is known, and ends.
 */
@Tag("gpu")
@Order(2)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(RealNodes.OfTheRun.class)
class GpuMeteringIT {

    private static final String TEAM = "metering";
    private static final String NODE = RealNodes.FIRST;

    /** What lasts for so long is measured to a few percent. */
    private static final long ENOUGH_MICROS = 20_000_000;

    private static final String QUARTER = "tencent.com/vcuda-core: 25, tencent.com/vcuda-memory: 4";
    private static final String WHOLE = "tencent.com/vcuda-core: 100";

    private static TestCluster cluster;
    private static InClusterInstallation services;
    private static Api api;
    private static Ledger ledger;
    private static GpuPods pods;
    private static PluginPods plugin;
    private static List<PhysicalGpu> gpus;
    private static long steps;

    @BeforeAll
    static void start(RealNodes nodes) {
        cluster = nodes.cluster();
        services = nodes.installation();
        api = nodes.api();
        services.awaitScheduler();
        // Another class may have ended the way to it.
        cluster.kubectl()
                .run(
                        "rollout",
                        "status",
                        "statefulset/gpusharing-timekeeper",
                        "--namespace=gpusharing-system",
                        "--timeout=300s")
                .orFail();
        ledger = Ledger.bundled(cluster);
        Team.create(cluster, api, TEAM);
        pods = new GpuPods(cluster, api, TEAM, GpuWork.IMAGE);
        plugin = new PluginPods(cluster);
        gpus = GpuWork.gpus();
        cluster.kubectl()
                .run("label", "node", NODE, "gpusharing.io/gpus=shared", "--overwrite")
                .orFail();
    }

    @AfterEach
    void deletePods() {
        pods.kubectl("delete", "pods", "--all", "--grace-period=1");
        await("nobody holds a GPU").atMost(SOON).until(pods::grants, List::isEmpty);
    }

    @Test
    @Order(1)
    @EnabledIfEnvironmentVariable(
            named = "GPU",
            matches = "real",
            disabledReason = GpuWork.FAKES_COMPUTE_NOTHING)
    void aProgramSeesItsGpuAloneAndComputesRight() {
        run("sees", WHOLE, "gpu-program see; gpu-program calibrate; sleep 3600");

        JsonNode seen = GpuWork.said(pods, "sees", "devices");
        steps = GpuWork.said(pods, "sees", "steps").path("steps").asLong();
        assertThat(seen.path("devices").asInt()).isOne();
        assertThat(seen.path("uuid").asText()).isEqualTo(pods.gpuOf("sees"));
        assertThat(seen.path("right").asBoolean()).as("what it computes").isTrue();
        assertThat(seen.path("totalMiB").asDouble())
                .isCloseTo((double) memory(), within(memory() * 0.05));
        assertThat(steps).isPositive();
    }

    @Test
    @Order(2)
    void whatAProgramAloneDoesIsMeasuredToWithinATenth() {
        run("alone", WHOLE, GpuWork.busy(steps, 50, 1_000));
        GpuWork.said(pods, "alone", "load");

        JsonNode first = measured("alone", MissingNode.getInstance());
        JsonNode second = measured("alone", first);

        assertThat(second.path("basis").asText()).isIn("Process", "Device");
        assertThat(second.path("meter").asText()).isEqualTo("Agent");
        assertThat(busy(first, second)).isCloseTo(0.5, within(0.05));
    }

    /** Of each alone it is only certain what it was at most. */
    @Test
    @Order(3)
    void ofTwoTogetherTheSumIsMeasured() {
        run("more", QUARTER, GpuWork.busy(steps, 60, 500));
        run("less", QUARTER, GpuWork.busy(steps, 20, 500));
        assertThat(pods.gpuOf("more")).isEqualTo(pods.gpuOf("less"));
        GpuWork.said(pods, "more", "load");
        GpuWork.said(pods, "less", "load");

        JsonNode more = measured("more", MissingNode.getInstance());
        JsonNode less = measured("less", MissingNode.getInstance());
        double together = busy(more, measured("more", more)) + busy(less, measured("less", less));

        // The GPU is busy with changing from one to the other, too.
        assertThat(together).isBetween(0.72, 1.0);
        assertThat(known("more").path("busyAtMostPercent").asText()).isNotEmpty();
    }

    @Test
    @Order(4)
    void whoTakesMoreMemoryThanItWasGivenIsTold() {
        // It was given 1024.
        run("greedy", QUARTER, GpuWork.holding(3_000));
        String gpu = pods.gpuOf("greedy");

        await("it is told")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(pods.eventsOf("greedy"))
                                .contains("GpuMemoryExceeded", gpu, "was given 1024"));
    }

    @Test
    @Order(5)
    @EnabledIfEnvironmentVariable(
            named = "GPU",
            matches = "real",
            disabledReason = GpuWork.FAKES_COMPUTE_NOTHING)
    void aProgramThatWritesWhereNothingIsEndsAloneAndItsGpuStaysInUse() {
        run("neighbour", QUARTER, GpuWork.holding(100));
        JsonNode beat = GpuWork.said(pods, "neighbour", "beat");
        run("faulty", QUARTER, "gpu-program fault; echo '{\"status\": '$?'}'; sleep 3600");

        assertThat(GpuWork.said(pods, "faulty", "status").path("status").asInt()).isEqualTo(3);
        await("the plugin has seen the error and says what it is")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(plugin.log())
                                .contains("a GPU stays in use after an error", "XID 31"));
        GpuWork.awaitBeatAfter(pods, "neighbour", beat);
        assertThat(pods.gpuOfNew("next", QUARTER)).isEqualTo(pods.gpuOf("neighbour"));
    }

    /** It ignores the signal, so that it is killed while it computes. */
    @Test
    @Order(6)
    @EnabledIfEnvironmentVariable(
            named = "GPU",
            matches = "real",
            disabledReason = GpuWork.FAKES_COMPUTE_NOTHING)
    void whoComesAfterAPodThatWasDeletedByForceFindsAllMemoryFree() {
        long most = memory() * 6 / 10;
        for (int i = 0; i < gpus.size(); i++) {
            run("first-" + i, WHOLE, "trap '' TERM; " + GpuWork.holding(most));
        }
        for (int i = 0; i < gpus.size(); i++) {
            GpuWork.said(pods, "first-" + i, "beat");
        }

        pods.kubectl("delete", "pod", "first-0", "--force", "--grace-period=0");
        run("next", WHOLE, "gpu-program see; sleep 3600");

        assertThat(GpuWork.said(pods, "next", "devices").path("freeMiB").asDouble())
                .isGreaterThan(memory() * 0.9);
    }

    @Test
    @Order(7)
    void allOfItIsChargedToTheSecond() {
        await("every pod's end is in the ledger").atMost(SOON).until(() -> ledger.open(TEAM) == 0);

        assertThat(ledger.differences(TEAM)).isEmpty();
        assertThat(ledger.chargesByNamespace().get(TEAM)).isPositive();
    }

    private static void run(String name, String limits, String command) {
        ObjectNode pod = GpuWork.pod(name, limits, command);
        api.create(TEAM, pod).orFail();
    }

    /** MiB of the smallest GPU. */
    private static long memory() {
        return gpus.stream().mapToLong(PhysicalGpu::memoryMiB).min().orElseThrow();
    }

    /** Which part of the time it was, between two answers. */
    private static double busy(JsonNode first, JsonNode second) {
        double covered = covered(second) - covered(first);
        return (second.path("measured").asLong() - first.path("measured").asLong()) / covered;
    }

    /** What is measured of a pod, once that is long enough since an earlier answer. */
    private static JsonNode measured(String pod, JsonNode before) {
        return await(pod + " is measured")
                .atMost(Duration.ofMinutes(2))
                .pollInterval(Duration.ofMillis(500))
                .until(
                        () -> known(pod).path("use"),
                        use -> covered(use) - covered(before) >= ENOUGH_MICROS);
    }

    private static long covered(JsonNode use) {
        return use.path("coveredMicroseconds").asLong();
    }

    private static JsonNode known(String name) {
        for (JsonNode pod : services.api().get("/api/v1/usage/pods?namespace=" + TEAM)) {
            if (pod.path("name").asText().equals(name)) {
                return pod;
            }
        }
        return MissingNode.getInstance();
    }
}
