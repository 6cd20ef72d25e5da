package io.gpusharing.e2e.scheduling;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Chart;
import io.gpusharing.e2e.installation.PlacingScheduler;
import io.gpusharing.e2e.installation.SimulatedGpuNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Two nodes of two GPUs each. A real kube-scheduler counts per node, and our extender per GPU; the
 * nodes and their device plugins are simulated.
 */
class PlacementIT {

    private static final Duration SOON = Duration.ofSeconds(30);

    private static TestCluster cluster;
    private static PlacingScheduler scheduler;
    private static PlacedPods pods;
    private static SimulatedGpuNode first;
    private static SimulatedGpuNode second;

    @BeforeAll
    static void start() {
        cluster = TestCluster.start(Repository.root().resolve(".run/placement"));
        Chart.createKinds(cluster);
        first = new SimulatedGpuNode(cluster.client(), "gpu-node-1", 2);
        second = new SimulatedGpuNode(cluster.client(), "gpu-node-2", 2);
        first.create();
        second.create();
        pods = new PlacedPods(cluster, "placement");
        priorityClass("lowest", -200);
        priorityClass("low", -100);
        priorityClass("high", 1_000);
        scheduler = PlacingScheduler.on(cluster);
    }

    private static void priorityClass(String name, int value) {
        cluster.kubectl().run("create", "priorityclass", name, "--value=" + value).orFail();
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @AfterEach
    void deletePods() {
        pods.deleteAll();
    }

    private static void bound(String pod) {
        await(pod + " is bound").atMost(SOON).until(() -> pods.gpuOf(pod) != null);
    }

    @Test
    void twoHalvesShareAGpuAndAThirdGoesToAnother() {
        pods.create("first", 50, 30);
        bound("first");
        pods.create("second", 50, 30);
        bound("second");
        pods.create("third", 50, 30);
        bound("third");

        assertThat(pods.gpuOf("second")).isEqualTo(pods.gpuOf("first"));
        assertThat(pods.gpuOf("third")).isNotEqualTo(pods.gpuOf("first"));
        assertThat(pods.gpuOf("first"))
                .endsWith("-gpu-" + pods.annotation("first", "tencent.com/predicate-gpu-idx-0"));
        assertThat(pods.annotation("first", "tencent.com/gpu-assigned")).isEqualTo("true");
    }

    @Test
    void wherePartsOfTwoGpusAreFreeAPodThatNeedsOneWaitsAndIsToldWhy() {
        for (int i = 1; i <= 4; i++) {
            pods.create("large-" + i, 60, 15);
        }
        await("all four are bound").atMost(SOON).until(() -> pods.waiting() == 0);
        assertThat(pods.held().values()).containsOnly(60L).hasSize(4);

        // Each node has 80 free, and the scheduler's own view finds room.
        pods.create("fifth", 60, 15);
        await("it is told why it waits")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(pods.whyItWaits("fifth"))
                                .contains("2 no single GPU has 60 of 100 and 3840 MiB free"));
        await("it is told in numbers, too")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(pods.placement("fifth"))
                                .isEqualTo(
                                        "False NoRoom no single GPU has 60 of 100 and 3840 MiB free: of 4 GPUs on 2 nodes that fit otherwise, most is free of one on gpu-node-1, 40 of 100 and 11520 MiB"));
        pods.create("small", 40, 15);
        bound("small");

        pods.delete("large-3");
        bound("fifth");
        await("it is told that it was placed")
                .atMost(SOON)
                .untilAsserted(
                        () -> assertThat(pods.placement("fifth")).startsWith("True Placed "));
        assertThat(pods.held().values()).allMatch(held -> held <= 100);
    }

    @Test
    void whoNamesOurSchedulerDoesNotComeToANodeOfAnotherProvider() {
        createNode("foreign", "tencent.com/vcuda-core", 200);
        try {
            // Four fit on ours.
            for (int i = 1; i <= 5; i++) {
                pods.create("pod-" + i, 100, 0);
            }

            await("one is told that it finds no room there")
                    .atMost(SOON)
                    .untilAsserted(() -> {
                        assertThat(pods.waiting()).isEqualTo(1);
                        assertThat(
                                        pods.all().stream()
                                                .map(pod -> pod.getMetadata().getName())
                                                .map(pods::whyItWaits))
                                .anyMatch(why ->
                                        why.contains("1 its GPUs are not shared by GPUSharing"));
                    });
            assertThat(pods.all())
                    .extracting(pod -> pod.getSpec().getNodeName())
                    .doesNotContain("foreign");
        } finally {
            pods.deleteAll();
            cluster.client().nodes().withName("foreign").delete();
        }
    }

    /** With the devices of a plugin that nobody simulates. */
    private static void createNode(String name, String resource, int units) {
        Node other = cluster.client().nodes().withName("gpu-node-1").get();
        var amounts =
                Map.of(
                        "cpu",
                        new Quantity("8"),
                        "memory",
                        new Quantity("32Gi"),
                        "pods",
                        new Quantity("110"),
                        resource,
                        new Quantity(Integer.toString(units)));
        cluster.client()
                .nodes()
                .resource(
                        new NodeBuilder(other)
                                .withMetadata(
                                        new ObjectMetaBuilder()
                                                .withName(name)
                                                .withLabels(other.getMetadata().getLabels())
                                                .withAnnotations(
                                                        other.getMetadata().getAnnotations())
                                                .build())
                                .editStatus()
                                .withCapacity(amounts)
                                .withAllocatable(amounts)
                                .endStatus()
                                .build())
                .create();
    }

    @Test
    void podsOfTwoBudgetsNeverShareAnMpsGpuAndAThirdWaitsAndIsToldWhy() {
        createNode("mps", "aliyun.com/gpu-mem", 30);
        new SimulatedGpuNode(cluster.client(), "mps", 2, "Cooperative").create();
        try {
            // The extender does not know that the others lack what the pods ask for.
            for (int i = 1; i <= 4; i++) {
                pods.create("whole-" + i, 100, 0);
                bound("whole-" + i);
            }
            for (String pod : List.of("a-1", "b-1", "a-2", "b-2")) {
                pods.createAliyun(pod, 4, "team-" + pod.charAt(0));
                bound(pod);
            }
            assertThat(pods.gpuOf("a-2")).isEqualTo(pods.gpuOf("a-1"));
            assertThat(pods.gpuOf("b-2"))
                    .isEqualTo(pods.gpuOf("b-1"))
                    .isNotEqualTo(pods.gpuOf("a-1"));

            // Each GPU has 7 GiB left.
            pods.createAliyun("c-1", 4, "team-c");
            String why =
                    "each GPU that has room for it is shared by pods that it may not share one with";
            await("it is told why it waits")
                    .atMost(SOON)
                    .untilAsserted(() -> assertThat(pods.whyItWaits("c-1")).contains("1 " + why));
            await("by the extender, too")
                    .atMost(SOON)
                    .untilAsserted(() ->
                            assertThat(pods.placement("c-1")).isEqualTo("False NoRoom " + why));

            String freed = pods.gpuOf("a-1");
            pods.delete("a-1");
            pods.delete("a-2");
            bound("c-1");
            assertThat(pods.gpuOf("c-1")).isEqualTo(freed);
        } finally {
            pods.deleteAll();
            cluster.kubectl().run("delete", "node/mps", "gpunode/mps").orFail();
        }
    }

    @Test
    void whoComesFromGpushareIsPlacedByMemoryAndFindsItsAnnotations() {
        createNode("gpushare", "aliyun.com/gpu-mem", 30);
        var gpushare = new SimulatedGpuNode(cluster.client(), "gpushare", 2);
        gpushare.create();
        try {
            pods.createAliyun("first", 9);
            bound("first");
            pods.createAliyun("second", 9);
            bound("second");
            assertThat(pods.gpuOf("second")).isNotEqualTo(pods.gpuOf("first"));

            // Twice 6 are free.
            pods.createAliyun("third", 9);
            await("it is told why it waits")
                    .atMost(SOON)
                    .untilAsserted(() ->
                            assertThat(pods.whyItWaits("third"))
                                    .contains("1 no single GPU has 9216 MiB free"));
            assertThat(pods.gpuOf("first"))
                    .isEqualTo(
                            "gpushare-gpu-" + pods.annotation("first", "ALIYUN_COM_GPU_MEM_IDX"));
            assertThat(pods.annotation("first", "ALIYUN_COM_GPU_MEM_DEV")).isEqualTo("15");
            assertThat(pods.annotation("first", "ALIYUN_COM_GPU_MEM_POD")).isEqualTo("9");
            assertThat(pods.annotation("first", "ALIYUN_COM_GPU_MEM_ASSIGNED")).isEqualTo("true");
            assertThat(pods.annotation("first", "ALIYUN_COM_GPU_MEM_ASSUME_TIME"))
                    .matches("\\d{19}");
        } finally {
            pods.deleteAll();
            cluster.kubectl().run("delete", "node/gpushare", "gpunode/gpushare").orFail();
        }
    }

    @Test
    void podsOfAGroupShareOneGpuAndWhoFindsNoRoomThereWaits() {
        boundInGroup("train", 30);
        String shared = requireNonNull(pods.gpuOf("train"));
        pods.create("other", 30, 1);
        bound("other");
        boundInGroup("evaluate", 30);
        assertThat(pods.gpuOf("evaluate")).isEqualTo(shared);

        // Three other GPUs are idle.
        pods.createInGroup("serve", 30, "g");
        await("it is told why it waits")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(pods.whyItWaits("serve"))
                                .contains(
                                        "1 the GPU of the pods with which it is to share one does not have 30 of 100 and 256 MiB free",
                                        "1 the pods with which it is to share a GPU are on another one"));

        // A step ends, and so would one that failed.
        pods.delete("evaluate");
        bound("serve");
        assertThat(pods.gpuOf("serve")).isEqualTo(shared);

        pods.delete("train");
        pods.delete("serve");
        await("the group has ended").atMost(SOON).until(() -> pods.all().size() == 1);
        pods.create("most", 70, 1);
        bound("most");
        boundInGroup("again", 60);
        assertThat(pods.gpuOf("again")).isNotEqualTo(pods.gpuOf("most"));
    }

    private static void boundInGroup(String pod, int core) {
        pods.createInGroup(pod, core, "g");
        bound(pod);
    }

    @Test
    void whenADevicePluginTakesBackWhatAnEndedPodHeldTheNextOneIsTriedAtOnce() {
        List<Map<String, Object>> held =
                List.of(
                        Map.of(
                                "podUid", "11111111-2222-3333-4444-555555555555",
                                "namespace", "x",
                                "pod", "ended",
                                "container", "cuda",
                                "kind", "App",
                                "core", 100L,
                                "memoryMiB", 15_360L));
        first.grant(Map.of("gpu-node-1-gpu-0", held, "gpu-node-1-gpu-1", held));
        second.grant(Map.of("gpu-node-2-gpu-0", held, "gpu-node-2-gpu-1", held));
        pods.create("next", 50, 15);
        await("it waits")
                .atMost(SOON)
                .untilAsserted(
                        () -> assertThat(pods.whyItWaits("next")).contains("no single GPU has"));

        // kube-scheduler does not look at GpuNodes; by itself it would try again after minutes.
        second.grant(Map.of());

        bound("next");
        assertThat(pods.gpuOf("next")).startsWith("gpu-node-2");
        await("that the device plugin counts a pod which is not there is told of the other node")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(
                                        cluster.kubectl()
                                                .run("describe", "gpunode", "gpu-node-1")
                                                .orFail())
                                .contains(
                                        "GpusDisagree", "The device plugin counts pod 11111111-"));
        first.grant(Map.of());
    }

    @Test
    void thoseGoWhoseGpuIsWantedThoughTheSchedulerWouldHaveChosenOneOnEach() {
        onOneNode(() -> {
            boundWith("kept-40", 40, "high");
            boundWith("low-1", 30, "low");
            boundWith("low-2", 30, "low");
            boundWith("kept-60", 60, "high");
            // It would go first, and 60 are free in sum with any other of the low ones.
            boundWith("lowest", 40, "lowest");
            String wanted = requireNonNull(pods.gpuOf("low-1"));
            assertThat(pods.gpuOf("low-2")).isEqualTo(wanted);
            assertThat(pods.gpuOf("lowest")).isNotEqualTo(wanted);

            try (KeptRooms kept = KeptRooms.watch(cluster)) {
                pods.create("waiter", 60, "high");

                bound("waiter");
                kept.awaitOneFor("waiter", wanted);
            }
            assertThat(pods.gpuOf("waiter")).isEqualTo(wanted);
            assertThat(pods.bound())
                    .containsExactlyInAnyOrder("kept-40", "kept-60", "lowest", "waiter");
        });
    }

    @Test
    void roomThatIsKeptForOnePodIsGivenToNoOtherUntilThatOneIsGone() {
        onOneNode(() -> {
            pods.createGated("gone-soon");
            KeptRooms.keep(cluster, pods.uid("gone-soon"), "gpu-node-1");
            pods.create("other", 20, "low");
            await("it waits")
                    .atMost(SOON)
                    .untilAsserted(() ->
                            assertThat(pods.whyItWaits("other"))
                                    .contains("is kept for a pod for which others had to go"));
            boundWith("more-important", 20, "high");

            pods.delete("gone-soon");

            bound("other");
            KeptRooms.awaitNone(cluster);
        });
    }

    @Test
    void nobodyGoesWhereThatWouldHelpNobody() {
        onOneNode(() -> {
            for (int i = 1; i <= 2; i++) {
                boundWith("kept-" + i, 50, "high");
                boundWith("low-" + i, 50, "low");
            }

            // Without the low ones there would be 100 of it in sum, and 50 on each.
            pods.create("waiter", 60, "high");

            await("its preemption was tried")
                    .atMost(SOON)
                    .untilAsserted(() ->
                            assertThat(pods.whyItWaits("waiter"))
                                    .contains("preemption: no candidate node for preemption"));
            assertThat(pods.bound())
                    .containsExactlyInAnyOrder("kept-1", "kept-2", "low-1", "low-2");
        });
    }

    @Test
    void aPodThatADisruptionBudgetGuardsIsSparedWhereAnotherOneWillDo() {
        cluster.kubectl()
                .pipe(
                        """
                        apiVersion: policy/v1
                        kind: PodDisruptionBudget
                        metadata: {name: guard, namespace: placement}
                        spec: {minAvailable: 1, selector: {matchLabels: {app: guarded}}}
                        """,
                        "create",
                        "-f",
                        "-")
                .orFail();
        onOneNode(() -> {
            boundWith("guarded", 60, "lowest");
            boundWith("other", 60, "low");

            pods.create("waiter", 90, "high");

            bound("waiter");
            assertThat(pods.bound()).containsExactlyInAnyOrder("guarded", "waiter");
        });
    }

    private static void boundWith(String pod, int core, String priorityClass) {
        pods.create(pod, core, priorityClass);
        bound(pod);
    }

    private static void onOneNode(Runnable test) {
        cluster.kubectl().run("cordon", "gpu-node-2").orFail();
        try {
            test.run();
        } finally {
            pods.deleteAll();
            cluster.kubectl().run("uncordon", "gpu-node-2").orFail();
        }
    }

    /** On each but the last 40 of both GPUs are free, and on that one a GPU is. */
    @Test
    void ofAThousandNodesTheOneThatFitsIsTakenAtTheFirstTryAndNobodyIsEvicted() throws Exception {
        for (int i = 1; i <= 4; i++) {
            boundWith("low-" + i, 60, "low");
        }
        List<String> names =
                IntStream.rangeClosed(3, 1_000).mapToObj("gpu-node-%04d"::formatted).toList();
        try {
            ofEach(names, name -> createFragmented(name, name.equals(names.getLast())));
            await("the extender has read all of them")
                    .atMost(SOON)
                    .until(() ->
                            scheduler.shows("gpusharing_scheduler_gpus{mode=\"idle\"} 1.0")
                                    && scheduler.shows(
                                            "gpusharing_scheduler_gpus{mode=\"shared\"} 1999.0"));
            String waiter = pods.manifest("waiter", 60, 1);
            pods.createAll(
                    List.of(
                            waiter.replace(
                                    "spec:",
                                    "spec:\n  priorityClassName: high\n  tolerations: [{operator: Exists}]")));

            bound("waiter");
            assertThat(pods.gpuOf("waiter")).startsWith(names.getLast());
            assertThat(pods.bound())
                    .containsExactlyInAnyOrder("low-1", "low-2", "low-3", "low-4", "waiter");
            await("that it was placed is told, and no try before")
                    .atMost(SOON)
                    .untilAsserted(
                            () -> assertThat(pods.eventsOf("waiter")).containsExactly("Scheduled"));
        } finally {
            pods.deleteAll();
            ofEach(names, PlacementIT::deleteNode);
        }
    }

    /** Many requests at a time, each of which has to succeed. */
    private static void ofEach(List<String> names, Consumer<String> request) throws Exception {
        try (var requests = Executors.newFixedThreadPool(16)) {
            for (var done :
                    requests.invokeAll(
                            names.stream()
                                    .map(name -> Executors.callable(() -> request.accept(name)))
                                    .toList())) {
                done.get();
            }
        }
    }

    private static void deleteNode(String name) {
        cluster.client()
                .genericKubernetesResources("gpusharing.io/v1alpha1", "GpuNode")
                .withName(name)
                .delete();
        cluster.client().nodes().withName(name).delete();
    }

    private static void createFragmented(String name, boolean fits) {
        var amounts =
                Map.of(
                        "cpu", new Quantity("8"),
                        "memory", new Quantity("32Gi"),
                        "pods", new Quantity("110"),
                        "tencent.com/vcuda-core", new Quantity("200"),
                        "tencent.com/vcuda-memory", new Quantity("120"));
        cluster.client()
                .nodes()
                .resource(
                        new NodeBuilder()
                                .withNewMetadata()
                                .withName(name)
                                // A kubelet is simulated where a pod is to end.
                                .addToAnnotations("kwok.x-k8s.io/node", fits ? "fake" : "none")
                                .endMetadata()
                                .withNewStatus()
                                .withCapacity(amounts)
                                .withAllocatable(amounts)
                                .endStatus()
                                .build())
                .create();
        var held =
                List.of(
                        Map.<String, Object>of(
                                "podUid",
                                        UUID.nameUUIDFromBytes(name.getBytes(US_ASCII)).toString(),
                                "namespace", "elsewhere",
                                "pod", "there",
                                "container", "cuda",
                                "kind", "App",
                                "core", 60L,
                                "memoryMiB", 3_840L));
        String gpu = name + "-gpu-";
        new SimulatedGpuNode(cluster.client(), name, 2)
                .create(fits ? Map.of(gpu + 0, held) : Map.of(gpu + 0, held, gpu + 1, held));
    }

    @Test
    void fiftyAtOnceNeverOverbookThoughTheExtenderAndTheSchedulerAreKilledMeanwhile() {
        long seed = System.nanoTime();
        var random = new Random(seed);
        var manifests = new ArrayList<String>();
        for (int i = 0; i < 50; i++) {
            // Half of them as admission leaves them, by whose label they are followed then.
            manifests.add(
                    pods.manifest("pod-" + i, 5 + random.nextInt(60), 1)
                            .replace(
                                    "name: pod-",
                                    (i % 2 == 0 ? "labels: {gpusharing.io/metered: 'true'}, " : "")
                                            + "name: pod-"));
        }
        pods.createAll(manifests.subList(0, 25));
        scheduler.restartExtender();
        pods.createAll(manifests.subList(25, 50));
        scheduler.restartScheduler();
        scheduler.awaitReady();

        await("nothing more fits (seed %d)".formatted(seed))
                .atMost(Duration.ofMinutes(2))
                .untilAsserted(() -> {
                    long smallest =
                            pods.all().stream()
                                    .filter(pod -> pod.getSpec().getNodeName() == null)
                                    .mapToLong(PlacedPods::core)
                                    .min()
                                    .orElse(Long.MAX_VALUE);
                    assertThat(pods.held()).hasSize(4);
                    assertThat(pods.held().values())
                            .as("seed %d", seed)
                            .allMatch(held -> held <= 100)
                            .allMatch(held -> 100 - held < smallest);
                });
    }
}
