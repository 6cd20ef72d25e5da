package io.gpusharing.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.cli.Shell.Answer;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerifyTest {

    private static final String LATEST = "/apis/usage.gpusharing.io/v1alpha1/verifications/latest";

    private static final String FOUND =
            """
            {"kind":"LedgerVerification","apiVersion":"usage.gpusharing.io/v1alpha1","metadata":{"name":"latest"},
             "status":{"sound":%s,"at":"2026-11-27T07:48:00Z","from":"2026-11-27T03:00:00Z","entries":1234,"differences":[%s]}}
            """;

    @TempDir private Path folder;

    private FakeApiServer api;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        shell = new Shell(api.url(), folder, "2026-11-27T08:00:00Z");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void aSoundLedgerIsSaidWithWhenItWasVerified() {
        api.passesOn(LATEST, 200, FOUND.formatted(true, ""), "");

        assertThat(shell.run("verify"))
                .isEqualTo(
                        new Answer(
                                "",
                                "The ledger is sound, verified at 2026-11-27T07:48:00Z, 12m ago: 1234 entries since 2026-11-27T03:00:00Z\n",
                                0));
        assertThat(shell.run("verify", "-o", "json").out()).contains("\"sound\" : true");
    }

    @Test
    void whatDiffersIsShownAndIsAFailure() {
        api.passesOn(
                LATEST,
                200,
                FOUND.formatted(
                        false,
                        "{\"kind\":\"period\",\"where\":\"team-a 2026-11\",\"stored\":\"60\",\"recomputed\":\"61\"}"),
                "");

        assertThat(shell.run("verify"))
                .isEqualTo(
                        new Answer(
                                """
                                KIND     WHERE            STORED   RECOMPUTED
                                period   team-a 2026-11   60       61
                                """,
                                "error: The ledger is not sound: 1 difference, verified at 2026-11-27T07:48:00Z, 12m ago\n",
                                1));
    }

    @Test
    void whatCannotBeReadIsToldAndIsNoFailure() {
        api.passesOn(
                LATEST,
                200,
                FOUND.formatted(true, "")
                        .replace(
                                "\"differences\":[]",
                                "\"differences\":[],\"unreadable\":[{\"kind\":\"Pod\",\"count\":7,\"some\":[\"team-a/p: why\",\"team-b/q: why\"]}]"),
                "");

        assertThat(shell.run("verify"))
                .isEqualTo(
                        new Answer(
                                "",
                                """
                                Cannot be read now, of kind Pod: 7
                                  team-a/p: why
                                  team-b/q: why
                                  and 5 more
                                The ledger is sound, verified at 2026-11-27T07:48:00Z, 12m ago: 1234 entries since 2026-11-27T03:00:00Z
                                """,
                                0));
        assertThat(shell.run("verify", "-o", "json").out()).contains("\"count\" : 7");
    }

    @Test
    void whatWasSoundLastWeekMayNotBeNow() {
        api.passesOn(LATEST, 200, FOUND.formatted(true, "").replace("11-27T07", "11-20T07"), "");

        assertThat(shell.run("verify"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: The ledger was sound when it was last verified at 2026-11-20T07:48:00Z, 7d ago; the timekeeper's log says why it was not since\n",
                                1));
    }

    @Test
    void whoAsksTooEarlyIsToldSo() {
        api.passesOn(
                LATEST,
                404,
                "{\"kind\":\"Status\",\"code\":404,\"message\":\"The ledger was not verified yet\"}",
                "");

        assertThat(shell.run("verify"))
                .isEqualTo(new Answer("", "error: The ledger was not verified yet\n", 1));
    }
}
