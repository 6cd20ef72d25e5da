package io.gpusharing.timekeeper.database;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL server that runs on a data directory, as its {@code postmaster.pid} tells: process
 * id, data directory, start, port, one a line.
 *
 * @param program the server's executable; {@code pg_ctl} lies beside it
 */
record Postmaster(ProcessHandle process, Path program, Path directory, int port) {

    static final Duration PATIENCE = Duration.ofSeconds(30);

    /** The one that runs there now; empty if none does. */
    static Optional<Postmaster> runningOn(Path directory) throws IOException {
        Path file = directory.resolve("postmaster.pid");
        List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
        if (lines.size() < 4) {
            return Optional.empty();
        }
        int port = Integer.parseInt(lines.get(3).strip());
        return ProcessHandle.of(Long.parseLong(lines.getFirst().strip()))
                .flatMap(process ->
                        process.info()
                                .command()
                                .filter(command -> command.endsWith("postgres"))
                                .map(command ->
                                        new Postmaster(
                                                process, Path.of(command), directory, port)));
    }

    /** True once it answers, false if it ended meanwhile. */
    boolean awaitReady() {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (process.isAlive()) {
            SQLException problem = ask();
            if (problem == null) {
                return true;
            }
            if (System.nanoTime() > end) {
                throw new IllegalStateException(
                        "PostgreSQL (process %d) holds the data directory but does not answer on port %d"
                                .formatted(process.pid(), port),
                        problem);
            }
            pause();
        }
        return false;
    }

    /** Starts one anew on the same directory and port, with the very options that this one had. */
    void startAgain() throws IOException, InterruptedException {
        var command = new ArrayList<String>();
        if ("root".equals(System.getProperty("user.name"))) {
            // PostgreSQL will not run as root; in a user namespace of its own it is somebody else.
            command.addAll(List.of("unshare", "-U"));
        }
        // postmaster.opts keeps the options; a server that is not there is no reason not to start.
        command.addAll(
                List.of(
                        program.resolveSibling("pg_ctl").toString(),
                        "restart",
                        "--silent",
                        "--wait",
                        "--timeout=" + PATIENCE.toSeconds(),
                        "--mode=immediate",
                        "--pgdata=" + directory,
                        "--log=" + directory.resolve("server.log")));
        Process start =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
        if (start.waitFor() != 0) {
            throw new IOException(
                    "pg_ctl ended with %d; %s says why"
                            .formatted(start.exitValue(), directory.resolve("server.log")));
        }
    }

    /** Ends it in order: nobody is let in any more, who is there is sent away. */
    void stop() throws IOException {
        // SIGTERM: it ends when the last session has.
        boolean asked = process.destroy();
        try {
            process.onExit().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("PostgreSQL did not stop (asked: " + asked + ")", e);
        }
    }

    private @Nullable SQLException ask() {
        String url = "jdbc:postgresql://127.0.0.1:" + port + "/postgres?connectTimeout=2";
        try (Connection connection = DriverManager.getConnection(url, "postgres", "");
                ResultSet answer = connection.createStatement().executeQuery("select 1")) {
            return answer.next() ? null : new SQLException("no answer");
        } catch (SQLException e) {
            return e;
        }
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while PostgreSQL was starting", e);
        }
    }
}
