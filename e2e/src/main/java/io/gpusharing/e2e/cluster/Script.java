package io.gpusharing.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A script of {@code tools}. It may take 15 minutes: the first one builds the programs. */
public final class Script {

    private Script() {}

    /**
     * Runs one whose words go to the terminal.
     *
     * @throws IllegalStateException if it fails or does not end
     */
    public static void run(String script, List<String> arguments) {
        run(script, arguments, Map.of());
    }

    /** As {@link #run(String, List)}, with this environment on top. */
    static void run(String script, List<String> arguments, Map<String, String> environment) {
        run(script, arguments, environment, ProcessBuilder.Redirect.INHERIT);
    }

    /** As {@link #run(String, List)}, with what it prints to standard output. */
    static String ask(String script, List<String> arguments) {
        return run(script, arguments, Map.of(), ProcessBuilder.Redirect.PIPE);
    }

    private static String run(
            String script,
            List<String> arguments,
            Map<String, String> environment,
            ProcessBuilder.Redirect output) {
        var command = new ArrayList<String>();
        command.add(Repository.root().resolve(script).toString());
        command.addAll(arguments);
        try {
            var builder = new ProcessBuilder(command).inheritIO().redirectOutput(output);
            builder.environment().putAll(environment);
            var process = builder.start();
            String printed =
                    new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(15, TimeUnit.MINUTES)) {
                process.destroyForcibly();
                throw new IllegalStateException(script + arguments + " does not end");
            }
            if (process.exitValue() != 0) {
                throw new IllegalStateException(
                        script + arguments + " failed; see its output above");
            }
            return printed;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted during " + script + arguments, e);
        }
    }
}
