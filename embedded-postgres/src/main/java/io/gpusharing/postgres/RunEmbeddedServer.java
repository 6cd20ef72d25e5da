package io.gpusharing.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * {@code java -jar gpusharing-embedded-postgres.jar DIRECTORY PORT [COMMAND...]}: runs PostgreSQL,
 * and beside it the command, which finds the server by {@code SPRING_DATASOURCE_URL} and {@code
 * SPRING_DATASOURCE_USERNAME}.
 *
 * <p>Both end with this process, the command first. When PostgreSQL ends by itself, everything
 * ends, with one line that says so and exit code 1; otherwise the exit code is the command's. 64:
 * the arguments are wrong.
 */
final class RunEmbeddedServer {

    private static final int FAILED = 1;
    private static final int USAGE = 64;

    private final Postmaster server;

    /** Guarded by this object, as is the next one. */
    private @Nullable Process process;

    private boolean stopping;

    private RunEmbeddedServer(Postmaster server) {
        this.server = server;
    }

    public static void main(String[] args) {
        if (args.length < 2 || !args[1].matches("[0-9]{1,5}")) {
            System.err.println(
                    "gpusharing-embedded-postgres.jar DIRECTORY PORT [COMMAND...]: PostgreSQL on 127.0.0.1, its data in DIRECTORY");
            System.exit(USAGE);
        }
        try {
            Path directory = Path.of(args[0]).toAbsolutePath();
            Postmaster server = EmbeddedServer.open(directory, Integer.parseInt(args[1]));
            var run = new RunEmbeddedServer(server);
            // Before anybody hears that it runs: who stops us at once stops PostgreSQL, too.
            Runtime.getRuntime().addShutdownHook(new Thread(run::stop));
            System.out.printf(
                    "PostgreSQL runs on port %d, data in %s; it is for one machine only%n",
                    server.port(), directory);
            System.exit(run.untilEitherEnds(List.of(args).subList(2, args.length)));
        } catch (IOException | UncheckedIOException | IllegalStateException e) {
            System.err.println("PostgreSQL cannot be run: " + e.getMessage());
            System.exit(FAILED);
        }
    }

    private int untilEitherEnds(List<String> command) throws IOException {
        CompletableFuture<?> ended = server.process().onExit();
        Process started = command.isEmpty() ? null : start(command);
        (started == null ? ended : CompletableFuture.anyOf(ended, started.onExit())).join();
        if (server.process().isAlive() && started != null) {
            return started.exitValue();
        }
        if (!isStopping()) {
            System.err.println(
                    "PostgreSQL (process %d) has ended, and with it what needs it; what was committed is there at the next start"
                            .formatted(server.process().pid()));
        }
        return FAILED;
    }

    private Process start(List<String> command) throws IOException {
        var builder = new ProcessBuilder(command).inheritIO();
        builder.environment().put("SPRING_DATASOURCE_URL", server.url());
        builder.environment().put("SPRING_DATASOURCE_USERNAME", Postmaster.USER);
        synchronized (this) {
            if (stopping) {
                throw new IOException("it is being stopped");
            }
            Process started = builder.start();
            process = started;
            return started;
        }
    }

    private void stop() {
        Process started;
        synchronized (this) {
            stopping = true;
            started = process;
        }
        if (started != null) {
            end(started);
        }
        server.stop();
    }

    private synchronized boolean isStopping() {
        return stopping;
    }

    private static void end(Process process) {
        process.destroy();
        try {
            if (!process.waitFor(Postmaster.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
