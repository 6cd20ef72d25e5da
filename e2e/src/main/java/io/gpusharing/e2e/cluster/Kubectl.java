package io.gpusharing.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The real kubectl, run in the repository's root as the cluster's administrator or in somebody
 * else's name.
 *
 * <p>Scheduler, controllers and simulated kubelets all act as the administrator here, so a test of
 * who may do what must say {@link #as}.
 */
public final class Kubectl {

    private final Path kubeconfig;
    private final List<String> identity;

    Kubectl(Path kubeconfig) {
        this(kubeconfig, List.of());
    }

    private Kubectl(Path kubeconfig, List<String> identity) {
        this.kubeconfig = kubeconfig;
        this.identity = identity;
    }

    /** The same cluster, asked in the name of a user. */
    public Kubectl as(String user, String... groups) {
        var flags = new ArrayList<String>();
        flags.add("--as=" + user);
        for (String group : groups) {
            flags.add("--as-group=" + group);
        }
        return new Kubectl(kubeconfig, List.copyOf(flags));
    }

    /** Runs it to its end, whatever the end is. */
    public Answer run(String... arguments) {
        return pipe("", arguments);
    }

    /** Runs it with a manifest on standard input, for {@code -f -}. */
    public Answer pipe(String manifest, String... arguments) {
        var command = new ArrayList<String>();
        command.add(Repository.tool("kubectl").toString());
        command.add("--kubeconfig=" + kubeconfig);
        command.addAll(identity);
        command.addAll(List.of(arguments));
        return answer(typed(arguments), command, manifest);
    }

    /** Runs our plugin: {@code kubectl gpusharing}. */
    public Answer gpusharing(String... arguments) {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
        command.add("-jar");
        command.add(Repository.jar("cli").toString());
        command.addAll(List.of(arguments));
        // Each of its commands has these options; it has none itself.
        command.add("--kubeconfig=" + kubeconfig);
        command.addAll(identity);
        return answer("gpusharing " + typed(arguments), command, "");
    }

    private static Answer answer(String typed, List<String> command, String input) {
        try {
            var process =
                    new ProcessBuilder(command)
                            .directory(Repository.root().toFile())
                            .redirectErrorStream(true)
                            .start();
            try (var in = process.getOutputStream()) {
                in.write(input.getBytes(StandardCharsets.UTF_8));
            }
            var text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Answer(typed, process.waitFor(), text.stripTrailing());
        } catch (IOException e) {
            throw new UncheckedIOException("kubectl cannot be run", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while kubectl ran", e);
        }
    }

    /** As a shell takes them. */
    private static String typed(String... arguments) {
        return Stream.of(arguments)
                .map(it -> it.matches("[\\w@%+=:,./-]*") ? it : "'%s'".formatted(it))
                .collect(Collectors.joining(" "));
    }

    /**
     * What kubectl said.
     *
     * @param command its arguments, as a person would type them
     * @param exit its exit status, 0 when the API server agreed
     * @param text both of its streams, in the order they came
     */
    public record Answer(String command, int exit, String text) {

        public boolean refused() {
            return exit != 0;
        }

        /**
         * The text, where anything but success is a defect.
         *
         * @throws AssertionError if kubectl failed
         */
        public String orFail() {
            if (refused()) {
                throw new AssertionError("kubectl " + command + " failed: " + text);
            }
            return text;
        }
    }
}
