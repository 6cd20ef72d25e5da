package io.gpusharing.cli;

import io.gpusharing.cli.console.Console;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.stream.Stream;

/**
 * Runs the commands that people wait for, one after the other in one process, so that the AOT cache
 * that is trained by it knows all of them. No part of what users run.
 */
final class Rehearsal {

    private static final List<List<String>> COMMANDS =
            List.of(
                    List.of("budgets"),
                    List.of("budgets", "-o", "json"),
                    List.of("statement"),
                    List.of("waste"),
                    List.of("evictions"),
                    List.of("top"),
                    List.of("processes"),
                    List.of("inspect"),
                    List.of("devices"),
                    List.of("explain", "training"));

    private Rehearsal() {}

    static void main(String[] args) {
        var problems = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        var console = new Console(new PrintWriter(Writer.nullWriter()), problems, false);
        for (List<String> command : COMMANDS) {
            String[] words =
                    Stream.concat(command.stream(), Stream.of("--kubeconfig", args[0]))
                            .toArray(String[]::new);
            int code =
                    new Program("kubectl-gpusharing", console, Clock.systemUTC(), _ -> false, words)
                            .run();
            if (code != 0) {
                throw new IllegalStateException(command + " ended with " + code);
            }
        }
    }
}
