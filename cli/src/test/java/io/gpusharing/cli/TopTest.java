package io.gpusharing.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.cli.Shell.Answer;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TopTest {

    private static final String API = "/apis/usage.gpusharing.io/v1alpha1/";
    private static final String OURS = API + "namespaces/team-a/podusages?limit=500";

    private static final String LIST =
            """
            {"kind":"PodUsageList","apiVersion":"usage.gpusharing.io/v1alpha1","metadata":{"resourceVersion":""%s},"items":[%s]}
            """;

    @TempDir private Path folder;

    private FakeApiServer api;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        shell = new Shell(api.url(), folder, "2026-11-27T08:00:00Z");
        api.passesOn(
                OURS,
                200,
                LIST.formatted(
                        ",\"continue\":\"eA==\"",
                        pod("diligent", "1", measured("90.0")) + "," + pod("unwatched", "2", "")),
                "");
        api.passesOn(
                OURS + "&continue=eA%3D%3D",
                200,
                LIST.formatted("", pod("lazy", "0.5", measured("20.0"))),
                "");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private static String pod(String name, String gpus, String measured) {
        return pod(name, gpus, gpus, measured);
    }

    private static String pod(String name, String charged, String held, String measured) {
        return """
        {"kind":"PodUsage","metadata":{"name":"%s","namespace":"team-a","uid":"7d5c0a5e-0000-4000-8000-000000000001","labels":{}},
         "status":{"node":"n1","budget":"research","gpus":"%s","computePart":"%s","memoryPart":"0","shareKnown":true,
          "since":"2026-11-27T07:30:00Z","sinceEstimated":false,"chargedMinutes":"15.000","charged":900000000%s}}
        """
                .formatted(name, charged, held, measured);
    }

    private static String measured(String busy) {
        return ",\"measured\":{\"meter\":\"Agent\",\"basis\":\"Process\",\"minutes\":\"3.000\",\"busyPercent\":\"%s\",\"lastReport\":\"2026-11-27T07:59:50Z\"}"
                .formatted(busy);
    }

    @Test
    void theMostIdleComesFirstAndWhoeverNobodyMeasuredLast() {
        assertThat(shell.run("top"))
                .isEqualTo(
                        new Answer(
                                """
                                NAMESPACE   NAME        GPUS   IDLE   BUSY    HELD   CHARGED   BUDGET
                                team-a      lazy        0.5    0.40   20.0%   30m    15.000    research
                                team-a      diligent    1      0.10   90.0%   30m    15.000    research
                                team-a      unwatched   2      -      -       30m    15.000    research
                                """,
                                "", 0));
    }

    @Test
    void aModelThatCostsMoreLeavesNoMoreOfItselfIdle() {
        api.passesOn(OURS, 200, LIST.formatted("", pod("dear", "2", "0.5", measured("20.0"))), "");

        assertThat(shell.run("top").out()).contains("dear   2      0.40   20.0%");
    }

    @Test
    void whoWantsToKnowMoreSeesHowItWasMeasured() {
        assertThat(shell.run("top", "-o", "wide").out().lines().toList().get(1))
                .endsWith("n1     3.000      Process");
        assertThat(shell.run("top", "-o", "json").out())
                .contains("\"busyPercent\" : \"20.0\"")
                .doesNotContain("\"idle\"");
    }

    @Test
    void whereNobodyHoldsAGpuThatIsSaid() {
        api.passesOn(API + "podusages?limit=500", 200, LIST.formatted("", ""), "");

        assertThat(shell.run("top", "-A"))
                .isEqualTo(new Answer("", "No pod of the cluster holds a GPU now\n", 0));
    }

    @Test
    void whoMayNotSeeThemIsToldWhichRightIsMissing() {
        api.passesOn(
                API + "namespaces/team-b/podusages?limit=500",
                403,
                "{\"kind\":\"Status\",\"code\":403,\"message\":\"User \\\"ada\\\" cannot list resource \\\"podusages\\\"\"}",
                "");

        assertThat(shell.run("top", "-n", "team-b"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: User \"ada\" cannot list resource \"podusages\"; ask for the role view in the namespace, or an administrator for the cluster role gpusharing-usage-admin. Where usage.gpusharing.io is off, an administrator turns it on with api.aggregated: true\n",
                                1));
    }

    @Test
    void whoWatchesIsShownItAgainAndTheNextAnswerMayBeBetter() {
        String lazy = LIST.formatted("", pod("lazy", "0.5", measured("20.0")));
        shell.meanwhile(
                () -> api.passesOn(OURS, 503, "{\"kind\":\"Status\",\"message\":\"away\"}", ""),
                () -> api.passesOn(OURS, 200, lazy, ""));

        Answer answer = shell.run("top", "--watch");

        assertThat(answer.code()).isZero();
        assertThat(answer.out().lines().map(line -> line.replaceAll("^(\\S+ +\\S+).*", "$1")))
                .containsExactly(
                        "NAMESPACE   NAME",
                        "team-a      lazy",
                        "team-a      diligent",
                        "team-a      unwatched",
                        "",
                        "",
                        "NAMESPACE   NAME",
                        "team-a      lazy");
        assertThat(answer.err()).isEqualTo("error: away\n");
    }

    @Test
    void whoeverWatchesOnATerminalSeesTheLastAnswerAlone() {
        shell.meanwhile(() -> {});

        String out = shell.runColoured("top", "-w").out();

        assertThat(out.split("\033\\[H\033\\[2J", -1))
                .hasSize(3)
                .satisfies(parts -> assertThat(parts[0]).isEmpty())
                .satisfies(
                        parts -> assertThat(parts[1]).startsWith("NAMESPACE").isEqualTo(parts[2]));
    }

    @Test
    void whatGoesWrongMeanwhileIsSeenOnTheTerminal() {
        shell.meanwhile(
                () -> api.passesOn(OURS, 503, "{\"kind\":\"Status\",\"message\":\"away\"}", ""));

        assertThat(shell.seen("top", "-w")).endsWith("\033[H\033[2Jerror: away\n");
    }

    @Test
    void aProgramIsToldToAskAgainItself() {
        Answer answer = shell.run("top", "-w", "-o", "json");

        assertThat(answer.code()).isEqualTo(1);
        assertThat(answer.err())
                .isEqualTo("error: --watch is for people: use it with -o table or -o wide\n");
    }
}
