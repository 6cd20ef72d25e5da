package io.gpusharing.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A real process beside the cluster, one of our services for instance. Its pid lies in {@code
 * DIR/run/NAME.pid}, so that {@code tools/cluster down DIR} ends it too; its words lie in {@code
 * DIR/logs/NAME.log}.
 */
public final class Program {

    /** A service that was the first to start may write its archive ({@code tools/services}). */
    private static final Duration STOPPED = Duration.ofMinutes(1);

    private final String name;
    private final Path log;
    private final Process process;

    private Program(String name, Path log, Process process) {
        this.name = name;
        this.log = log;
        this.process = process;
    }

    /**
     * Starts it; does not wait until it is ready.
     *
     * @param environment added to this process's own
     */
    public static Program start(
            TestCluster cluster,
            String name,
            Map<String, String> environment,
            List<String> command) {
        Path pidFile = cluster.dir().resolve("run").resolve(name + ".pid");
        Path log = cluster.dir().resolve("logs").resolve(name + ".log");
        var wrapped = new ArrayList<String>();
        // The shell writes the pid that the program then takes over: no crash of ours can come in
        // between.
        wrapped.addAll(
                List.of("sh", "-c", "echo $$ > \"$0\" && exec nohup \"$@\"", pidFile.toString()));
        wrapped.addAll(command);
        var builder =
                new ProcessBuilder(wrapped)
                        .directory(cluster.dir().toFile())
                        .redirectErrorStream(true)
                        .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().putAll(environment);
        try {
            return new Program(name, log, builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(name + " cannot be started", e);
        }
    }

    public boolean runs() {
        return process.isAlive();
    }

    /** As kubelet stops a container: SIGTERM, then time to finish. */
    public void stop() {
        process.destroy();
        try {
            if (!process.waitFor(STOPPED.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError(
                        "%s still runs %d s after SIGTERM\n%s"
                                .formatted(name, STOPPED.toSeconds(), lastWords()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** SIGKILL: no last word, no clean-up. */
    public void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    /**
     * Sends it a signal.
     *
     * @param signal its name without {@code SIG}
     */
    public void signal(String signal) {
        try {
            new ProcessBuilder("kill", "-" + signal, String.valueOf(process.pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The end of its log, for a message about it. */
    public String lastWords() {
        try {
            List<String> lines = Files.readAllLines(log);
            return String.join("\n", lines.subList(Math.max(0, lines.size() - 40), lines.size()));
        } catch (IOException e) {
            return "(no log: " + e.getMessage() + ")";
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
