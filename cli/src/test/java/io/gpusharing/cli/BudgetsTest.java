package io.gpusharing.cli;

import static io.gpusharing.cli.FakeApiServer.BUDGETS;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.cli.Shell.Answer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BudgetsTest {

    /** Half a GPU since 09:00, of which the status is ten seconds old. */
    private static final String TEAM_A =
            """
            apiVersion: gpusharing.io/v1alpha1
            kind: GpuBudget
            metadata: {name: team-a, creationTimestamp: "2026-11-01T00:00:00Z"}
            spec:
              namespaces: [team-a, team-a-dev]
              gpuMinutes: "60"
              onExhausted: Reclaim
            status:
              asOf: "2026-11-21T09:59:50Z"
              period: {start: "2026-11-01T00:00:00Z", end: "2026-12-01T00:00:00Z"}
              granted: 3600000000
              used: 1795000000
              remaining: 1805000000
              rate: 500000
              credits:
              - {source: allowance, remaining: 1805000000, from: "2026-11-01T00:00:00Z", until: "2026-12-01T00:00:00Z"}
            """;

    private static final String TEAM_B =
            """
            apiVersion: gpusharing.io/v1alpha1
            kind: GpuBudget
            metadata: {name: team-b, creationTimestamp: "2026-11-01T00:00:00Z"}
            spec:
              namespaces: [team-b]
              gpuMinutes: "0.25"
            status:
              asOf: "2026-11-21T08:50:00.5Z"
              period: {start: "2026-11-01T00:00:00Z", end: "2026-12-01T00:00:00Z"}
              granted: 15000000
              used: 18000000
              remaining: -3000000
              rate: 0
              exhaustedAt: "2026-11-21T08:48:20.123456Z"
              credits: []
            """;

    private static final String NO_LIMIT =
            """
            apiVersion: gpusharing.io/v1alpha1
            kind: GpuBudget
            metadata: {name: research, creationTimestamp: "2026-11-01T00:00:00Z"}
            spec:
              namespaces: [research]
            status:
              asOf: "2026-11-21T09:59:00Z"
              period: {start: "2026-11-01T00:00:00Z", end: "2026-12-01T00:00:00Z"}
              used: 60000000
              rate: 2000000
            """;

    @TempDir private Path folder;

    private FakeApiServer api;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        api.has(BUDGETS, TEAM_A, TEAM_B, NO_LIMIT);
        shell = new Shell(api.url(), folder, "2026-11-21T10:00:00Z");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void showsTheBudgetThatPaysForTheNamespaceOfTheContext() {
        assertThat(shell.run("budgets"))
                .isEqualTo(
                        new Answer(
                                """
                                NAME     GRANTED   USED     USED%   LEFT     RATE   STANDING   EXHAUSTED                      RESETS
                                team-a   60.000    30.000   50%     30.000   0.5    InBudget   2026-11-21T11:00:00Z (in 1h)   2026-12-01T00:00:00Z
                                """,
                                "", 0));
    }

    @Test
    void timesAreThoseOfTheBudgetsZoneForPeople() {
        api.has(
                BUDGETS,
                TEAM_A.replace(
                        "gpuMinutes: \"60\"",
                        "gpuMinutes: \"60\"\n  period: {timeZone: Asia/Kolkata}"));

        assertThat(shell.run("budgets", "--no-headers").out())
                .isEqualTo(
                        "team-a   60.000   30.000   50%   30.000   0.5   InBudget   2026-11-21T16:30:00+05:30 (in 1h)   2026-12-01T05:30:00+05:30\n");
        assertThat(shell.run("budgets", "-o", "csv", "--no-headers").out())
                .startsWith("team-a,60.000,30.000,50%,30.000,0.5,InBudget,2026-11-21T11:00:00Z,");
    }

    @Test
    void whatStandsBesideAllBudgetsIsSaid() {
        api.has(
                FakeApiServer.PODS,
                pod("a", "team-a", "n1", "Running"),
                pod("b", "lab", "n1", "Running"),
                pod("c", "lab", "n1", "Running"),
                pod("d", "lab", "n1", "Succeeded"),
                pod("e", "waits", "", "Pending"));
        api.has(
                FakeApiServer.GPUNODES,
                "{apiVersion: gpusharing.io/v1alpha1, kind: GpuNode, metadata: {name: n1}, status: {gpus: [{uuid: GPU-0, health: Healthy, mode: Idle}]}}");
        api.has(
                FakeApiServer.NODES,
                "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {nvidia.com/gpu: '8'}}}",
                "{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {nvidia.com/gpu: '4'}}}");
        api.has(
                BUDGETS,
                TEAM_A.replace("gpuMinutes: \"60\"", "gpuMinutes: \"86400\"")
                        .replace("3600000000", "5184000000000")
                        .replace("1805000000", "5182205000000"));

        assertThat(shell.run("budgets", "-A").err())
                .isEqualTo(
                        """
                        No budget pays for pods with GPUs in lab (2)
                        The budgets promise what 2.0 GPUs give in their periods; there are 5
                        """);
        assertThat(shell.run("budgets").err()).isEmpty();
    }

    @Test
    void whatIsPromisedIsNotRoundedToNothing() {
        api.has(FakeApiServer.PODS);
        api.has(FakeApiServer.GPUNODES);
        api.has(
                FakeApiServer.NODES,
                "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {nvidia.com/gpu: '8'}}}");
        api.has(BUDGETS, TEAM_A);

        assertThat(shell.run("budgets", "-A").err())
                .endsWith(
                        "The budgets promise what less than 0.1 GPUs give in their periods; there are 8\n");
    }

    private static String pod(String name, String namespace, String node, String phase) {
        return "{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: %s}, spec: {%s containers: [{name: c}]}, status: {phase: %s}}"
                .formatted(name, namespace, node.isEmpty() ? "" : "nodeName: " + node + ",", phase);
    }

    @Test
    void showsTheBudgetOfAnotherNamespace() {
        assertThat(shell.run("budgets", "-n", "team-b").out()).contains("team-b").hasLineCount(2);
    }

    @Test
    void showsAllBudgetsByName() {
        assertThat(shell.run("budgets", "-A"))
                .isEqualTo(
                        new Answer(
                                """
                                NAME       GRANTED   USED     USED%   LEFT     RATE   STANDING     EXHAUSTED                          RESETS
                                research   -         3.000    -       -        2      Unlimited    -                                  -
                                team-a     60.000    30.000   50%     30.000   0.5    InBudget     2026-11-21T11:00:00Z (in 1h)       2026-12-01T00:00:00Z
                                team-b     0.250     0.300    120%    -0.050   0      OverBudget   2026-11-21T08:48:20Z (1h11m ago)   2026-12-01T00:00:00Z
                                """,
                                "", 0));
    }

    @Test
    void theWideTableSaysWhatWillBeLeftWhenThePeriodEnds() {
        assertThat(shell.run("budgets", "team-b", "team-a", "-o", "wide").out())
                .isEqualTo(
                        """
                        NAME     GRANTED   USED     USED%   LEFT     RATE   STANDING     EXHAUSTED                          RESETS                 LEFT-AT-RESET   PERIOD   CHARGED-BY   ON-EXHAUSTED    NAMESPACES          AS-OF
                        team-b   0.250     0.300    120%    -0.050   0      OverBudget   2026-11-21T08:48:20Z (1h11m ago)   2026-12-01T00:00:00Z   -0.050          Month    Allocation   LowerPriority   team-b              2026-11-21T08:50:00Z
                        team-a   60.000    30.000   50%     30.000   0.5    InBudget     2026-11-21T11:00:00Z (in 1h)       2026-12-01T00:00:00Z   -6870.000       Month    Allocation   Reclaim         team-a,team-a-dev   2026-11-21T09:59:50Z
                        """);
    }

    @Test
    void writesCsvWithTheColumnsOfTheWideTable() {
        assertThat(shell.run("budgets", "team-a", "-o", "csv").out())
                .isEqualTo(
                        """
                        NAME,GRANTED,USED,USED%,LEFT,RATE,STANDING,EXHAUSTED,RESETS,LEFT-AT-RESET,PERIOD,CHARGED-BY,ON-EXHAUSTED,NAMESPACES,AS-OF
                        team-a,60.000,30.000,50%,30.000,0.5,InBudget,2026-11-21T11:00:00Z,2026-12-01T00:00:00Z,-6870.000,Month,Allocation,Reclaim,"team-a,team-a-dev",2026-11-21T09:59:50Z
                        """
                                .replace("\n", "\r\n"));
    }

    @Test
    void writesJson() {
        assertThat(shell.run("budgets", "team-b", "-o", "json").out())
                .isEqualTo(
                        """
                        [ {
                          "name" : "team-b",
                          "standing" : "OverBudget",
                          "grantedMinutes" : "0.250",
                          "usedMinutes" : "0.300",
                          "usedPercent" : 120,
                          "leftMinutes" : "-0.050",
                          "rateGpus" : "0",
                          "exhaustedAt" : "2026-11-21T08:48:20.123456Z",
                          "resetsAt" : "2026-12-01T00:00:00Z",
                          "leftAtResetMinutes" : "-0.050",
                          "namespaces" : [ "team-b" ],
                          "period" : "Month",
                          "chargeBy" : "Allocation",
                          "onExhausted" : "LowerPriority",
                          "asOf" : "2026-11-21T08:50:00.500Z"
                        } ]
                        """);
    }

    @Test
    void writesYaml() {
        assertThat(shell.run("budgets", "team-b", "-o", "yaml").out())
                .isEqualTo(
                        """
                        ---
                        - name: "team-b"
                          standing: "OverBudget"
                          grantedMinutes: "0.250"
                          usedMinutes: "0.300"
                          usedPercent: 120
                          leftMinutes: "-0.050"
                          rateGpus: "0"
                          exhaustedAt: "2026-11-21T08:48:20.123456Z"
                          resetsAt: "2026-12-01T00:00:00Z"
                          leftAtResetMinutes: "-0.050"
                          namespaces:
                          - "team-b"
                          period: "Month"
                          chargeBy: "Allocation"
                          onExhausted: "LowerPriority"
                          asOf: "2026-11-21T08:50:00.500Z"
                        """);
    }

    @Test
    void aBudgetOfWhichTheStatusIsOldIsComputedAllTheSameAndSaysSo() throws IOException {
        Answer later = new Shell(api.url(), folder, "2026-11-21T11:30:00Z").run("budgets");

        assertThat(later.out())
                .isEqualTo(
                        """
                        NAME     GRANTED   USED     USED%   LEFT      RATE   STANDING     EXHAUSTED                        RESETS
                        team-a   60.000    75.000   125%    -15.000   0.5    OverBudget   2026-11-21T11:00:00Z (30m ago)   2026-12-01T00:00:00Z
                        """);
        assertThat(later.err())
                .isEqualTo(
                        "team-a: its status is from 2026-11-21T09:59:50Z, 1h30m ago; the timekeeper"
                                + " seems to be down, and pods that came or ended since are not in"
                                + " it\n");
        assertThat(later.code()).isZero();
    }

    @Test
    void afterThePeriodHasEndedWithoutATimekeeperTheNextOneCounts() throws IOException {
        Answer later = new Shell(api.url(), folder, "2026-12-01T00:10:00Z").run("budgets");

        // The debt of the last period is taken from the allowance.
        assertThat(later.out())
                .isEqualTo(
                        """
                        NAME     GRANTED   USED    USED%   LEFT     RATE   STANDING   EXHAUSTED                         RESETS
                        team-a   45.000    5.000   11%     40.000   0.5    InBudget   2026-12-01T01:30:00Z (in 1h20m)   2027-01-01T00:00:00Z
                        """);
    }

    @Test
    void anOldStatusOfABudgetOfWhichNothingIsUsedIsNoSign() {
        assertThat(shell.run("budgets", "team-b").err()).isEmpty();
    }

    @Test
    void aBudgetWithoutAStatusIsUnused() {
        api.has(
                BUDGETS,
                """
                apiVersion: gpusharing.io/v1alpha1
                kind: GpuBudget
                metadata: {name: new, creationTimestamp: "2026-11-21T09:00:00Z"}
                spec: {namespaces: [team-a], gpuMinutes: "600"}
                """);

        Answer answer = shell.run("budgets");

        assertThat(answer.out())
                .contains("new    600.000   0.000   0%      600.000   0      InBudget   -");
        assertThat(answer.err())
                .isEqualTo("new: it has no status: no timekeeper has counted what it used\n");
    }

    @Test
    void aBudgetThatMakesNoSenseHasNoLimitAndSaysWhatToWrite() {
        api.has(
                BUDGETS,
                """
                apiVersion: gpusharing.io/v1alpha1
                kind: GpuBudget
                metadata: {name: mars, creationTimestamp: "2026-11-21T09:00:00Z"}
                spec: {namespaces: [team-a], gpuMinutes: "600", period: {timeZone: Mars/Phobos}}
                """);

        Answer answer = shell.run("budgets");

        assertThat(answer.out()).contains("Misspelled");
        assertThat(answer.err())
                .isEqualTo(
                        "mars: spec.period.timeZone is \"Mars/Phobos\"; use an IANA name, for"
                                + " instance Europe/Berlin, or UTC; until then it has no limit\n");
    }

    @Test
    void aBudgetOnWhichNobodyDrawsIsInactiveAndSaysWhy() {
        api.has(
                BUDGETS,
                """
                apiVersion: gpusharing.io/v1alpha1
                kind: GpuBudget
                metadata: {name: taem, creationTimestamp: "2026-11-21T09:00:00Z"}
                spec: {namespaces: [taem-a], gpuMinutes: 600}
                status: {asOf: "2026-11-21T09:59:50Z", standing: Inactive, problem: There is no namespace taem-a}
                """);

        Answer answer = shell.run("budgets", "taem");

        assertThat(answer.out()).contains("600.000").contains("Inactive");
        assertThat(answer.err()).isEqualTo("taem: There is no namespace taem-a\n");
    }

    @Test
    void aBudgetThatTheTimekeeperDoesNotUnderstandHasNoLimit() {
        api.has(
                BUDGETS,
                """
                apiVersion: gpusharing.io/v1alpha1
                kind: GpuBudget
                metadata: {name: huge, creationTimestamp: "2026-11-21T09:00:00Z"}
                spec: {namespaces: [team-a], gpuMinutes: "600"}
                status:
                  asOf: "2026-11-21T09:59:50Z"
                  conditions:
                  - {type: Understood, status: "False", reason: NotUnderstood, message: no, lastTransitionTime: "2026-11-21T09:00:00Z"}
                """);

        Answer answer = shell.run("budgets");

        assertThat(answer.out()).contains("Misspelled");
        assertThat(answer.err())
                .isEqualTo(
                        "huge: it is not understood, and has no limit until it is; kubectl describe"
                                + " gpubudget huge says why\n");
    }

    @Test
    void ofTwoBudgetsThatNameTheNamespaceTheOlderPays() {
        api.has(
                BUDGETS,
                TEAM_A,
                """
                apiVersion: gpusharing.io/v1alpha1
                kind: GpuBudget
                metadata: {name: before, creationTimestamp: "2026-10-01T00:00:00Z"}
                spec: {namespaces: [team-a]}
                """);

        assertThat(shell.run("budgets").out()).contains("before").doesNotContain("60.000");
    }

    @Test
    void saysThatNoBudgetPaysForTheNamespace() {
        assertThat(shell.run("budgets", "-n", "nobodys"))
                .isEqualTo(
                        new Answer(
                                "",
                                "No budget names the namespace nobodys; -A shows all budgets\n",
                                0));
    }

    @Test
    void saysThatThereIsNoBudgetOfThatName() {
        assertThat(shell.run("budgets", "team-c"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: There is no budget team-c; kubectl gpusharing budgets -A lists all\n",
                                1));
    }

    @Test
    void oneBudgetIsAskedForByNameSinceRightsMayBeByName() {
        shell.run("budgets", "team-a");

        assertThat(api.requests).containsExactly(BUDGETS + "/team-a");
    }

    @Test
    void coloursOnlyWhatIsOverBudget() {
        assertThat(shell.runColoured("budgets", "-A").out())
                .containsOnlyOnce("\033[31mOverBudget\033[0m")
                .containsOnlyOnce("\033[31m");
    }

    /** A virtual machine that ends waits for such threads. */
    @Test
    void afterACommandNobodyWaitsForTheNetwork() throws InterruptedException {
        api.has(BUDGETS, TEAM_A);
        assertThat(shell.run("budgets").code()).isZero();

        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().endsWith("SelectorManager")) {
                assertThat(thread.join(Duration.ofSeconds(30))).as(thread.getName()).isTrue();
            }
        }
    }
}
