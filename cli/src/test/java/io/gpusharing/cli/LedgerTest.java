package io.gpusharing.cli;

import static io.gpusharing.cli.FakeApiServer.BUDGETS;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.cli.Shell.Answer;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LedgerTest {

    private static final String TEAM_A = "/apis/usage.gpusharing.io/v1alpha1/budgetusages/team-a/";

    private static final String STATEMENT =
            """
            {"budget":"team-a","from":"2026-11-01T00:00:00Z","to":"2026-11-21T10:00:00Z",
             "opening":0,"changes":[{"at":"2026-11-01T00:00:00Z","kind":"Allowance","source":"allowance","amount":3600000000}],
             "used":1800000000,"closing":1800000000,"namespaces":{"team-a":1800000000},"lines":[%s]}
            """;

    private static final String TRAIN =
            """
            {"kind":"%s","hour":"2026-11-21T0%d:00:00Z","from":"2026-11-21T0%2$d:00:00Z","to":"2026-11-21T0%2$d:30:00Z",
             "namespace":"team-a","pod":"7d5c0a5e-0000-4000-8000-000000000001","podName":"train","used":%d}
            """;

    private static final String GIVEN_BACK =
            """
            {"kind":"Correction","hour":"2026-11-21T08:00:00Z","from":"2026-11-21T08:00:00Z","to":"2026-11-21T08:10:00Z",
             "namespace":"team-a","pod":"7d5c0a5e-0000-4000-8000-000000000001","podName":"train","used":-600000000,"reason":"the node was broken"}
            """;

    private static final String HIDDEN =
            """
            {"kind":"Charge","hour":"2026-11-21T09:00:00Z","from":"2026-11-21T09:00:00Z","to":"2026-11-21T09:30:00Z",
             "namespace":"team-b","used":300000000}
            """;

    @TempDir private Path folder;

    private FakeApiServer api;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        api.has(
                BUDGETS,
                """
                apiVersion: gpusharing.io/v1alpha1
                kind: GpuBudget
                metadata: {name: team-a, creationTimestamp: "2026-11-01T00:00:00Z"}
                spec: {namespaces: [team-a]}
                """);
        shell = new Shell(api.url(), folder, "2026-11-21T10:00:00Z");
        api.passesOn(
                TEAM_A + "statement",
                200,
                STATEMENT.formatted(TRAIN.formatted("Charge", 8, 1_200_000_000) + "," + GIVEN_BACK),
                TEAM_A + "statement?after=x");
        api.passesOn(
                TEAM_A + "statement?after=x",
                200,
                STATEMENT.formatted(TRAIN.formatted("Running", 9, 900_000_000) + "," + HIDDEN),
                "");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void aStatementAddsUpByPodOverAllPages() {
        assertThat(shell.run("statement"))
                .isEqualTo(
                        new Answer(
                                """
                                WHAT         FROM                   TO                     NAMESPACE   POD     GPU-MINUTES   REASON
                                Opening      2026-11-01T00:00:00Z   -                      -           -       0.000         -
                                Allowance    2026-11-01T00:00:00Z   -                      -           -       60.000        allowance
                                Running      2026-11-21T08:00:00Z   2026-11-21T09:30:00Z   team-a      train   -35.000       -
                                Charge       2026-11-21T09:00:00Z   2026-11-21T09:30:00Z   team-b      -       -5.000        -
                                Correction   2026-11-21T08:00:00Z   2026-11-21T08:10:00Z   team-a      train   10.000        the node was broken
                                Closing      2026-11-21T10:00:00Z   -                      -           -       30.000        -
                                """,
                                "",
                                0));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "@example.com/x",
                "https://example.com/x",
                "/api/v1/secrets",
                TEAM_A + "statement"
            })
    void theLoginIsSentToNoAddressThatTheLedgerInvents(String next) {
        api.passesOn(TEAM_A + "statement", 200, STATEMENT.formatted(""), next);

        Answer answer = shell.run("statement", "team-a");

        assertThat(answer.err())
                .isEqualTo(
                        "error: The ledger names %s as the next page, which is none\n"
                                .formatted(next));
        assertThat(api.requests).containsExactly(TEAM_A + "statement");
    }

    /** It has owners, models and exact amounts, in one form for all who ask for it. */
    @Test
    void forASpreadsheetTheLedgersOwnFileIsPassedOn() {
        api.passesOn(
                TEAM_A + "statement",
                200,
                "budget,kind,gpuMinutes,microGpuSeconds\r\nteam-a,Charge,-20.000,-1200000000\r\nteam-a,\u0007x,0,0\r\n",
                "");

        assertThat(shell.run("statement", "team-a", "-o", "csv"))
                .isEqualTo(
                        new Answer(
                                "budget,kind,gpuMinutes,microGpuSeconds\r\nteam-a,Charge,-20.000,-1200000000\r\nteam-a,\uFFFDx,0,0\r\n",
                                "",
                                0));
        assertThat(api.wanted.get(TEAM_A + "statement")).startsWith("text/csv");
        assertThat(shell.run("statement", "team-a", "-o", "csv", "--no-headers").out())
                .startsWith("team-a,Charge,");
    }

    @Test
    void programsGetAllLinesInMicroGpuSeconds() {
        assertThat(shell.run("statement", "-o", "json").out())
                .contains("\"closing\" : 1800000000", "\"used\" : -600000000");
    }

    @Test
    void aSpanThatNobodyWatchedIsSaidInOneLine() {
        String span =
                """
                {"since":"2026-11-20T10:00:00Z","until":"2026-11-20T11:00:00Z","note":"Pods are not charged"}\
                """;
        String statement =
                STATEMENT.formatted("").replace("\"lines\"", "\"unwatched\":[%s],\"lines\"");
        api.passesOn(TEAM_A + "statement", 200, statement.formatted(span), "");
        assertThat(shell.run("statement").err()).isEqualTo("Pods are not charged\n");

        api.passesOn(TEAM_A + "statement", 200, statement.formatted(span + "," + span), "");
        assertThat(shell.run("statement").err())
                .isEqualTo("Pods are not charged (and 1 more in -o json)\n");
        assertThat(shell.run("statement", "-o", "json").out())
                .contains("\"until\" : \"2026-11-20T11:00:00Z\"");
    }

    @Test
    void theTimeIsAskedForAsTheLedgerReadsIt() {
        api.passesOn(
                TEAM_A + "statement?from=2026-11-20T00%3A00%3A00Z&to=2026-11-20T12%3A00%3A00Z",
                200,
                STATEMENT.formatted(""),
                "");

        assertThat(
                        shell.run(
                                        "statement",
                                        "--from",
                                        "2026-11-20",
                                        "--to",
                                        "2026-11-20T12:00:00Z")
                                .code())
                .isZero();
        assertThat(shell.run("statement", "--from", "yesterday"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: --from is yesterday; write a day as 2026-11-01, or an instant as 2026-11-01T12:00:00Z\n",
                                1));
    }

    private void periodsBegin(String zone, String unit) {
        api.has(
                BUDGETS,
                "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: team-a, creationTimestamp: '2026-01-01T00:00:00Z'}, spec: {namespaces: [team-a], period: {timeZone: %s, unit: %s}}}"
                        .formatted(zone, unit));
    }

    @Test
    void aDayIsOneOfTheBudgetsZone() {
        periodsBegin("Europe/Berlin", "Month");
        api.passesOn(
                TEAM_A + "statement?from=2026-11-19T23%3A00%3A00Z",
                200,
                STATEMENT.formatted(""),
                "");

        assertThat(shell.run("statement", "--from", "2026-11-20").code()).isZero();
    }

    @Test
    void theLastPeriodIsThatOfTheBudget() {
        periodsBegin("Europe/Berlin", "Month");
        api.passesOn(
                TEAM_A + "statement?from=2026-09-30T22%3A00%3A00Z&to=2026-10-31T23%3A00%3A00Z",
                200,
                STATEMENT.formatted(""),
                "");

        assertThat(shell.run("statement", "--last-period").code()).isZero();
        assertThat(shell.run("statement", "--last-period", "--to", "2026-11-01").err())
                .startsWith("error: --last-period has its own begin and end");
        periodsBegin("UTC", "Never");
        assertThat(shell.run("statement", "--last-period").err())
                .isEqualTo("error: Budget team-a has one period without an end\n");
    }

    @Test
    void whoWastesInAllBudgetsIsShownTogether() {
        api.has(
                BUDGETS,
                "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: team-a, creationTimestamp: '2026-11-01T00:00:00Z'}, spec: {namespaces: [team-a]}}",
                "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: team-b, creationTimestamp: '2026-11-01T00:00:00Z'}, spec: {namespaces: [team-b]}}");
        String wastes =
                """
                [{"namespace":"%1$s","name":"%1$s-x","budget":"%1$s","summary":"","pods":1,"rate":500000,
                  "heldSeconds":60,"charged":60000000,"measured":0,"idle":%2$d,"unwatched":0,"busyPercent":"0.0"}]
                """;
        api.passesOn(
                TEAM_A + "waste?by=pod&limit=1000",
                200,
                wastes.formatted("team-a", 30_000_000),
                "");
        api.passesOn(
                TEAM_A.replace("team-a", "team-b") + "waste?by=pod&limit=1000",
                200,
                wastes.formatted("team-b", 60_000_000),
                "");

        assertThat(shell.run("waste", "-A", "--no-headers").out().lines())
                .satisfiesExactly(
                        first -> assertThat(first).startsWith("team-b   team-b-x"),
                        second -> assertThat(second).startsWith("team-a   team-a-x"));
    }

    @Test
    void whoWastesIsShownByOwner() {
        api.passesOn(
                TEAM_A + "waste?by=owner&limit=1000",
                200,
                """
                [{"namespace":"team-a","name":"sweep-x1","ownerKind":"Job","ownerName":"sweep","budget":"team-a","summary":"","pods":3,"rate":500000,
                  "heldSeconds":5400,"charged":2700000000,"measured":270000000,"idle":2430000000,"unwatched":0,"busyPercent":"10.0"},
                 {"namespace":"team-b","budget":"team-a","summary":"","pods":1,"rate":1000000,
                  "heldSeconds":60,"charged":60000000,"measured":0,"idle":0,"unwatched":60000000},
                 {"namespace":"team-a","name":"notebook","budget":"team-a","summary":"","pods":1,"rate":500000,
                  "heldSeconds":60,"charged":30000000,"measured":0,"idle":6000000,"unwatched":0,"busyAtMostPercent":"80.0"}]
                """,
                "");

        assertThat(shell.run("waste", "--by-owner"))
                .isEqualTo(
                        new Answer(
                                """
                                NAMESPACE   NAME        PODS   GPUS   HELD    CHARGED   IDLE     BUSY      UNWATCHED
                                team-a      Job/sweep   3      0.5    1h30m   45.000    40.500   10.0%     0.000
                                team-a      notebook    1      0.5    1m      0.500     0.100    <=80.0%   0.000
                                team-b      -           1      1      1m      1.000     -        -         1.000
                                """,
                                "", 0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"waste?by=pod&limit=1000", "evictions?limit=1000"})
    void whatChangesCanBeWatched(String question) {
        String command = question.substring(0, question.indexOf('?'));
        api.passesOn(TEAM_A + question, 200, "[]", "");
        shell.meanwhile(() -> api.passesOn(TEAM_A + question, 503, "", ""));

        Answer answer = shell.run(command, "-w");

        assertThat(answer.err().lines())
                .hasSize(2)
                .last()
                .asString()
                .startsWith("error: The timekeeper does not answer now");
        assertThat(answer.code()).isZero();
    }

    @Test
    void evictionsSayForWhomRoomWasMadeAndWhy() {
        api.passesOn(
                TEAM_A + "evictions?limit=1000",
                200,
                """
                [{"at":"2026-11-21T09:00:00Z","cause":"Reclaim","victim":{"uid":"u","namespace":"team-a","name":"train","budget":"team-a"},
                  "waiter":{"uid":"w","namespace":"team-b","name":"serve","budget":"team-b"},"node":"n1","because":"it was over its time",
                  "reason":"r","cost":1,"considered":{"spared":{"in budget":2},"nearest":[]},"result":"Evicted","helped":true,"outcome":"bound after 4 s"}]
                """,
                "");

        assertThat(shell.run("evictions", "-o", "wide"))
                .isEqualTo(
                        new Answer(
                                """
                                AT                     CAUSE     POD            BUDGET   NODE   FOR            RESULT    HELPED            BECAUSE
                                2026-11-21T09:00:00Z   Reclaim   team-a/train   team-a   n1     team-b/serve   Evicted   bound after 4 s   it was over its time
                                """,
                                "",
                                0));
    }

    @Test
    void whereNothingWasEvictedItIsSaid() {
        api.passesOn(TEAM_A + "evictions?limit=1000", 200, "[]", "");

        assertThat(shell.run("evictions"))
                .isEqualTo(new Answer("", "No pod of this budget's namespaces was evicted\n", 0));
    }

    @Test
    void aNamespaceWithoutABudgetHasNoStatement() {
        assertThat(shell.run("statement", "-n", "other").err())
                .isEqualTo(
                        "error: No budget names the namespace other; kubectl gpusharing budgets -A shows all\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "404 | 404 page not found | has no usage.gpusharing.io; an administrator turns it on with api.aggregated: true",
                "404 | {\"kind\":\"Status\",\"message\":\"There is no GpuBudget named team-a\"} | error: There is no GpuBudget named team-a",
                "403 | {\"kind\":\"Status\",\"message\":\"User ada cannot get it\"} | User ada cannot get it; ask an administrator for the cluster role gpusharing-usage-admin",
                "503 | service unavailable | The timekeeper does not answer now; kubectl gpusharing budgets works without it",
                "500 | {\"kind\":\"Status\",\"message\":\"broken\"} | answered 500: broken",
                "503 | {\"kind\":\"Status\",\"message\":\"The database is away\"} | error: The database is away",
                "401 | | does not accept your login"
            })
    void aQuestionThatIsNotAnsweredEndsWithASentence(int code, String body, String sentence) {
        api.passesOn(TEAM_A + "waste?by=pod&limit=1000", code, body == null ? "" : body, "");

        Answer answer = shell.run("waste", "team-a");

        assertThat(answer.code()).isEqualTo(1);
        assertThat(answer.out()).isEmpty();
        assertThat(answer.err()).contains(sentence).hasLineCount(1);
    }
}
