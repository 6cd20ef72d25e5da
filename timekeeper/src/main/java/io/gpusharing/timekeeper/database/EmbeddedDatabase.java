package io.gpusharing.timekeeper.database;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A PostgreSQL of our own on this machine. It is durable: what was committed survives a killed
 * process. A postmaster that outlived a killed timekeeper is adopted, so that the next one starts
 * at once; one that dies under a running timekeeper is started again.
 */
final class EmbeddedDatabase implements Closeable {

    private static final Logger log = LoggerFactory.getLogger(EmbeddedDatabase.class);

    private final int port;
    private final Closeable stop;
    private final Revival revival;

    private EmbeddedDatabase(Postmaster postmaster, Closeable stop) {
        this.port = postmaster.port();
        this.stop = stop;
        this.revival = Revival.of(postmaster);
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
                            .filter(Postmaster::awaitReady)
                            .map(running -> new EmbeddedDatabase(running, () -> stop(directory)))
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
        revival.close();
        stop.close();
    }

    private static EmbeddedDatabase start(Path directory) {
        try {
            EmbeddedPostgres server =
                    EmbeddedPostgres.builder()
                            .setDataDirectory(directory)
                            .setCleanDataDirectory(false)
                            .setPort(freePort())
                            // The library, made for tests, turns all three off.
                            .setServerConfig("fsync", "on")
                            .setServerConfig("synchronous_commit", "on")
                            .setServerConfig("full_page_writes", "on")
                            // Whole pages are most of what an hour of many pods writes, and mostly text.
                            .setServerConfig("wal_compression", "on")
                            .setServerConfig("listen_addresses", "127.0.0.1")
                            .setServerConfig("unix_socket_directories", "''")
                            .setServerConfig("max_connections", "50")
                            .setPGStartupWait(Postmaster.PATIENCE)
                            // Spring closes it after the last transaction.
                            .setRegisterShutdownHook(false)
                            .start();
            Postmaster running =
                    Postmaster.runningOn(directory)
                            .orElseThrow(() -> new IOException("PostgreSQL ended at once"));
            return new EmbeddedDatabase(running, server);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "PostgreSQL does not start on "
                            + directory
                            + ". Set spring.datasource.url to use another server",
                    e);
        }
    }

    private static void stop(Path directory) throws IOException {
        var running = Postmaster.runningOn(directory);
        if (running.isPresent()) {
            running.get().stop();
        }
    }

    /**
     * Below where Linux takes the ports of outgoing connections from: none of those must have it
     * when the server comes back.
     */
    private static int freePort() throws IOException {
        for (int attempt = 0; attempt < 100; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(20_000, 32_768);
            try (var socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (IOException e) {
                log.atDebug().addKeyValue("port", port).log("taken");
            }
        }
        throw new IOException("No port between 20000 and 32767 is free");
    }
}
