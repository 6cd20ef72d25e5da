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

/** The columns and the last line are those of metagpu's {@code mgctl get devices}. */
class DevicesTest {

    private static final String OURS =
            """
            apiVersion: gpusharing.io/v1alpha1
            kind: GpuNode
            metadata: {name: node-a}
            status:
              tier: TimeSlice
              resources: [cnvrg.io/metagpu]
              gpus:
              - index: 0
                uuid: GPU-0
                model: Tesla T4
                memoryMiB: 15360
                health: Healthy
                mode: Shared
                grants:
                - {podUid: u-1, namespace: team-a, pod: train, container: cuda, kind: App, core: 30, memoryMiB: 4608}
              - {index: 1, uuid: GPU-1, model: Tesla T4, memoryMiB: 15109, health: Unhealthy, reason: fell off the bus, mode: Idle}
              - {index: 2, uuid: GPU-2, model: NVIDIA H200, memoryMiB: 143771, health: Healthy, mode: Idle, mig: true}
            """;

    private static final String GPUSHARES =
            """
            apiVersion: v1
            kind: Node
            metadata: {name: node-c}
            status:
              allocatable: {aliyun.com/gpu-mem: "30", aliyun.com/gpu-count: "2"}
            """;

    @TempDir private Path folder;

    private FakeApiServer api;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        api.has(PODS);
        shell = new Shell(api.url(), folder, "2026-11-27T09:00:00Z");
        api.has(GPUNODES, OURS);
        api.has(NODES, GPUSHARES);
        api.has(PODS);
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void ofOneNodeItIsMetagpusTable() {
        assertThat(shell.run("devices", "node-a"))
                .isEqualTo(
                        new Answer(
                                """
                                IDX   UUID    MEMORY      SHARES   SHARE SIZE
                                0     GPU-0   15360       100      153
                                1     GPU-1   15109       100      151
                                2     GPU-2   143771      -        -
                                3             174240MiB   200
                                """,
                                "",
                                0));
    }

    @Test
    void ofSeveralTheNodeIsInFront() {
        assertThat(shell.run("devices"))
                .isEqualTo(
                        new Answer(
                                """
                                NODE     IDX   UUID    MEMORY      SHARES   SHARE SIZE
                                node-a   0     GPU-0   15360       100      153
                                node-a   1     GPU-1   15109       100      151
                                node-a   2     GPU-2   143771      -        -
                                node-c   0     -       15360       -        -
                                node-c   1     -       15360       -        -
                                         5             204960MiB   200
                                """,
                                "node-c: read from the annotations of gpushare on pods; model and health of the GPUs are not known\n",
                                0));
    }

    @Test
    void theWideTableSaysWhatIsWrongWithAGpu() {
        assertThat(shell.runColoured("devices", "node-a", "-o", "wide").out())
                .isEqualTo(
                        """
                        IDX   UUID    MEMORY      SHARES   SHARE SIZE   MODEL         STATE       TIER        REASON
                        0     GPU-0   15360       100      153          Tesla T4      Shared      TimeSlice   -
                        1     GPU-1   15109       100      151          Tesla T4      \033[31mUnhealthy\033[0m   TimeSlice   fell off the bus
                        2     GPU-2   143771      -        -            NVIDIA H200   Mig         TimeSlice   -
                        3             174240MiB   200
                        """);
    }

    @Test
    void onlyGpusOnWhichPodsOfANamespaceAre() {
        assertThat(shell.run("devices", "-n", "team-a").out())
                .isEqualTo(
                        """
                        NODE     IDX   UUID    MEMORY     SHARES   SHARE SIZE
                        node-a   0     GPU-0   15360      100      153
                                 1             15360MiB   100
                        """);
    }

    @Test
    void aSpreadsheetGetsLinesOfGpusAlone() {
        assertThat(shell.run("devices", "-o", "csv"))
                .isEqualTo(
                        new Answer(
                                """
                                NODE,IDX,UUID,MEMORY,SHARES,SHARE SIZE,MODEL,STATE,TIER,REASON\r
                                node-a,0,GPU-0,15360,100,153,Tesla T4,Shared,TimeSlice,\r
                                node-a,1,GPU-1,15109,100,151,Tesla T4,Unhealthy,TimeSlice,fell off the bus\r
                                node-a,2,GPU-2,143771,,,NVIDIA H200,Mig,TimeSlice,\r
                                node-c,0,,15360,,,,Idle,,\r
                                node-c,1,,15360,,,,Idle,,\r
                                """,
                                "node-c: read from the annotations of gpushare on pods; model and health of the GPUs are not known\n",
                                0));
    }

    @Test
    void aProgramGetsTheNotesAsWell() {
        api.has(NODES);
        api.refuse(GPUNODES, 403);

        assertThat(shell.run("devices", "-o", "json"))
                .isEqualTo(
                        new Answer(
                                """
                                {
                                  "devices" : [ ],
                                  "notes" : [ "You may not list gpunodes; ask an administrator for the cluster role gpusharing-gpunode-reader", "No GPUs that are shared are known here" ]
                                }
                                """,
                                "",
                                0));
        api.has(NODES, GPUSHARES);
        assertThat(shell.run("devices", "node-c", "-o", "json").out())
                .contains(
                        """
                        "devices" : [ {
                            "node" : "node-c",
                            "index" : 0,
                            "memoryMiB" : 15360,
                            "state" : "Idle"
                          }, {
                        """);
    }

    @Test
    void saysThatThereIsNoSuchNode() {
        assertThat(shell.run("devices", "node-x"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: There is no node node-x; kubectl gpusharing inspect shows all\n",
                                1));
    }

    @Test
    void endsWithTwoForTwoNodes() {
        assertThat(shell.run("devices", "node-a", "node-c"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: Unmatched argument at index 2: 'node-c'; see kubectl gpusharing devices --help\n",
                                2));
    }
}
