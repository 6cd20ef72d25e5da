package io.gpusharing.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.cli.Shell.Answer;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The columns and the last line are those of metagpu's {@code mgctl get processes}. */
class ProcessesTest {

    private static final String API = "/apis/usage.gpusharing.io/v1alpha1/";
    private static final String OURS = API + "namespaces/team-a/podprocesses?limit=500";
    private static final String ALL = API + "podprocesses?limit=500";

    private static final String SEEN = "\"asOf\":\"2026-11-27T09:00:00Z\",";

    private static final String TRAIN =
            pod(
                    "team-a",
                    "train",
                    "0.5",
                    SEEN,
                    gpu(
                            0,
                            ",\"grantedMiB\":3840",
                            2,
                            process(4711, "python", 1000, 37),
                            process(4712, "python", 2000, 13)));

    @TempDir private Path folder;

    private FakeApiServer api;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        shell = new Shell(api.url(), folder, "2026-11-27T09:00:20Z");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void aLineForEachProcessAndOneForWhoRunsNone() {
        says(OURS, "", TRAIN, pod("team-a", "idle", "1", SEEN));

        assertThat(shell.run("processes"))
                .isEqualTo(
                        new Answer(
                                """
                                POD     NS       DEVICE   NODE         GPU   MEMORY      PID    CMD      REQ
                                idle    team-a   -        gpu-node-1   -     0/-         -      -        100
                                train   team-a   0        gpu-node-1   26%   2000/3840   4712   python   50
                                train   team-a   0        gpu-node-1   74%   1000/3840   4711   python   50
                                2                                            3000MiB                     100/150
                                """,
                                "", 0));
    }

    @Test
    void thePodsOfAllPagesAreInOneTable() {
        says(ALL, "eA==", TRAIN);
        says(
                ALL + "&continue=eA%3D%3D",
                "",
                pod(
                        "team-b",
                        "serve",
                        "0.25",
                        SEEN,
                        gpu(0, ",\"grantedMiB\":2048", 1, process(99, "vllm", 512, 5))));

        assertThat(shell.run("processes", "-A"))
                .isEqualTo(
                        new Answer(
                                """
                                POD     NS       DEVICE   NODE         GPU   MEMORY      PID    CMD      REQ
                                train   team-a   0        gpu-node-1   26%   2000/3840   4712   python   50
                                train   team-a   0        gpu-node-1   74%   1000/3840   4711   python   50
                                serve   team-b   0        gpu-node-1   20%   512/2048    99     vllm     25
                                2                                            3512MiB                     100/75
                                """,
                                "", 0));
    }

    @Test
    void aProcessOnSeveralGpusIsOneLineWithTheSums() {
        says(
                OURS,
                "",
                pod(
                        "team-a",
                        "big",
                        "1.5",
                        SEEN,
                        gpu(3, ",\"grantedMiB\":7680", 1, process(7, "python3", 1000, 30)),
                        gpu(
                                1,
                                ",\"grantedMiB\":15360",
                                2,
                                process(7, "python3", 9000, 90),
                                process(8, "load", 100, 0))));

        assertThat(shell.run("processes", "-o", "wide").out())
                .isEqualTo(
                        """
                        POD   NS       DEVICE   NODE         GPU   MEMORY        PID   CMD       REQ       UUID          AS-OF
                        big   team-a   1:3      gpu-node-1   80%   10000/23040   7     python3   150       GPU-1:GPU-3   2026-11-27T09:00:00Z
                        big   team-a   1        gpu-node-1   0%    100/15360     8     load      150       GPU-1         2026-11-27T09:00:00Z
                        1                                          10100MiB                      200/150
                        """);
    }

    @Test
    void whatIsNotKnownIsNotZero() {
        says(
                OURS,
                "",
                pod(
                        "team-a",
                        "instance",
                        "0.5",
                        SEEN,
                        "{\"uuid\":\"MIG-7\",\"processCount\":1,\"processes\":[{\"pid\":12}]}"),
                pod("team-a", "memory", "0", SEEN, gpu(0, "", 1, process(13, "python", 300, 9))));

        assertThat(shell.run("processes", "-o", "wide").out())
                .isEqualTo(
                        """
                        POD        NS       DEVICE   NODE         GPU   MEMORY   PID   CMD      REQ      UUID    AS-OF
                        instance   team-a   -        gpu-node-1   -     -        12    -        50       MIG-7   2026-11-27T09:00:00Z
                        memory     team-a   0        gpu-node-1   -     300/-    13    python   0        GPU-0   2026-11-27T09:00:00Z
                        2                                               300MiB                  200/50
                        """);
    }

    @Test
    void podsOfWhichNoAgentHasSaidAnythingAreNamed() {
        says(
                OURS,
                "",
                pod("team-a", "a", "1", ""),
                pod("team-a", "b", "1", ""),
                pod("team-a", "c", "1", ""),
                pod("team-a", "d", "1", ""),
                pod("team-a", "e", "1", ""));

        assertThat(shell.run("processes"))
                .isEqualTo(
                        new Answer(
                                """
                                POD   NS       DEVICE   NODE         GPU   MEMORY   PID   CMD   REQ
                                a     team-a   -        gpu-node-1   -     -        -     -     100
                                b     team-a   -        gpu-node-1   -     -        -     -     100
                                c     team-a   -        gpu-node-1   -     -        -     -     100
                                d     team-a   -        gpu-node-1   -     -        -     -     100
                                e     team-a   -        gpu-node-1   -     -        -     -     100
                                5                                          -                    0/500
                                """,
                                "It is not known now what runs in team-a/a, team-a/b, team-a/c and 2 more\n",
                                0));
    }

    @Test
    void moreProcessesThanAreShownAreNoSecret() {
        says(
                OURS,
                "",
                pod("team-a", "fork", "1", SEEN, gpu(0, "", 65, process(1, "python", 10, 1))));

        assertThat(shell.run("processes").err())
                .isEqualTo(
                        "More processes run than are shown, which are those with most memory: team-a/fork (1 of 65 on GPU 0)\n");
    }

    @Test
    void whoUsesMoreThanItsShareIsRed() {
        says(
                OURS,
                "",
                pod(
                        "team-a",
                        "greedy",
                        "0.3",
                        SEEN,
                        gpu(0, ",\"grantedMiB\":3840", 1, process(1, "python", 4000, 60))),
                pod(
                        "team-a",
                        "modest",
                        "0.3",
                        SEEN,
                        gpu(0, ",\"grantedMiB\":3840", 1, process(2, "python", 3840, 30))));

        assertThat(shell.runColoured("processes").out())
                .isEqualTo(
                        """
                        POD      NS       DEVICE   NODE         GPU    MEMORY      PID   CMD      REQ
                        greedy   team-a   0        gpu-node-1   \033[31m200%\033[0m   \033[31m4000/3840\033[0m   1     python   30
                        modest   team-a   0        gpu-node-1   100%   3840/3840   2     python   30
                        2                                              7840MiB                    100/60
                        """);
    }

    @Test
    void aCommandMovesNoTerminal() {
        says(
                OURS,
                "",
                pod(
                        "team-a",
                        "evil",
                        "1",
                        SEEN,
                        gpu(0, "", 1, process(1, "a\\u001b[2J\\r\\n\\u202eb\\u2028c", 10, 1))));

        assertThat(shell.run("processes").out())
                .isEqualTo(
                        """
                        POD    NS       DEVICE   NODE         GPU   MEMORY   PID   CMD      REQ
                        evil   team-a   0        gpu-node-1   1%    10/-     1     a[2Jbc   100
                        1                                           10MiB                   100/100
                        """);
        assertThat(shell.run("processes", "-o", "yaml").out()).contains("command: \"a[2Jbc\"\n");
    }

    @Test
    void aSpreadsheetGetsLinesOfProcessesAlone() {
        says(OURS, "", TRAIN, pod("team-a", "idle", "1", ""));

        assertThat(shell.run("processes", "-o", "csv").out())
                .isEqualTo(
                        """
                        POD,NS,DEVICE,NODE,GPU,MEMORY,PID,CMD,REQ,UUID,AS-OF\r
                        idle,team-a,,gpu-node-1,,,,,100,,\r
                        train,team-a,0,gpu-node-1,26%,2000/3840,4712,python,50,GPU-0,2026-11-27T09:00:00Z\r
                        train,team-a,0,gpu-node-1,74%,1000/3840,4711,python,50,GPU-0,2026-11-27T09:00:00Z\r
                        """);
    }

    @Test
    void aSpreadsheetComputesNothingThatATenantHasCalledHisProgram() {
        says(
                OURS,
                "",
                pod("team-a", "evil", "1", SEEN, gpu(0, "", 1, process(1, "=1+cmd()", 10, 1))));

        assertThat(shell.run("processes", "-o", "csv").out()).contains(",1,'=1+cmd(),100,");
        assertThat(shell.run("processes").out()).contains("   =1+cmd()   100");
    }

    @Test
    void aProgramGetsWhatTheAgentSaid() {
        says(
                OURS,
                "",
                pod(
                        "team-a",
                        "train",
                        "0.5",
                        SEEN,
                        gpu(0, ",\"grantedMiB\":3840", 1, process(4711, "python", 1000, 37))));

        assertThat(shell.run("processes", "-o", "json").out())
                .isEqualTo(
                        """
                        [ {
                          "metadata" : {
                            "namespace" : "team-a",
                            "name" : "train",
                            "uid" : "7d5c0a5e-0000-4000-8000-000000000001"
                          },
                          "status" : {
                            "node" : "gpu-node-1",
                            "gpus" : "0.5",
                            "asOf" : "2026-11-27T09:00:00Z",
                            "devices" : [ {
                              "uuid" : "GPU-0",
                              "index" : 0,
                              "grantedMiB" : 3840,
                              "processCount" : 1,
                              "processes" : [ {
                                "pid" : 4711,
                                "command" : "python",
                                "memoryMiB" : 1000,
                                "busyPercent" : 37
                              } ]
                            } ]
                          }
                        } ]
                        """);
    }

    @Test
    void onePodIsAskedForByName() {
        says(OURS, "", TRAIN, pod("team-a", "idle", "1", SEEN));

        assertThat(shell.run("processes", "train").out()).contains("train").doesNotContain("idle");
        assertThat(shell.run("processes", "gone"))
                .isEqualTo(
                        failed(
                                "No pod gone holds a GPU there now; kubectl gpusharing processes shows all that do"));
    }

    @Test
    void whereNobodyHoldsAGpuThatIsSaid() {
        says(ALL, "");

        assertThat(shell.run("processes", "-A"))
                .isEqualTo(new Answer("", "No pod of the cluster holds a GPU now\n", 0));
    }

    @Test
    void whoMayNotSeeThemIsToldWhichRightIsMissing() {
        api.passesOn(
                API + "namespaces/team-b/podprocesses?limit=500",
                403,
                "{\"kind\":\"Status\",\"code\":403,\"message\":\"User \\\"ada\\\" cannot list resource \\\"podprocesses\\\"\"}",
                "");

        assertThat(shell.run("processes", "-n", "team-b"))
                .isEqualTo(
                        failed(
                                "User \"ada\" cannot list resource \"podprocesses\"; ask for the role view in the namespace, or an administrator for the cluster role gpusharing-usage-admin, and to get the pods there, with -A of all namespaces. Where usage.gpusharing.io is off, an administrator turns it on with api.aggregated: true"));
    }

    @Test
    void whileTheTimekeeperIsAwayThatIsSaid() {
        api.passesOn(OURS, 503, "service unavailable", "");

        assertThat(shell.run("processes"))
                .isEqualTo(
                        failed(
                                "The timekeeper does not answer now; kubectl gpusharing budgets works without it"));
    }

    @Test
    void endsWithTwoForTwoPods() {
        assertThat(shell.run("processes", "train", "idle"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: Unmatched argument at index 2: 'idle'; see kubectl gpusharing processes --help\n",
                                2));
    }

    private void says(String address, String next, String... pods) {
        api.passesOn(
                address,
                200,
                """
                {"kind":"PodProcessesList","apiVersion":"usage.gpusharing.io/v1alpha1",
                 "metadata":{"resourceVersion":""%s},"items":[%s]}
                """
                        .formatted(
                                next.isEmpty() ? "" : ",\"continue\":\"" + next + "\"",
                                String.join(",", pods)),
                "");
    }

    private static String pod(
            String namespace, String name, String gpus, String seen, String... devices) {
        return """
        {"kind":"PodProcesses","apiVersion":"usage.gpusharing.io/v1alpha1",
         "metadata":{"name":"%s","namespace":"%s","uid":"7d5c0a5e-0000-4000-8000-000000000001"},
         "status":{"node":"gpu-node-1","gpus":"%s",%s"devices":[%s]}}
        """
                .formatted(name, namespace, gpus, seen, String.join(",", devices));
    }

    private static String gpu(int index, String granted, int count, String... processes) {
        return "{\"uuid\":\"GPU-%1$d\",\"index\":%1$d%2$s,\"processCount\":%3$d,\"processes\":[%4$s]}"
                .formatted(index, granted, count, String.join(",", processes));
    }

    private static String process(int pid, String command, int memory, int busy) {
        return "{\"pid\":%d,\"command\":\"%s\",\"memoryMiB\":%d,\"busyPercent\":%d}"
                .formatted(pid, command, memory, busy);
    }

    private static Answer failed(String sentence) {
        return new Answer("", "error: " + sentence + "\n", 1);
    }
}
