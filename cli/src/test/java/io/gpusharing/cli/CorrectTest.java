package io.gpusharing.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.cli.Shell.Answer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CorrectTest {

    private static final String CORRECTIONS = "/apis/gpusharing.io/v1alpha1/gpucorrections";
    private static final String STATEMENT =
            "/apis/usage.gpusharing.io/v1alpha1/budgetusages/team-a/statement?from=2026-11-21T10%3A50%3A00Z&to=2026-11-21T11%3A10%3A00Z";
    private static final String POD = "0190a8b2-0000-4000-8000-000000000001";
    private static final String WRITTEN =
            """
            {"written": "2026-11-27T08:00:00Z", "pod": "%s", "entryCount": 1, "amount": -300000000, "gpuMinutes": "-5.000",
             "entries": [{"from": "2026-11-21T10:50:00Z", "to": "2026-11-21T11:00:00Z", "namespace": "team-a", "rate": -500000, "amount": -300000000}]}
            """
                    .formatted(POD);
    private static final Answer SHOWN =
            new Answer(
                    """
                    FROM                   TO                     NAMESPACE   GPUS   GPU-MINUTES
                    2026-11-21T10:50:00Z   2026-11-21T11:00:00Z   team-a      -0.5   -5.000
                    """,
                    "",
                    0);

    @TempDir private Path folder;

    private FakeApiServer api;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        shell = new Shell(api.url(), folder, "2026-11-27T08:00:00Z");
        api.passesOn(CORRECTIONS, 201, correction("{}"), "");
        becomes(WRITTEN);
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private void becomes(String status) {
        api.passesOn(CORRECTIONS + "/node-7", 200, correction(status), "");
    }

    private static String correction(String status) {
        return """
        {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuCorrection", "metadata": {"name": "node-7"},
         "spec": {"budget": "team-a", "pod": {"uid": "%s"}, "from": "2026-11-21T10:50:00Z", "to": "2026-11-21T11:10:00Z",
                  "rate": 250000, "reason": "the node was broken"},
         "status": %s}
        """
                .formatted(POD, status);
    }

    private Answer correct(String... more) {
        return correctPod(POD, "2026-11-21T10:50:00Z", "0.25", more);
    }

    private Answer correctPod(String pod, String from, String gpus, String... more) {
        var all =
                new ArrayList<>(
                        List.of(
                                "correct",
                                "team-a",
                                pod,
                                "--from",
                                from,
                                "--to",
                                "2026-11-21T11:10:00Z",
                                "--gpus",
                                gpus,
                                "--reason",
                                "the node was broken",
                                "--name",
                                "node-7"));
        all.addAll(List.of(more));
        return shell.run(all.toArray(String[]::new));
    }

    @Test
    void anObjectIsMadeAndWhatWasGivenBackIsShown() {
        assertThat(correct()).isEqualTo(SHOWN);
        assertThat(api.bodies.getFirst())
                .contains(
                        "\"kind\":\"GpuCorrection\"",
                        "\"name\":\"node-7\"",
                        "\"budget\":\"team-a\"",
                        "\"pod\":{\"uid\":\"" + POD + "\"}",
                        "\"rate\":250000",
                        "\"from\":\"2026-11-21T10:50:00Z\"",
                        "\"reason\":\"the node was broken\"");
    }

    @Test
    void aPodMayBeSaidByItsName() {
        correctPod("team-a/train", "2026-11-21T10:50:00Z", "0.25");

        assertThat(api.bodies.getFirst())
                .contains("\"pod\":{\"namespace\":\"team-a\",\"name\":\"train\"}");
    }

    @Test
    void itIsWaitedForUntilItIsWritten() {
        becomes("{}");
        shell.meanwhile(() -> {}, () -> becomes(WRITTEN));

        assertThat(correct()).isEqualTo(SHOWN);
    }

    @Test
    void whoHasWaitedInVainIsToldHowToSeeItAndHowToWithdrawIt() {
        becomes("{}");

        assertThat(correct().err())
                .contains(
                        "has not written it yet",
                        "kubectl get gpucorrection node-7",
                        "kubectl delete gpucorrection node-7 withdraws it");
    }

    /** A script runs again, or an answer was lost. */
    @Test
    void theSameOneIsMadeOnceAndAnotherOfItsNameNever() {
        api.passesOn(CORRECTIONS, 409, "{\"kind\":\"Status\",\"code\":409}", "");

        assertThat(correct()).isEqualTo(SHOWN);
        assertThat(correctPod(POD, "2026-11-21T10:50:00Z", "0").err())
                .startsWith("error: There is another gpucorrection node-7 already");
    }

    @ParameterizedTest
    @CsvSource({
        "team-a/train, yesterday, 0, --from is yesterday; write a day as 2026-11-01",
        "team-a/train, 2026-11-21, 0.0000001, --gpus is 0.0000001; write whole GPUs",
        "train, 2026-11-21, 0, POD is train; write NAMESPACE/NAME or a UID"
    })
    void whatCannotBeMeantIsRefusedBeforeAnybodyIsAsked(
            String pod, String from, String gpus, String problem) {
        assertThat(correctPod(pod, from, gpus).err()).startsWith("error: " + problem);
        assertThat(api.requests).isEmpty();
    }

    @Test
    void whatTheLedgerRefusesIsSaidInItsWords() {
        becomes(
                "{\"refused\": {\"rule\": \"NotPosted\", \"message\": \"It is posted until noon\"}}");

        assertThat(correct())
                .isEqualTo(new Answer("", "error: It is posted until noon (NotPosted)\n", 1));
    }

    @Test
    void ofVeryManyEntriesTheRestIsCounted() {
        becomes(WRITTEN.replace("\"entryCount\": 1", "\"entryCount\": 744"));

        assertThat(correct().err()).isEqualTo("743 more entries; -5.000 GPU-minutes in all\n");
    }

    @Test
    void aDryRunShowsWhatWasChargedAndMakesNothing() {
        api.passesOn(CORRECTIONS + "?dryRun=All", 201, correction("{}"), "");
        api.passesOn(STATEMENT, 200, statement(POD, POD), "");

        assertThat(correct("--dry-run"))
                .isEqualTo(
                        new Answer(
                                "As of 2026-11-27T08:00:00Z budget team-a was charged 9.000 GPU-minutes for pod %s in that time; it would be 5.000, a difference of -4.000. Nothing was made, and the ledger has not judged it.\n"
                                        .formatted(POD),
                                "",
                                0));
        assertThat(api.requests).doesNotContain(CORRECTIONS);
    }

    @Test
    void aDryRunOfANameThatFitsSeveralPodsNamesThem() {
        api.passesOn(CORRECTIONS + "?dryRun=All", 201, correction("{}"), "");
        api.passesOn(STATEMENT, 200, statement(POD, "another"), "");

        assertThat(correctPod("team-a/train", "2026-11-21T10:50:00Z", "0", "--dry-run").err())
                .startsWith("error: 2 pods called team-a/train held GPUs")
                .contains(POD, "another");
    }

    @Test
    void aDryRunOfTimeThatIsNotPostedSaysSo() {
        api.passesOn(CORRECTIONS + "?dryRun=All", 201, correction("{}"), "");
        api.passesOn(STATEMENT, 200, statement(POD, POD).replaceFirst("Charge", "Running"), "");

        assertThat(correct("--dry-run").err()).startsWith("error: Not all of that time is posted");
    }

    /** Ten minutes in each of two hours, of which one minute was given back. */
    private static String statement(String one, String other) {
        String line =
                """
                {"kind": "%s", "from": "%s", "to": "%s", "namespace": "team-a", "pod": "%s", "podName": "train", "used": %d}
                """;
        return """
        {"budget": "team-a", "from": "2026-11-21T10:50:00Z", "to": "2026-11-21T11:10:00Z", "used": 1, "namespaces": {}, "lines": [%s, %s, %s, %s]}
        """
                .formatted(
                        line.formatted(
                                "Charge",
                                "2026-11-21T10:50:00Z",
                                "2026-11-21T11:00:00Z",
                                one,
                                300_000_000),
                        line.formatted(
                                "Charge",
                                "2026-11-21T11:00:00Z",
                                "2026-11-21T11:10:00Z",
                                other,
                                300_000_000),
                        line.formatted(
                                "Correction",
                                "2026-11-21T11:00:00Z",
                                "2026-11-21T11:02:00Z",
                                other,
                                -60_000_000),
                        line.formatted(
                                        "Charge",
                                        "2026-11-21T11:00:00Z",
                                        "2026-11-21T11:10:00Z",
                                        "somebody",
                                        7)
                                .replace("train", "serve"));
    }

    @Test
    void whoMayNotCorrectIsToldWhomToAsk() {
        api.passesOn(CORRECTIONS, 403, "{\"kind\":\"Status\",\"code\":403,\"message\":\"no\"}", "");

        assertThat(correct().err())
                .isEqualTo(
                        "error: You may not create gpucorrections; ask an administrator for the cluster role gpusharing-budget-admin\n");
    }
}
