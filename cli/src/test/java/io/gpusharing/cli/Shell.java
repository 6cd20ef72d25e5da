package io.gpusharing.cli;

import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Pause;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

/** Calls the program as a user of a cluster does whose context has the namespace {@code team-a}. */
final class Shell {

    /** What a command has printed, and how it ended. */
    record Answer(String out, String err, int code) {}

    private final Path kubeconfig;
    private final Clock clock;
    private Pause pause = _ -> false;

    Shell(String url, Path folder, String now) throws IOException {
        this.kubeconfig = folder.resolve("kubeconfig");
        this.clock = Clock.fixed(Instant.parse(now), ZoneOffset.UTC);
        Files.writeString(
                kubeconfig,
                """
                apiVersion: v1
                kind: Config
                clusters:
                - {name: cluster, cluster: {server: "%s"}}
                users:
                - {name: user, user: {token: secret}}
                contexts:
                - {name: ours, context: {cluster: cluster, user: user, namespace: team-a}}
                - {name: bare, context: {cluster: cluster, user: user}}
                current-context: ours
                """
                        .formatted(url));
    }

    Answer run(String... args) {
        var all = new ArrayList<>(List.of(args));
        all.addAll(List.of("--kubeconfig", kubeconfig.toString()));
        return called("kubectl-gpusharing", false, all.toArray(String[]::new));
    }

    Answer runColoured(String... args) {
        var all = new ArrayList<>(List.of(args));
        all.addAll(List.of("--kubeconfig", kubeconfig.toString()));
        return called("kubectl-gpusharing", true, all.toArray(String[]::new));
    }

    /** Of a command that is watched: between its answers, until there are no more of these. */
    void meanwhile(Runnable... events) {
        var left = List.of(events).iterator();
        pause =
                _ -> {
                    if (left.hasNext()) {
                        left.next().run();
                        return true;
                    }
                    return false;
                };
    }

    /** What a person sees, who has answers and notes in one window, with colours. */
    String seen(String... args) {
        var all = new ArrayList<>(List.of(args));
        all.addAll(List.of("--kubeconfig", kubeconfig.toString()));
        var window = new StringWriter();
        var console =
                new Console(
                        new PrintWriter(new BufferedWriter(window)),
                        new PrintWriter(window, true),
                        true);
        new Program("kubectl-gpusharing", console, clock, pause, all.toArray(String[]::new)).run();
        console.out().flush();
        return window.toString();
    }

    Answer inspectGpushare(String... args) {
        var all = new ArrayList<>(List.of(args));
        all.addAll(List.of("--kubeconfig", kubeconfig.toString()));
        return called("kubectl-inspect-gpushare", false, all.toArray(String[]::new));
    }

    /** Without a cluster. */
    Answer called(String name, boolean colours, String... args) {
        var out = new StringWriter();
        var err = new StringWriter();
        var console = new Console(new PrintWriter(out, true), new PrintWriter(err, true), colours);
        int code = new Program(name, console, clock, pause, args).run();
        console.out().flush();
        return new Answer(out.toString(), err.toString(), code);
    }
}
