package io.gpusharing.e2e.story;

import static io.gpusharing.e2e.story.GpuPods.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InClusterInstallation;
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
 * Pods that share this computer's GPU by NVIDIA's own MPS. The GPU's compute mode stays as it is.
 * {@link MpsIT} is about the same without a GPU.
 */
@Tag("gpu")
@Order(3)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(RealNodes.OfTheRun.class)
@EnabledIfEnvironmentVariable(
        named = "GPU",
        matches = "real",
        disabledReason = "NVIDIA's MPS needs its driver; tools/e2e-node MpsIT has a stand-in")
class GpuMpsIT {

    private static final String TEAM = "inference";
    private static final String NODE = RealNodes.FIRST;

    /** Of whatever GPU: 2 GiB, of which a context of CUDA takes some. */
    private static final int GIVEN_MIB = 2048;

    private static final String QUARTER =
            "tencent.com/vcuda-core: 25, tencent.com/vcuda-memory: " + GIVEN_MIB / 256;

    private static TestCluster cluster;
    private static Api api;
    private static GpuPods pods;

    /** What one has that shares with nobody. */
    private static int multiprocessors;

    /** That take a kernel a millisecond. */
    private static long steps;

    @BeforeAll
    static void start(RealNodes nodes) {
        cluster = nodes.cluster();
        api = nodes.api();
        nodes.installation().awaitScheduler();
        Team.create(cluster, api, TEAM);
        pods = new GpuPods(cluster, api, TEAM, GpuWork.IMAGE);
        // NVIDIA's runtime brings the control program along; there is no driver's container.
        InClusterInstallation.shareByMps(
                cluster, NODE, "provider.driverRoot=", "provider.mps.computeMode=Unchanged");
        await("the node serves MPS")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(cluster.kubectl().run("get", "gpunode", NODE).text())
                                .contains("Cooperative"));
        run("whole", "tencent.com/vcuda-core: 100", "gpu-program see; gpu-program calibrate");
        multiprocessors =
                GpuWork.said(pods, "whole", "multiprocessors").path("multiprocessors").asInt();
        steps = GpuWork.said(pods, "whole", "steps").path("steps").asLong();
        leaveNoPod();
    }

    @AfterEach
    void deletePods() {
        leaveNoPod();
    }

    private static void leaveNoPod() {
        pods.kubectl("delete", "pods", "--all", "--grace-period=5");
        await("nobody holds a GPU").atMost(SOON).until(pods::grants, List::isEmpty);
    }

    @Test
    @Order(1)
    void podsOfOneBudgetShareAGpuWithinTheirLimits() {
        String look = "gpu-program see; gpu-program allocate 64; sleep 3600";
        run("first", QUARTER, look);
        run("second", QUARTER, look);

        assertThat(pods.gpuOf("first")).isEqualTo(pods.gpuOf("second"));
        for (String pod : List.of("first", "second")) {
            JsonNode seen = GpuWork.said(pods, pod, "devices");
            assertThat(seen.path("right").asBoolean()).as(pod + " computes").isTrue();
            assertThat(seen.path("multiprocessors").asInt())
                    .as("of %d, a quarter and what it is rounded by", multiprocessors)
                    .isBetween(1, multiprocessors / 4 + 4);
            assertThat(GpuWork.said(pods, pod, "allocatedMiB").path("allocatedMiB").asInt())
                    .as("MiB, without those of its context")
                    .isBetween(GIVEN_MIB / 2, GIVEN_MIB);
        }
    }

    @Test
    @Order(2)
    void aPodThatIsDeletedIsEndedByItsDaemonAndItsNeighbourComputesOn() {
        JsonNode beat = victimAndNeighbour();

        pods.kubectl("delete", "pod", "victim", "--grace-period=6");

        GpuWork.awaitBeatAfter(pods, "neighbour", beat);
        GpuWork.awaitBeatAfter(pods, "neighbour", GpuWork.said(pods, "neighbour", "beat"));
    }

    @Test
    @Order(3)
    void severalThatAreDeletedAtOnceAreEndedOneAfterTheOther() {
        JsonNode beat = victimAndNeighbour();
        run("another", QUARTER, spin());
        GpuWork.said(pods, "another", "spins");

        pods.kubectl("delete", "pods", "victim", "another", "--grace-period=6");

        GpuWork.awaitBeatAfter(pods, "neighbour", beat);
        GpuWork.awaitBeatAfter(pods, "neighbour", GpuWork.said(pods, "neighbour", "beat"));
    }

    @Test
    @Order(4)
    void aKillWithoutNoticeEndsTheNeighbourAndWhoComesNextComputes() {
        victimAndNeighbour();

        cluster.node("on", NODE, "pkill", "-KILL", "-f", "[C]udaProgram spin");

        assertThat(GpuWork.said(pods, "neighbour", "failed").path("answer").asInt()).isPositive();
        run("next", QUARTER, "gpu-program see; sleep 3600");
        assertThat(GpuWork.said(pods, "next", "devices").path("right").asBoolean()).isTrue();
    }

    /** The neighbour's beat, once both compute on one GPU. */
    private static JsonNode victimAndNeighbour() {
        run("victim", QUARTER, spin());
        run("neighbour", QUARTER, GpuWork.holding(0));
        GpuWork.said(pods, "victim", "spins");
        assertThat(pods.gpuOf("victim")).isEqualTo(pods.gpuOf("neighbour"));
        return GpuWork.said(pods, "neighbour", "beat");
    }

    /** As the first process of its container a shell ignores SIGTERM. */
    private static String spin() {
        return "gpu-program spin %d 3600; sleep 3600".formatted(steps);
    }

    private static void run(String name, String limits, String command) {
        ObjectNode pod = GpuWork.pod(name, limits, command);
        ((ObjectNode) pod.get("spec")).put("terminationGracePeriodSeconds", 10);
        api.create(TEAM, pod).orFail();
    }
}
