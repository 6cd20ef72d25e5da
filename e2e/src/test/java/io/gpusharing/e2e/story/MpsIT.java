package io.gpusharing.e2e.story;

import static io.gpusharing.e2e.story.GpuPods.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InClusterInstallation;
import io.gpusharing.e2e.measurement.MpsClients;
import io.gpusharing.e2e.measurement.MpsClients.Event;
import io.gpusharing.e2e.measurement.MpsClients.What;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Pods that share a GPU by MPS, from the values of the chart to the end of a client: real
 * containers of a real kubelet and containerd, whose programs are clients of a stand-in for
 * NVIDIA's MPS. They ignore SIGTERM and work, so that a kill ends all on their GPU.
 */
@Tag("node")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MpsIT {

    private static final String TEAM = "inference";
    private static final String OTHER_TEAM = "notebooks";
    private static final String NODE = "gpu-node-1";
    private static final String QUARTER =
            "tencent.com/vcuda-core: 25, tencent.com/vcuda-memory: 10";

    private static TestCluster cluster;
    private static Api api;
    private static GpuPods pods;
    private static GpuPods others;

    private final Instant begun = Instant.now();

    @BeforeAll
    static void start() {
        cluster =
                TestCluster.start(
                        Repository.root().resolve(".run/node/cluster"), Map.of("GPUS", "2"));
        InClusterInstallation.on(cluster);
        InClusterInstallation.shareByMps(cluster, NODE);
        api = new Api(cluster.client());
        Team.create(cluster, api, TEAM);
        Team.create(cluster, api, OTHER_TEAM);
        pods = new GpuPods(cluster, api, TEAM);
        others = new GpuPods(cluster, api, OTHER_TEAM);
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @AfterEach
    void deletePods() {
        for (GpuPods team : List.of(pods, others)) {
            team.kubectl("delete", "pods", "--all", "--grace-period=1");
        }
        await("nobody holds a GPU").atMost(SOON).until(pods::grants, List::isEmpty);
    }

    @Test
    @Order(1)
    void podsOfOneBudgetShareAGpuAndAreShownTheSocketOfItsDaemonAlone() {
        String gpu = gpuOfWorking("first");
        assertThat(gpuOfWorking("second")).isEqualTo(gpu);

        awaitLife("first", What.Begins);
        awaitLife("second", What.Begins);
        assertThat(pods.exec("first", "env").lines())
                .contains(
                        "CUDA_MPS_PIPE_DIRECTORY=/run/gpusharing/mps",
                        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25",
                        "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=2560M");
        assertThat(pods.exec("first", "ls", "-A", "/run/gpusharing/mps")).isEqualTo("control");
        assertThat(cluster.kubectl().run("get", "gpunode", NODE).orFail()).contains("Cooperative");
    }

    @Test
    @Order(1)
    void theExampleRunsSideBySide() throws IOException {
        api.create(TEAM, Files.readString(Repository.root().resolve("examples/mps.yaml"))).orFail();
        try {
            List<String> replicas =
                    await("both are there")
                            .atMost(SOON)
                            .until(MpsIT::replicas, names -> names.size() == 2);

            assertThat(pods.gpuOf(replicas.getFirst())).isEqualTo(pods.gpuOf(replicas.getLast()));
            assertThat(pods.exec(replicas.getFirst(), "env"))
                    .contains("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25");
        } finally {
            pods.kubectl("delete", "deployment", "side-by-side");
        }
    }

    private static List<String> replicas() {
        return pods.kubectl("get", "pods", "--selector=app=side-by-side", "--output=name")
                .lines()
                .map(name -> name.substring("pod/".length()))
                .toList();
    }

    @Test
    @Order(2)
    void anotherBudgetGetsAnotherGpuAndWhoFindsNoneIsToldWhyItWaits() {
        String gpu = gpuOfWorking("first");
        work(OTHER_TEAM, "other");
        String next = others.gpuOf("other");
        assertThat(next).isNotEqualTo(gpu);

        api.create(TEAM, inTurns("second")).orFail();
        await("it is told why it waits")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(pods.eventsOf("second"))
                                .contains("shared by pods that it may not share one with"));

        others.kubectl("delete", "pod", "other", "--grace-period=1");
        assertThat(pods.gpuOf("second")).isEqualTo(next);
        assertThat(pods.exec("second", "env")).doesNotContain("CUDA_MPS");
    }

    @Test
    @Order(3)
    void anUpgradeEndsNoClientAndBringsACheck() {
        String gpu = gpuOfWorking("first");
        awaitLife("first", What.Begins);
        String daemons = programs("mps");
        String plugin = programs("device-plugin");

        InClusterInstallation.upgradeWithMps(cluster);

        assertThat(programs("device-plugin")).isNotEqualTo(plugin);
        assertThat(programs("mps")).isEqualTo(daemons);
        assertThat(gpuOfWorking("second")).isEqualTo(gpu);
        awaitLife("second", What.Begins);
        assertThat(lifeOf("first")).containsExactly(What.Begins);
        assertThat(between("first", What.Begins, "second")).contains(What.Checks);
    }

    @Test
    @Order(4)
    void aPodThatIsDeletedIsEndedByItsDaemonAndItsNeighbourWorksOn() {
        twoWorkOnOneGpu();

        pods.kubectl("delete", "pod", "victim", "--grace-period=6");

        assertThat(lifeOf("victim")).containsExactly(What.Begins, What.Terminated);
        assertThat(lifeOf("neighbour")).containsExactly(What.Begins);
    }

    @Test
    @Order(5)
    void aPodThatIsDeletedByForceIsEndedByItsDaemonToo() {
        twoWorkOnOneGpu();

        pods.kubectl("delete", "pod", "victim", "--force", "--grace-period=0");

        awaitLife("victim", What.Begins, What.Terminated);
        assertThat(lifeOf("neighbour")).containsExactly(What.Begins);
    }

    @Test
    @Order(6)
    void aKillWithoutNoticeEndsTheNeighboursAndNobodyJoinsBeforeACheck() {
        twoWorkOnOneGpu();
        work(OTHER_TEAM, "elsewhere");
        awaitLife("elsewhere", What.Begins);

        cluster.node("on", NODE, "pkill", "-KILL", "-f", "[c]lient work 3600 victim");

        awaitLife("victim", What.Begins, What.Killed);
        awaitLife("neighbour", What.Begins, What.Fails);
        await("its owner is told")
                .atMost(SOON)
                .until(() -> pods.pod("victim").at("/status/phase").asText().equals("Failed"));
        work(TEAM, "next");
        awaitLife("next", What.Begins);
        assertThat(between("victim", What.Killed, "next")).contains(What.Checks);
        assertThat(lifeOf("elsewhere")).containsExactly(What.Begins);
    }

    private void twoWorkOnOneGpu() {
        String gpu = gpuOfWorking("victim");
        assertThat(gpuOfWorking("neighbour")).isEqualTo(gpu);
        awaitLife("victim", What.Begins);
        awaitLife("neighbour", What.Begins);
    }

    private static String gpuOfWorking(String name) {
        work(TEAM, name);
        return pods.gpuOf(name);
    }

    /** As the first process of its container it ignores SIGTERM. */
    private static void work(String team, String name) {
        ObjectNode pod = Api.yaml(GpuPods.manifest(name, QUARTER));
        ((ObjectNode) pod.get("spec")).put("restartPolicy", "Never");
        ArrayNode command = ((ObjectNode) pod.at("/spec/containers/0")).putArray("command");
        List.of("nvidia-cuda-mps-control", "client", "work", "3600", name).forEach(command::add);
        api.create(team, pod).orFail();
    }

    private static ObjectNode inTurns(String name) {
        ObjectNode pod = Api.yaml(GpuPods.manifest(name, QUARTER));
        ((ObjectNode) pod.get("metadata"))
                .putObject("annotations")
                .put("request.gpusharing.io/mps", "disabled");
        return pod;
    }

    private void awaitLife(String name, What... life) {
        await("what becomes of " + name)
                .atMost(SOON)
                .untilAsserted(() -> assertThat(lifeOf(name)).containsExactly(life));
    }

    /** What became of the clients of a pod, by their daemon's word. */
    private List<What> lifeOf(String name) {
        return events().filter(event -> event.host().equals(name)).map(Event::what).toList();
    }

    /** What happened on a GPU from an event of one pod until another one joined. */
    private List<What> between(String name, What what, String next) {
        Event begins = only(next, What.Begins);
        Event from = only(name, what);
        return events().filter(event -> event.gpu().equals(begins.gpu()))
                .dropWhile(event -> !event.equals(from))
                .takeWhile(event -> !event.equals(begins))
                .map(Event::what)
                .toList();
    }

    private Event only(String name, What what) {
        List<Event> all =
                events().filter(it -> it.host().equals(name) && it.what() == what).toList();
        assertThat(all).as(name + " " + what).hasSize(1);
        return all.getFirst();
    }

    private Stream<Event> events() {
        return MpsClients.events().stream().filter(event -> event.at().isAfter(begun));
    }

    /** The pods of a program of ours on the nodes. */
    private static String programs(String component) {
        return cluster.kubectl()
                .run(
                        "get",
                        "pods",
                        "--namespace=gpusharing-system",
                        "--selector=app.kubernetes.io/component=" + component,
                        "--output=name")
                .orFail();
    }
}
