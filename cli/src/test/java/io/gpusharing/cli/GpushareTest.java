package io.gpusharing.cli;

import static io.gpusharing.cli.FakeApiServer.GPUNODES;
import static io.gpusharing.cli.FakeApiServer.NODES;
import static io.gpusharing.cli.FakeApiServer.PODS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tables are those of gpushare's own program, laid out by Go's tabwriter. */
class GpushareTest {

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
    void aLineForEachNode() {
        api.has(NODES, node("node-a", "10.0.0.1", 30, 2), node("node-b", "10.0.0.20", 15, 1));
        api.has(
                PODS,
                pod("binpack-0", "default", "node-a", 6, "0"),
                pod("binpack-1", "default", "node-a", 3, "1"),
                pod("notebook", "team-a", "node-b", 2, "0"));

        assertThat(shell.inspectGpushare().out())
                .isEqualTo(
                        """
                        NAME    IPADDRESS  GPU0(Allocated/Total)  GPU1(Allocated/Total)  GPU Memory(GiB)
                        node-a  10.0.0.1   6/15                   3/15                   9/30
                        node-b  10.0.0.20  2/15                   0/0                    2/15
                        ---------------------------------------------------
                        Allocated/Total GPU Memory In Cluster:
                        11/45 (24%) \s
                        """);
    }

    @Test
    void podsOfWhichNobodySaysWhereTheyAreArePending() {
        api.has(NODES, node("node-a", "10.0.0.1", 30, 2), node("node-b", "10.0.0.20", 15, 1));
        api.has(
                PODS,
                pod("binpack-0", "default", "node-a", 6, "0"),
                pod("binpack-1", "default", "node-a", 3, "-1"));

        assertThat(shell.inspectGpushare().out())
                .isEqualTo(
                        """
                        NAME    IPADDRESS  GPU0(Allocated/Total)  GPU1(Allocated/Total)  PENDING(Allocated)  GPU Memory(GiB)
                        node-a  10.0.0.1   6/15                   0/15                   3                   9/30
                        node-b  10.0.0.20  0/15                   0/0                                        0/15
                        -----------------------------------------------------
                        Allocated/Total GPU Memory In Cluster:
                        9/45 (20%) \s
                        """);
    }

    @Test
    void theDetailsHaveABlockForEachNode() {
        api.has(NODES, node("node-a", "10.0.0.1", 30, 2), node("node-b", "10.0.0.20", 15, 1));
        api.has(
                PODS,
                pod("binpack-0", "default", "node-a", 6, "0"),
                pod("binpack-1", "default", "node-a", 3, "-1"),
                pod("notebook", "team-a", "node-b", 2, "0"));

        assertThat(shell.inspectGpushare("-d").out())
                .isEqualTo(
                        """

                        NAME:       node-a
                        IPADDRESS:  10.0.0.1

                        NAME         NAMESPACE  GPU0(Allocated)  GPU1(Allocated)  Pending(Allocated) \s
                        binpack-0    default    6                0                0                  \s
                        binpack-1    default    0                0                3                  \s
                        Allocated :  9 (30%)   \s
                        Total :      30        \s
                        ------------------------------------------------------------

                        NAME:       node-b
                        IPADDRESS:  10.0.0.20

                        NAME         NAMESPACE  GPU0(Allocated) \s
                        notebook     team-a     2               \s
                        Allocated :  2 (13%)   \s
                        Total :      15        \s
                        ------------------------------------------------------------


                        Allocated/Total GPU Memory In Cluster:  11/45 (24%) \s
                        """);
    }

    @Test
    void oneNode() {
        api.has(NODES, node("node-a", "10.0.0.1", 30, 2), node("node-b", "10.0.0.20", 15, 1));
        api.has(PODS, pod("notebook", "team-a", "node-b", 2, "0"));

        assertThat(shell.inspectGpushare("node-b").out())
                .isEqualTo(
                        """
                        NAME    IPADDRESS  GPU0(Allocated/Total)  GPU Memory(GiB)
                        node-b  10.0.0.20  2/15                   2/15
                        -----------------------------------------------
                        Allocated/Total GPU Memory In Cluster:
                        2/15 (13%) \s
                        """);
    }

    @Test
    void whereGpushareCountsMebibytesTheTableDoes() {
        api.has(NODES, node("node-a", "10.0.0.1", 32_510, 2));
        api.has(PODS, pod("binpack-0", "default", "node-a", 2_048, "1"));

        assertThat(shell.inspectGpushare().out())
                .isEqualTo(
                        """
                        NAME    IPADDRESS  GPU0(Allocated/Total)  GPU1(Allocated/Total)  GPU Memory(MiB)
                        node-a  10.0.0.1   0/16255                2048/16255             2048/32510
                        ------------------------------------------------------------------
                        Allocated/Total GPU Memory In Cluster:
                        2048/32510 (6%) \s
                        """);
    }

    @Test
    void largeGpusAreNotTakenForMebibytes() {
        api.has(NODES, node("node-a", "10.0.0.1", 280, 2));
        api.has(PODS);

        assertThat(shell.inspectGpushare().out()).contains("GPU Memory(GiB)").contains("0/140");
    }

    @Test
    void nodesOfOurDevicePluginAreInItToo() {
        api.has(
                GPUNODES,
                """
                apiVersion: gpusharing.io/v1alpha1
                kind: GpuNode
                metadata: {name: node-a}
                status:
                  resources: [tencent.com/vcuda-core]
                  gpus:
                  - index: 0
                    uuid: GPU-0
                    memoryMiB: 16000
                    health: Healthy
                    mode: Shared
                    grants:
                    - {podUid: u-1, namespace: team-a, pod: train, container: cuda, kind: App, core: 50, memoryMiB: 3840}
                  - index: 1
                    uuid: GPU-1
                    memoryMiB: 16000
                    health: Healthy
                    mode: Whole
                    grants:
                    - {podUid: u-2, namespace: team-a, pod: alone, container: cuda, kind: App, core: 100, memoryMiB: 0}
                """);
        api.has(NODES);

        assertThat(shell.inspectGpushare().out())
                .isEqualTo(
                        """
                        NAME    IPADDRESS  GPU0(Allocated/Total)  GPU1(Allocated/Total)  GPU Memory(GiB)
                        node-a  unknown    4/15                   15/15                  19/30
                        ----------------------------------------------------
                        Allocated/Total GPU Memory In Cluster:
                        19/30 (63%) \s
                        """);
    }

    private static String node(String name, String address, int memory, int gpus) {
        return """
        apiVersion: v1
        kind: Node
        metadata: {name: %s}
        status:
          addresses: [{type: InternalIP, address: %s}]
          allocatable: {aliyun.com/gpu-mem: "%d", aliyun.com/gpu-count: "%d"}
        """
                .formatted(name, address, memory, gpus);
    }

    private static String pod(String name, String namespace, String node, int memory, String gpu) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s, namespace: %s, annotations: {ALIYUN_COM_GPU_MEM_IDX: "%s"}}
        spec:
          nodeName: %s
          containers:
          - {name: cuda, resources: {limits: {aliyun.com/gpu-mem: "%d"}}}
        status: {phase: Running}
        """
                .formatted(name, namespace, gpu, node, memory);
    }
}
