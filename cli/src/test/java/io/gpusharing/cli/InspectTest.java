package io.gpusharing.cli;

import static io.gpusharing.cli.FakeApiServer.GPUNODES;
import static io.gpusharing.cli.FakeApiServer.NODES;
import static io.gpusharing.cli.FakeApiServer.PODS;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.cli.Shell.Answer;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InspectTest {

    private static final String OURS =
            """
            apiVersion: gpusharing.io/v1alpha1
            kind: GpuNode
            metadata: {name: node-a}
            status:
              tier: TimeSlice
              resources: [tencent.com/vcuda-core, tencent.com/vcuda-memory]
              gpus:
              - index: 0
                uuid: GPU-0
                model: NVIDIA H200
                memoryMiB: 15360
                health: Healthy
                mode: Shared
                grants:
                - {podUid: u-1, namespace: team-a, pod: train, container: cuda, kind: App, core: 50, memoryMiB: 3840}
                - {podUid: u-1, namespace: team-a, pod: train, container: load, kind: Init, core: 20, memoryMiB: 1024}
                - {podUid: u-2, namespace: team-b, pod: serve, container: cuda, kind: App, core: 25, memoryMiB: 2048}
              - index: 1
                uuid: GPU-1
                model: NVIDIA H200
                memoryMiB: 15360
                health: Healthy
                mode: Whole
                grants:
                - {podUid: u-3, namespace: team-a, pod: alone, container: cuda, kind: App, core: 100, memoryMiB: 0}
              - {index: 2, uuid: GPU-2, model: NVIDIA H200, memoryMiB: 15360, health: Unhealthy, reason: fell off the bus, mode: Idle}
              - {index: 3, uuid: GPU-3, model: NVIDIA H200, memoryMiB: 15360, health: Healthy, mode: Idle, mig: true}
            """;

    private static final String NODE_A =
            """
            apiVersion: v1
            kind: Node
            metadata: {name: node-a}
            status:
              addresses: [{type: Hostname, address: node-a}, {type: InternalIP, address: 10.0.0.1}]
              allocatable: {tencent.com/vcuda-core: "300", tencent.com/vcuda-memory: "180"}
            """;

    private static final String GPU_MANAGERS =
            """
            apiVersion: v1
            kind: Node
            metadata: {name: node-b}
            status:
              addresses: [{type: InternalIP, address: 10.0.0.2}]
              allocatable: {tencent.com/vcuda-core: "300", tencent.com/vcuda-memory: "180"}
            """;

    private static final String GPUSHARES =
            """
            apiVersion: v1
            kind: Node
            metadata: {name: node-c}
            status:
              addresses: [{type: InternalIP, address: 10.0.0.3}]
              allocatable: {aliyun.com/gpu-mem: "30", aliyun.com/gpu-count: "2"}
            """;

    private static final String NVIDIAS =
            """
            apiVersion: v1
            kind: Node
            metadata: {name: node-d}
            status:
              allocatable: {nvidia.com/gpu: "8"}
            """;

    @TempDir private Path folder;

    private FakeApiServer api;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        api.has(PODS);
        shell = new Shell(api.url(), folder, "2026-11-21T10:00:00Z");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void showsEachGpuOfOurDevicePluginAndItsPods() {
        api.has(GPUNODES, OURS);
        api.has(NODES, NODE_A);

        assertThat(shell.run("inspect"))
                .isEqualTo(
                        new Answer(
                                """
                                NODE     GPU   MODEL         STATE       CORE      MEMORY(MiB)   PODS
                                node-a   0     NVIDIA H200   Shared      75/100    5888/15360    team-a/train,team-b/serve
                                node-a   1     NVIDIA H200   Whole       100/100   15360/15360   team-a/alone
                                node-a   2     NVIDIA H200   Unhealthy   0/100     0/15360       -
                                node-a   3     NVIDIA H200   Mig         -         -             -
                                """,
                                "",
                                0));
    }

    @Test
    void theDetailsHaveALineForEachPod() {
        api.has(GPUNODES, OURS);
        api.has(NODES, NODE_A);

        assertThat(shell.run("inspect", "-d").out())
                .isEqualTo(
                        """
                        NODE     GPU   STATE       NAMESPACE   POD     CORE   MEMORY(MiB)
                        node-a   0     Shared      team-a      train   50     3840
                        node-a   0     Shared      team-b      serve   25     2048
                        node-a   1     Whole       team-a      alone   100    15360
                        node-a   2     Unhealthy   -           -       -      -
                        node-a   3     Mig         -           -       -      -
                        """);
    }

    @Test
    void theWideTableSaysWhatIsWrongWithAGpu() {
        api.has(GPUNODES, OURS);
        api.has(NODES, NODE_A);

        assertThat(shell.run("inspect", "-o", "wide").out())
                .isEqualTo(
                        """
                        NODE     GPU   MODEL         STATE       CORE      MEMORY(MiB)   PODS                        ADDRESS    TIER        SOURCE    UUID    REASON
                        node-a   0     NVIDIA H200   Shared      75/100    5888/15360    team-a/train,team-b/serve   10.0.0.1   TimeSlice   GpuNode   GPU-0   -
                        node-a   1     NVIDIA H200   Whole       100/100   15360/15360   team-a/alone                10.0.0.1   TimeSlice   GpuNode   GPU-1   -
                        node-a   2     NVIDIA H200   Unhealthy   0/100     0/15360       -                           10.0.0.1   TimeSlice   GpuNode   GPU-2   fell off the bus
                        node-a   3     NVIDIA H200   Mig         -         -             -                           10.0.0.1   TimeSlice   GpuNode   GPU-3   -
                        """);
    }

    @Test
    void showsOnlyGpusOnWhichPodsOfANamespaceAre() {
        api.has(GPUNODES, OURS);
        api.has(NODES, NODE_A);

        assertThat(shell.run("inspect", "-n", "team-b").out())
                .isEqualTo(
                        """
                        NODE     GPU   MODEL         STATE    CORE     MEMORY(MiB)   PODS
                        node-a   0     NVIDIA H200   Shared   75/100   5888/15360    team-a/train,team-b/serve
                        """);
    }

    @Test
    void readsWhatGpuManagerAndGpushareWriteOnPods() {
        api.has(NODES, GPU_MANAGERS, GPUSHARES, NVIDIAS);
        api.has(
                PODS,
                vcuda("one", 50, 15, "tencent.com/predicate-gpu-idx-0: \"1\""),
                vcuda("two", 200, 0, "tencent.com/predicate-gpu-idx-0: \"0,2\""),
                vcuda("lost", 30, 4, "other: \"1\""),
                gpushare("three", 4, "Running", "ALIYUN_COM_GPU_MEM_IDX: \"1\""),
                gpushare("four", 3, "Running", "ALIYUN_COM_GPU_MEM_IDX: \"-1\""),
                gpushare("done", 9, "Succeeded", "ALIYUN_COM_GPU_MEM_IDX: \"0\""));

        assertThat(shell.run("inspect"))
                .isEqualTo(
                        new Answer(
                                """
                                NODE     GPU   MODEL   STATE    CORE      MEMORY(MiB)   PODS
                                node-b   0     -       Whole    100/100   15360/15360   team-a/two
                                node-b   1     -       Shared   50/100    3840/15360    team-a/one
                                node-b   2     -       Whole    100/100   15360/15360   team-a/two
                                node-b   ?     -       -        30        1024          team-a/lost
                                node-c   0     -       Idle     -         0/15360       -
                                node-c   1     -       Shared   -         4096/15360    team-b/three
                                node-c   ?     -       -        -         3072          team-b/four
                                """,
                                """
                                node-b: read from the annotations of gpu-manager on pods; model and health of the GPUs are not known
                                node-c: read from the annotations of gpushare on pods; model and health of the GPUs are not known
                                node-d: GPUs are offered as nvidia.com/gpu; who has which is not known here
                                """,
                                0));
    }

    @Test
    void aNodeWithAGpuNodeIsNotReadFromAnnotations() {
        api.has(GPUNODES, OURS);
        api.has(NODES, NODE_A);

        shell.run("inspect");

        assertThat(api.requests)
                .filteredOn(it -> it.startsWith(PODS))
                .singleElement()
                .asString()
                .contains("labelSelector=gpusharing.io%2Fmetered");
    }

    @Test
    void aPodThatIsPlacedAndHasNoGrantYetHoldsItsGpus() {
        api.has(
                GPUNODES,
                """
                apiVersion: gpusharing.io/v1alpha1
                kind: GpuNode
                metadata: {name: node-a}
                status:
                  resources: [tencent.com/vcuda-core, tencent.com/vcuda-memory]
                  gpus:
                  - {index: 0, uuid: GPU-0, memoryMiB: 15360, health: Healthy, mode: Idle}
                  - {index: 1, uuid: GPU-1, memoryMiB: 15360, health: Healthy, mode: Idle}
                  - index: 2
                    uuid: GPU-2
                    memoryMiB: 15360
                    health: Healthy
                    mode: Shared
                    grants:
                    - {podUid: u-started, namespace: team-a, pod: started, container: cuda, kind: App, core: 25, memoryMiB: 2048}
                  - {index: 3, uuid: GPU-3, memoryMiB: 15360, health: Healthy, mode: Idle}
                """);
        api.has(NODES, NODE_A);
        api.has(
                PODS,
                placed("half", 50, 15, "GPU-0"),
                placed("whole", 100, 0, "GPU-1"),
                placed("started", 25, 8, "GPU-2"),
                placed("fourth", 20, 4, "GPU-2"),
                placed("lost", 30, 4, ""));

        assertThat(shell.run("inspect"))
                .isEqualTo(
                        new Answer(
                                """
                                NODE     GPU   MODEL   STATE    CORE      MEMORY(MiB)   PODS
                                node-a   0     -       Shared   50/100    3840/15360    team-a/half
                                node-a   1     -       Whole    100/100   15360/15360   team-a/whole
                                node-a   2     -       Shared   45/100    3072/15360    team-a/fourth,team-a/started
                                node-a   3     -       Idle     0/100     0/15360       -
                                node-a   ?     -       -        30        1024          team-a/lost
                                """,
                                "",
                                0));
    }

    private static String placed(String name, int core, int memory, String gpu) {
        return vcuda(
                        name,
                        core,
                        memory,
                        gpu.isEmpty()
                                ? "other: x"
                                : "gpusharing.io/placement: \"u-%s;cuda=%s\"".formatted(name, gpu))
                .replace("node-b", "node-a")
                .replace("namespace: team-a", "namespace: team-a, uid: u-" + name);
    }

    @Test
    void aNodeOnWhichAnotherProviderOffersTheGpusIsReadFromAnnotations() {
        api.has(
                GPUNODES,
                """
                apiVersion: gpusharing.io/v1alpha1
                kind: GpuNode
                metadata: {name: node-c}
                status:
                  resources: []
                  gpus: [{uuid: GPU-0, health: Healthy, mode: Idle}]
                """);
        api.has(NODES, GPUSHARES);
        api.has(PODS);

        assertThat(shell.run("inspect", "-o", "csv").out())
                .contains("Gpushare")
                .doesNotContain("GPU-0");
    }

    @Test
    void whoMayNotSeeGpuNodesIsShownWhatAnnotationsSay() {
        api.has(NODES, NODE_A);
        api.has(PODS);
        api.refuse(GPUNODES, 403);

        Answer answer = shell.run("inspect");

        assertThat(answer.out()).contains("node-a");
        assertThat(answer.err())
                .startsWith(
                        "You may not list gpunodes; ask an administrator for the cluster role gpusharing-gpunode-reader\n");
    }

    @Test
    void whoMayNotSeeNodesIsShownGpuNodes() {
        api.has(GPUNODES, OURS);
        api.refuse(NODES, 403);

        Answer answer = shell.run("inspect");

        assertThat(answer.out()).contains("node-a");
        assertThat(answer.err())
                .isEqualTo(
                        "You may not list nodes; ask an administrator for the right to list nodes;"
                                + " nodes without our device plugin are left out\n");
    }

    @Test
    void whoMaySeeNeitherIsToldSo() {
        api.refuse(GPUNODES, 403);
        api.refuse(NODES, 403);

        assertThat(shell.run("inspect"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: You may not list nodes; ask an administrator for the right to list nodes\n",
                                1));
    }

    @Test
    void whoMayNotSeePodsIsShownGpuNodes() {
        api.has(GPUNODES, OURS);
        api.has(NODES, NODE_A, GPUSHARES);
        api.refuse(PODS, 403);

        Answer answer = shell.run("inspect");

        assertThat(answer.out()).contains("node-a").doesNotContain("node-c");
        assertThat(answer.err())
                .isEqualTo(
                        """
                        You may not list pods of all namespaces; ask an administrator for the cluster role view; pods that are placed but have not started are left out
                        You may not list pods of all namespaces; ask an administrator for the cluster role view; nodes without our device plugin are left out
                        """);
    }

    @Test
    void nothingIsUnknownOfANodeOfOursWhateverItsGpusAreCalled() {
        api.has(GPUNODES, OURS);
        api.has(
                NODES,
                """
                apiVersion: v1
                kind: Node
                metadata: {name: node-a}
                status: {allocatable: {cnvrg.io/metagpu: "300"}}
                """);

        assertThat(shell.run("inspect").err()).isEmpty();
    }

    @Test
    void oneNodeIsAskedForByName() {
        api.has(GPUNODES, OURS);
        api.has(NODES, NODE_A, GPUSHARES);
        api.has(PODS);

        Answer answer = shell.run("inspect", "node-c");

        assertThat(answer.out()).contains("node-c").doesNotContain("node-a");
        assertThat(api.requests)
                .containsExactly(
                        GPUNODES + "/node-c",
                        NODES + "/node-c",
                        PODS + "?fieldSelector=spec.nodeName%3Dnode-c");
    }

    @Test
    void saysThatThereIsNoSuchNode() {
        api.has(GPUNODES, OURS);
        api.has(NODES, NODE_A);

        assertThat(shell.run("inspect", "node-x"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: There is no node node-x; kubectl gpusharing inspect shows all\n",
                                1));
    }

    @Test
    void saysThatNoGpusAreShared() {
        api.has(NODES);

        assertThat(shell.run("inspect").err())
                .isEqualTo("No GPUs that are shared are known here\n");
    }

    @Test
    void writesJson() {
        api.has(NODES, GPUSHARES);
        api.has(PODS, gpushare("three", 4, "Running", "ALIYUN_COM_GPU_MEM_IDX: \"1\""));

        assertThat(shell.run("inspect", "-o", "json").out())
                .isEqualTo(
                        """
                        {
                          "nodes" : [ {
                            "node" : "node-c",
                            "address" : "10.0.0.3",
                            "source" : "Gpushare",
                            "memoryUnitMiB" : 1024,
                            "gpus" : [ {
                              "index" : 0,
                              "state" : "Idle",
                              "memoryMiB" : 15360,
                              "pods" : [ ],
                              "allocatedMemoryMiB" : 0
                            }, {
                              "index" : 1,
                              "state" : "Shared",
                              "memoryMiB" : 15360,
                              "pods" : [ {
                                "namespace" : "team-b",
                                "pod" : "three",
                                "memoryMiB" : 4096
                              } ],
                              "allocatedMemoryMiB" : 4096
                            } ],
                            "unplaced" : [ ]
                          } ],
                          "notes" : [ "node-c: read from the annotations of gpushare on pods; model and health of the GPUs are not known" ]
                        }
                        """);
    }

    private static String vcuda(String name, int core, int memory, String annotation) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s, namespace: team-a, annotations: {%s}}
        spec:
          nodeName: node-b
          containers:
          - name: cuda
            resources: {limits: {tencent.com/vcuda-core: "%d", tencent.com/vcuda-memory: "%d"}}
        status: {phase: Running}
        """
                .formatted(name, annotation, core, memory);
    }

    private static String gpushare(String name, int memory, String phase, String annotation) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s, namespace: team-b, annotations: {%s}}
        spec:
          nodeName: node-c
          containers:
          - {name: cuda, resources: {limits: {aliyun.com/gpu-mem: "%d"}}}
        status: {phase: %s}
        """
                .formatted(name, annotation, memory, phase);
    }
}
