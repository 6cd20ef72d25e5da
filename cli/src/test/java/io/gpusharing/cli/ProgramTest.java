package io.gpusharing.cli;

import static io.gpusharing.cli.FakeApiServer.BUDGETS;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.cli.Shell.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramTest {

    @TempDir private Path folder;

    private FakeApiServer api;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        shell = new Shell(api.url(), folder, "2026-11-21T10:00:00Z");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void namesTheRightThatIsMissing() {
        api.refuse(BUDGETS, 403);

        assertThat(shell.run("budgets"))
                .isEqualTo(
                        failed(
                                "You may not list gpubudgets; ask an administrator for the cluster role gpusharing-budget-reader"));
    }

    @Test
    void saysThatTheClusterHasNoBudgets() {
        assertThat(shell.run("budgets"))
                .isEqualTo(
                        failed(
                                "The API server %s knows no gpubudgets; GPUSharing is not installed in this cluster"
                                        .formatted(api.url())));
    }

    @Test
    void saysThatTheLoginIsNotAccepted() {
        api.refuse(BUDGETS, 401);

        assertThat(shell.run("budgets"))
                .isEqualTo(
                        failed(
                                "The API server %s does not accept your login; log in again, or name another context with --context"
                                        .formatted(api.url())));
    }

    @Test
    void saysWhatTheApiServerAnsweredOtherwise() {
        api.refuse(BUDGETS, 422);

        assertThat(shell.run("budgets").err())
                .startsWith(
                        "error: The API server %s answered 422 to list gpubudgets: "
                                .formatted(api.url()))
                .hasLineCount(1);
    }

    @Test
    void saysThatNobodyIsThere() {
        api.close();

        assertThat(shell.run("budgets").err())
                .startsWith("error: Cannot reach the API server %s (".formatted(api.url()))
                .endsWith("); is it the right context?\n")
                .hasLineCount(1);
    }

    @Test
    void namesTheContextsThatThereAre() {
        assertThat(shell.run("budgets", "--context", "theirs"))
                .isEqualTo(
                        failed(
                                "There is no context theirs in the kubeconfig; there are ours, bare"));
    }

    @Test
    void takesAnotherContext() {
        api.has(BUDGETS);

        assertThat(shell.run("budgets", "--context", "bare").err())
                .startsWith("No budget names the namespace default;");
    }

    @Test
    void saysThatTheKubeconfigIsMissing() {
        assertThat(called("budgets", "--kubeconfig", "/nowhere/config"))
                .isEqualTo(failed("There is no file /nowhere/config; see --kubeconfig"));
    }

    @Test
    void saysWhatIsWrongWithTheKubeconfig() throws IOException {
        Path broken = Files.writeString(folder.resolve("broken"), "contexts: [");

        assertThat(called("budgets", "--kubeconfig", broken.toString()).err())
                .startsWith("error: Cannot read the kubeconfig %s: ".formatted(broken))
                .hasLineCount(1);
    }

    @Test
    void saysWhichLoginItCannotUse() throws IOException {
        Path junk = Files.writeString(folder.resolve("junk.pem"), "no certificate");
        Path config =
                Files.writeString(
                        folder.resolve("login"),
                        """
                        apiVersion: v1
                        kind: Config
                        clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
                        users: [{name: u, user: {client-certificate: %1$s, client-key: %1$s}}]
                        contexts: [{name: x, context: {cluster: c, user: u}}]
                        current-context: x
                        """
                                .formatted(junk));

        assertThat(called("budgets", "--kubeconfig", config.toString()))
                .satisfies(answer -> {
                    assertThat(answer.err())
                            .startsWith("error: Cannot use the certificates or the key");
                    assertThat(answer.code()).isOne();
                });
    }

    @Test
    void endsWithTwoAfterAWrongOption() {
        assertThat(called("budgets", "-o", "xml"))
                .isEqualTo(
                        new Answer(
                                "",
                                "error: Invalid value for option '--output': xml is no format; use one of [table, wide, json, yaml, csv]; see kubectl gpusharing budgets --help\n",
                                2));
    }

    @Test
    void whoMistypesIsAskedWhatTheyMeant() {
        assertThat(called("budgts").err())
                .contains("did you mean budgets?")
                .endsWith("; see kubectl gpusharing --help\n");
        assertThat(called("budgets", "--al").err()).contains("did you mean --all-namespaces?");
    }

    @Test
    void asksAsSomebodyElse() {
        api.has(BUDGETS);

        shell.run("budgets", "-A", "--as", "jane", "--as-group", "a", "--as-group", "b");

        assertThat(api.impersonated).containsExactly("jane", "a", "b");
        assertThat(shell.run("budgets", "--as-group", "a").err())
                .isEqualTo("error: --as-group says more of a user; name one with --as\n");
    }

    @Test
    void aNameThatNothingCanHaveIsSaidWithoutThatOfAClass() {
        assertThat(shell.run("budgets", "").err())
                .startsWith("error: ")
                .doesNotContain("Exception", "This is a bug");
    }

    @Test
    void endsWithTwoWithoutACommand() {
        assertThat(called())
                .isEqualTo(
                        new Answer(
                                "",
                                "error: Missing required subcommand; see kubectl gpusharing --help\n",
                                2));
    }

    @Test
    void completesCommandsAndOptions() {
        assertThat(completed("bud").out()).isEqualTo("budgets\n:4\n");
        assertThat(completed("budgets", "--con").out()).isEqualTo("--context\n:4\n");
        assertThat(completed("budgets", "-o", "j").out()).isEqualTo("json\n:4\n");
        assertThat(completed("").out())
                .isEqualTo(
                        "budgets\ncorrect\ndevices\nevictions\nexplain\ngrant\ninspect\nprocesses\nquote\nstatement\ntop\nverify\nversion\nwaste\n:4\n");
    }

    @Test
    void helps() {
        assertThat(called("budgets", "--help").out())
                .isEqualTo(
                        """
                        Usage: kubectl gpusharing budgets [-AhVw] [--no-headers] [--as=USER]
                                                          [--context=NAME] [--kubeconfig=FILE]
                                                          [-n=NAME] [-o=FORMAT] [--as-group=GROUP]...
                                                          [NAME...]
                        What budgets have left now, in minutes of one whole GPU.
                        Without names: the budget that pays for the namespace.
                              [NAME...]           Budgets to show, by name.
                          -A, --all-namespaces    All budgets.
                              --as=USER           As this user, for those who may impersonate.
                              --as-group=GROUP    As a member of this group, with --as; may be repeated.
                              --context=NAME      Instead of the current one of the kubeconfig.
                          -h, --help              Show this help message and exit.
                              --kubeconfig=FILE   Instead of $KUBECONFIG or ~/.kube/config.
                          -n, --namespace=NAME    Instead of the one of the context.
                              --no-headers        Tables and CSV without their first line, and tables
                                                    without their last.
                          -o, --output=FORMAT     One of table, wide, json, yaml, csv.
                          -V, --version           Print version information and exit.
                          -w, --watch             Again every five seconds, until it is stopped.
                        """);
        assertThat(called("--help").out())
                .isEqualTo(
                        """
                        Usage: kubectl gpusharing [-hV] COMMAND
                        Budgets of GPU time, and who has which GPU.
                          -h, --help      Show this help message and exit.
                          -V, --version   Print version information and exit.
                        Commands:
                          budgets    What budgets have left now, in minutes of one whole GPU.
                          inspect    The GPUs that nodes share: how much of each is allocated, of how
                                       much, and to whom.
                          devices    The GPUs that nodes share: the memory of each, and how many shares
                                       it has.
                          explain    Where a pod is, or why it waits, was lowered, refused or evicted,
                                       and what would fit instead; -o wide says it of every GPU.
                          quote      What the pods of a manifest would cost, whether the budget lasts
                                       for them, and what happens to them when it is used up.
                          top        Who holds GPUs now, and how much of that was idle while it was
                                       watched, most idle first.
                          processes  What pods run on the GPUs that they hold: each process, how busy
                                       it keeps its pod's share, and its memory.
                          statement  Where the time of a budget went: what was left, what was added,
                                       what pods used.
                          waste      Pods of a budget that held GPUs and did not use them, most idle
                                       first.
                          evictions  Which pods of a budget's namespaces were evicted and for whom,
                                       latest first; -o wide says why.
                          grant      Gives a budget GPU-minutes on top of its own: makes a GpuGrant,
                                       which cannot be changed.
                          correct    Says what a span of a pod should have been charged: makes a
                                       GpuCorrection, which cannot be changed.
                          verify     Whether what is stored beside the ledger's entries is what they
                                       add up to, as the last hourly verification found it.
                          version    Says which release this is.
                        """);
    }

    @Test
    void saysItsVersion() {
        assertThat(called("version"))
                .isEqualTo(new Answer("kubectl-gpusharing unreleased\n", "", 0));
    }

    private Answer completed(String... words) {
        return shell.called("kubectl_complete-gpusharing", false, words);
    }

    private Answer called(String... args) {
        return shell.called("kubectl-gpusharing", false, args);
    }

    private static Answer failed(String sentence) {
        return new Answer("", "error: " + sentence + "\n", 1);
    }
}
