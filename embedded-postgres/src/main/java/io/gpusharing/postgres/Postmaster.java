package io.gpusharing.postgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL server that runs on a data directory, as its {@code postmaster.pid} says: process
 * id, data directory, start, port, one a line.
 */
record Postmaster(ProcessHandle process, int port) {

    /** Its superuser, who needs no password. */
    static final String USER = "postgres";

    /** How long it may take to start, and to stop. */
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
                                .map(command -> new Postmaster(process, port)));
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

    /** Where its database is reached. */
    String url() {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
    }

    /**
     * Lets nobody in any more and ends when the last session has; what then still runs is killed,
     * which costs the next start its recovery and nobody what was committed.
     */
    void stop() {
        boolean signalled = process.destroy();
        try {
            process.onExit().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            System.err.printf("PostgreSQL is killed: it did not stop (signalled: %s)%n", signalled);
            process.destroyForcibly();
        }
    }

    private @Nullable SQLException ask() {
        try (Connection connection =
                        DriverManager.getConnection(url() + "?connectTimeout=2", USER, "");
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
