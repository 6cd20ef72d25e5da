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

class GrantTest {

    private static final String GRANTS = "/apis/gpusharing.io/v1alpha1/gpugrants";

    private static final String TEAM_A = "/api/v1/namespaces/team-a/pods";

    private static final String PAPER =
            """
            {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuGrant", "metadata": {"name": "paper-42"},
             "spec": {"budget": "team-a", "gpuMinutes": "300", "reason": "paper deadline", "expiresAt": "2026-12-01T00:00:00Z"}}
            """;

    @TempDir private Path folder;

    private FakeApiServer api;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        shell = new Shell(api.url(), folder, "2026-11-27T08:00:00Z");
        api.has(
                BUDGETS,
                """
                apiVersion: gpusharing.io/v1alpha1
                kind: GpuBudget
                metadata: {name: team-a, creationTimestamp: "2026-11-01T00:00:00Z"}
                spec: {namespaces: [team-a], gpuMinutes: "60"}
                """);
        api.has(TEAM_A);
        api.passesOn(GRANTS, 201, PAPER, "");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private Answer grantPaper(String minutes) {
        return shell.run(
                "grant",
                "team-a",
                minutes,
                "--reason",
                "paper deadline",
                "--name",
                "paper-42",
                "--expires-at",
                "2026-12-01");
    }

    private static final Answer GRANTED =
            new Answer(
                    "gpugrant/paper-42: team-a has 300.000 GPU-minutes more, until 2026-12-01T00:00:00Z\n",
                    "",
                    0);

    @Test
    void aGrantIsMadeWithItsReasonAndItsTime() {
        assertThat(grantPaper("300")).isEqualTo(GRANTED);
        assertThat(api.lastBody(GRANTS))
                .contains(
                        "\"name\":\"paper-42\"",
                        "\"budget\":\"team-a\"",
                        "\"gpuMinutes\":\"300\"",
                        "\"reason\":\"paper deadline\"",
                        "\"expiresAt\":\"2026-12-01T00:00:00Z\"")
                .doesNotContain("notBefore");
    }

    @Test
    void aDayIsOneOfTheBudgetsZone() {
        api.has(
                BUDGETS,
                "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: team-a, creationTimestamp: '2026-11-01T00:00:00Z'}, spec: {namespaces: [team-a], gpuMinutes: 60, period: {timeZone: Europe/Berlin}}}");

        grantPaper("300");

        assertThat(api.lastBody(GRANTS)).contains("\"expiresAt\":\"2026-11-30T23:00:00Z\"");
    }

    private static String pod(String name, String priority, String more) {
        return "{apiVersion: v1, kind: Pod, metadata: {name: %s, annotations: {gpusharing.io/standing: OverBudget, gpusharing.io/budget: team-a%s}}, spec: {nodeName: n1, priority: %s}, status: {phase: Running}}"
                .formatted(name, more, priority);
    }

    @Test
    void runningPodsThatKeepTheirLowClassWhereAnotherSchedulerPlacesAreNamed() {
        api.has(
                TEAM_A,
                pod("train", "-100", ""),
                pod("ours", "-100", ", gpusharing.io/placement: 'u;c=GPU-0'"),
                pod("observed", "0", ""),
                pod("others", "-100", "").replace("budget: team-a", "budget: team-b"),
                pod("ended", "-100", "").replace("Running", "Succeeded"),
                pod("waits", "-100", "").replace("nodeName: n1, ", ""));

        assertThat(grantPaper("300"))
                .isEqualTo(
                        new Answer(
                                GRANTED.out(),
                                "team-a/train: admitted over budget, and where another scheduler than GPUSharing's places. It goes by their class, which never changes, and preempts them for any pod in budget. Only a pod that is made anew gets the class of pods in budget: delete them one at a time, and create those anew that no controller makes\n",
                                0));
        assertThat(api.requests.getLast()).contains("labelSelector=gpusharing.io");
    }

    private static String unknown(String namespaces, String why) {
        return "Which running pods of %s keep the class of pods over budget is not known here. %s"
                .formatted(namespaces, why);
    }

    private void paysFor(String namespaces) {
        api.has(
                BUDGETS,
                "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: team-a, creationTimestamp: '2026-11-01T00:00:00Z'}, spec: {namespaces: [%s], gpuMinutes: 60}}"
                        .formatted(namespaces));
    }

    @Test
    void whoMaySeeThePodsOfSomeNamespacesIsToldTheirNamesAndOfWhichOthersThatIsNotKnown() {
        paysFor("hidden, team-a, closed");
        api.has(TEAM_A, pod("train", "-100", ""));
        api.refuse("/api/v1/namespaces/hidden/pods", 403);
        api.refuse("/api/v1/namespaces/closed/pods", 403);

        Answer answer = grantPaper("300");

        assertThat(answer.out()).isEqualTo(GRANTED.out());
        assertThat(answer.err())
                .startsWith("team-a/train: admitted over budget")
                .endsWith(
                        "\n"
                                + unknown(
                                        "hidden, closed",
                                        "You may not list pods there; ask whoever administers the namespace for the role view\n"));
        assertThat(answer.code()).isZero();
    }

    @Test
    void whereThePodsCannotBeAskedForTheGrantIsMadeAllTheSame() {
        paysFor("team-a, away, beyond");
        api.has(TEAM_A, pod("train", "-100", ""));
        api.refuse("/api/v1/namespaces/away/pods", 500);

        Answer answer = grantPaper("300");

        assertThat(answer.out()).isEqualTo(GRANTED.out());
        assertThat(answer.err())
                .startsWith("team-a/train: admitted over budget")
                .contains(unknown("away, beyond", "The API server"), "answered 500");
        assertThat(answer.code()).isZero();
        assertThat(api.requests).noneMatch(it -> it.contains("/beyond/"));
    }

    /** A script runs again, also when the grant is over. */
    @Test
    void aGrantThatIsThereIsNotMadeAgain() throws IOException {
        api.passesOn(GRANTS + "/paper-42", 200, PAPER, "");
        var later = new Shell(api.url(), folder, "2026-12-02T08:00:00Z");

        assertThat(
                        later.run(
                                "grant",
                                "team-a",
                                "300",
                                "--reason",
                                "paper deadline",
                                "--name",
                                "paper-42",
                                "--expires-at",
                                "2026-12-01"))
                .isEqualTo(GRANTED);
        assertThat(api.requests).doesNotContain(GRANTS);
    }

    /** An answer was lost. */
    @Test
    void theSameGrantIsMadeOnceAndAnotherOfItsNameNever() {
        api.passesOn(GRANTS, 409, "{\"kind\":\"Status\",\"code\":409}", "");
        api.passesOn(GRANTS + "/paper-42", 200, PAPER, "");

        assertThat(grantPaper("300")).isEqualTo(GRANTED);
        assertThat(grantPaper("600"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: There is another gpugrant paper-42 already, and it cannot be changed; give it another --name\n",
                                1));
    }

    @Test
    void whoGivesNoNameGetsOneOfTheBudgets() {
        shell.run(
                "grant", "team-a", "0.5", "--reason", "x", "--not-before", "2026-12-01T08:00:00Z");

        assertThat(api.bodies.getLast())
                .containsPattern("\"name\":\"team-a-[0-9a-f]{8}\"")
                .contains("\"notBefore\":\"2026-12-01T08:00:00Z\"");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    team-a | much | --expires-at | 2026-12-01 | "much" is no number of GPU-minutes
                    team-a | 0    | --expires-at | 2026-12-01 | MINUTES is above 0, not 0; to take time away, lower the budget
                    team-a | 1    | --expires-at | 2026-11-27 | which has passed, so that nothing would be granted
                    team-a | 1    | --not-before | tomorrow   | --not-before is tomorrow; write a day as 2026-11-01
                    team-b | 1    | --not-before | 2026-12-01 | There is no GpuBudget team-b; kubectl gpusharing budgets -A shows all
                    """)
    void whatWouldGrantNothingIsRefused(
            String budget, String minutes, String option, String when, String problem) {
        Answer answer = shell.run("grant", budget, minutes, "--reason", "x", option, when);

        assertThat(answer.err()).startsWith("error: ").contains(problem);
        assertThat(answer.code()).isOne();
        assertThat(api.requests).doesNotContain(GRANTS);
    }

    @Test
    void whoMayNotGrantIsToldWhomToAsk() {
        api.passesOn(GRANTS, 403, "{\"kind\":\"Status\",\"code\":403,\"message\":\"no\"}", "");

        assertThat(shell.run("grant", "team-a", "1", "--reason", "x"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: You may not create gpugrants; ask an administrator for the cluster role gpusharing-budget-admin\n",
                                1));
        assertThat(shell.run("grant", "team-a", "1").code()).isEqualTo(2);
    }
}
