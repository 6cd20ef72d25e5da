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

    private static final String CORRECTIONS = "/apis/usage.gpusharing.io/v1alpha1/corrections";
    private static final String POD = "0190a8b2-0000-4000-8000-000000000001";

    @TempDir private Path folder;

    private FakeApiServer api;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        shell = new Shell(api.url(), folder, "2026-11-27T08:00:00Z");
        api.passesOn(
                CORRECTIONS,
                201,
                """
                {"kind":"Correction","apiVersion":"usage.gpusharing.io/v1alpha1","spec":{},"status":{"entries":[
                  {"id":"9d7c","pod":"%s","namespace":"team-a","budget":"team-a","from":"2026-11-21T10:50:00Z","to":"2026-11-21T11:00:00Z",
                   "rate":-500000,"amount":-300000000,"amountMinutes":"-5.000","reason":"x","author":"ada","postedAt":"2026-11-27T08:00:00Z"}]}}
                """
                        .formatted(POD),
                "");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private Answer correct(String from, String gpus, String... more) {
        var all =
                new ArrayList<>(
                        List.of(
                                "correct",
                                "team-a",
                                POD,
                                "--from",
                                from,
                                "--to",
                                "2026-11-21T11:10:00Z",
                                "--gpus",
                                gpus,
                                "--reason",
                                "the node was broken"));
        all.addAll(List.of(more));
        return shell.run(all.toArray(String[]::new));
    }

    @Test
    void whatIsGivenBackIsShown() {
        assertThat(correct("2026-11-21T10:50:00Z", "0.25", "--key", "node-7"))
                .isEqualTo(
                        new Answer(
                                """
                                FROM                   TO                     NAMESPACE   GPUS   GPU-MINUTES
                                2026-11-21T10:50:00Z   2026-11-21T11:00:00Z   team-a      -0.5   -5.000
                                """,
                                "",
                                0));
        assertThat(api.bodies.getLast())
                .contains(
                        "\"kind\":\"Correction\"",
                        "\"budget\":\"team-a\"",
                        "\"pod\":\"" + POD + "\"",
                        "\"rate\":250000",
                        "\"from\":\"2026-11-21T10:50:00Z\"",
                        "\"idempotencyKey\":\"node-7\"",
                        "\"reason\":\"the node was broken\"");
    }

    @ParameterizedTest
    @CsvSource({
        "yesterday, 0, --from is yesterday; write a day as 2026-11-01",
        "2026-11-21, 0.0000001, --gpus is 0.0000001; write whole GPUs"
    })
    void whatCannotBeMeantIsRefusedBeforeAnybodyIsAsked(String from, String gpus, String problem) {
        assertThat(correct(from, gpus).err()).startsWith("error: " + problem);
        assertThat(api.requests).isEmpty();
    }

    @Test
    void whoIsNotAnsweredIsToldHowToAskAgain() {
        api.passesOn(
                CORRECTIONS,
                503,
                "{\"kind\":\"Status\",\"code\":503,\"message\":\"The replica has not answered\"}",
                "");

        Answer answer = correct("2026-11-21", "0");

        assertThat(answer.err()).startsWith("error: The replica has not answered. If it is not");
        String named = answer.err().replaceAll("(?s).*--key (\\S+) says.*", "$1");
        assertThat(api.bodies.getLast()).contains("\"idempotencyKey\":\"" + named + "\"");
    }

    @Test
    void whatTheLedgerRefusesIsSaidInItsWords() {
        api.passesOn(
                CORRECTIONS,
                422,
                "{\"kind\":\"Status\",\"code\":422,\"message\":\"Nothing to correct\"}",
                "");

        assertThat(correct("2026-11-21", "0"))
                .isEqualTo(new Answer("", "error: Nothing to correct\n", 1));
        assertThat(shell.run("correct", "team-a", "no-uid").code()).isEqualTo(2);
    }
}
