package io.gpusharing.postgres;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A durable PostgreSQL on a data directory: what was committed survives a killed process. A
 * postmaster that outlived a killed process of ours is adopted if it has the port that is wanted,
 * and replaced otherwise.
 */
final class EmbeddedServer {

    private EmbeddedServer() {}

    /**
     * Adopts the server that runs on the directory, or starts one; returns when it answers.
     *
     * @throws IOException if neither is possible
     */
    static Postmaster open(Path directory, int port) throws IOException {
        Files.createDirectories(directory.toAbsolutePath().getParent());
        Optional<Postmaster> left = Postmaster.runningOn(directory);
        if (left.isPresent()) {
            if (left.get().port() == port && left.get().awaitReady()) {
                return left.get();
            }
            left.get().stop();
        }
        return start(directory, port);
    }

    private static Postmaster start(Path directory, int port) throws IOException {
        try {
            var _ =
                    EmbeddedPostgres.builder()
                            .setDataDirectory(directory)
                            .setCleanDataDirectory(false)
                            .setPort(port)
                            // The library, made for tests, turns all three off.
                            .setServerConfig("fsync", "on")
                            .setServerConfig("synchronous_commit", "on")
                            .setServerConfig("full_page_writes", "on")
                            // As the chart sets it.
                            .setServerConfig("wal_compression", "on")
                            .setServerConfig("listen_addresses", "127.0.0.1")
                            .setServerConfig("unix_socket_directories", "''")
                            .setServerConfig("max_connections", "50")
                            .setPGStartupWait(Postmaster.PATIENCE)
                            .setRegisterShutdownHook(false)
                            .start();
        } catch (IOException | IllegalStateException e) {
            throw new IOException(
                    "it does not start on %s and port %d: %s"
                            .formatted(directory, port, e.getMessage()),
                    e);
        }
        return Postmaster.runningOn(directory)
                .orElseThrow(() -> new IOException("it ended at once"));
    }
}
