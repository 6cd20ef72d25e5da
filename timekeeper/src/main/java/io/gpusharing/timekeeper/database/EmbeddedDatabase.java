package io.gpusharing.timekeeper.database;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A PostgreSQL of our own on this machine. It is durable: what was committed survives a killed
 * process. A postmaster that outlived a killed timekeeper is adopted, so that the next one starts
 * at once.
 */
final class EmbeddedDatabase implements Closeable {

    private static final Logger log = LoggerFactory.getLogger(EmbeddedDatabase.class);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final int port;
    private final Closeable stop;

    private EmbeddedDatabase(int port, Closeable stop) {
        this.port = port;
        this.stop = stop;
    }

    /**
     * Adopts the server that runs on the directory, or starts one.
     *
     * @throws UncheckedIOException if neither is possible
     */
    static EmbeddedDatabase open(Path directory) {
        try {
            Files.createDirectories(directory.toAbsolutePath().getParent());
            EmbeddedDatabase database =
                    Postmaster.runningOn(directory)
                            .flatMap(EmbeddedDatabase::adopt)
                            .orElseGet(() -> start(directory));
            log.atInfo()
                    .addKeyValue("directory", directory)
                    .addKeyValue("port", database.port)
                    .log("using the embedded PostgreSQL, which is for one machine only");
            return database;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String url() {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
    }

    String user() {
        return "postgres";
    }

    @Override
    public void close() throws IOException {
        stop.close();
    }

    private static EmbeddedDatabase start(Path directory) {
        try {
            EmbeddedPostgres server =
                    EmbeddedPostgres.builder()
                            .setDataDirectory(directory)
                            .setCleanDataDirectory(false)
                            // The library, made for tests, turns all three off.
                            .setServerConfig("fsync", "on")
                            .setServerConfig("synchronous_commit", "on")
                            .setServerConfig("full_page_writes", "on")
                            .setServerConfig("listen_addresses", "127.0.0.1")
                            .setServerConfig("unix_socket_directories", "''")
                            .setServerConfig("max_connections", "50")
                            .setPGStartupWait(PATIENCE)
                            // Spring closes it after the last transaction.
                            .setRegisterShutdownHook(false)
                            .start();
            return new EmbeddedDatabase(server.getPort(), server);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "PostgreSQL does not start on "
                            + directory
                            + ". Set spring.datasource.url to use another server",
                    e);
        }
    }

    private static Optional<EmbeddedDatabase> adopt(Postmaster postmaster) {
        return postmaster.awaitReady()
                ? Optional.of(new EmbeddedDatabase(postmaster.port(), postmaster::stop))
                : Optional.empty();
    }

    /** What {@code postmaster.pid} says: process id, data directory, start, port, one a line. */
    private record Postmaster(ProcessHandle process, int port) {

        static Optional<Postmaster> runningOn(Path directory) throws IOException {
            Path file = directory.resolve("postmaster.pid");
            List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
            if (lines.size() < 4) {
                return Optional.empty();
            }
            return ProcessHandle.of(Long.parseLong(lines.getFirst().strip()))
                    .filter(process -> process.info().command().orElse("").endsWith("postgres"))
                    .map(process ->
                            new Postmaster(process, Integer.parseInt(lines.get(3).strip())));
        }

        /** True once it answers, false if it ended meanwhile. */
        boolean awaitReady() {
            long end = System.nanoTime() + PATIENCE.toNanos();
            SQLException last = null;
            while (process.isAlive()) {
                last = ask();
                if (last == null) {
                    return true;
                }
                if (System.nanoTime() > end) {
                    throw new IllegalStateException(
                            "PostgreSQL (process %d) holds the data directory but does not answer on port %d"
                                    .formatted(process.pid(), port),
                            last);
                }
                pause();
            }
            return false;
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
    }
}
