package io.gpusharing.timekeeper.testing;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.util.FileSystemUtils;

/**
 * An embedded PostgreSQL that ends with this JVM, and its data with it. They lie in memory where
 * there is enough, and nothing in it waits for a disk.
 *
 * <p>A JVM that is killed leaves server and data behind; the next one that starts a server ends and
 * removes them.
 */
final class ForgetfulServer {

    private static final Path MEMORY = Path.of("/dev/shm");

    /** Two JVMs, whose databases have 1.3 GiB each in the end. */
    private static final long ENOUGH = 4L << 30;

    /** The process id of the JVM follows. */
    private static final String PREFIX = "gpusharing-tests-";

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private ForgetfulServer() {}

    static EmbeddedPostgres start(String connections) {
        try {
            Path parent = parent();
            removeWhatDeadOnesLeft(parent);
            Path folder = parent.resolve(PREFIX + ProcessHandle.current().pid());
            Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(folder)));
            return EmbeddedPostgres.builder()
                    .setDataDirectory(folder)
                    .setRegisterShutdownHook(false)
                    .setServerConfig("max_connections", connections)
                    .setServerConfig("fsync", "off")
                    .setServerConfig("synchronous_commit", "off")
                    .setServerConfig("full_page_writes", "off")
                    .setServerConfig("wal_level", "minimal")
                    .setServerConfig("max_wal_senders", "0")
                    .setServerConfig("max_wal_size", "256MB")
                    // In its folder, from where it is removed with everything else.
                    .setServerConfig("dynamic_shared_memory_type", "mmap")
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path parent() throws IOException {
        boolean enough =
                Files.isWritable(MEMORY) && Files.getFileStore(MEMORY).getUsableSpace() >= ENOUGH;
        return enough ? MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
    }

    private static void removeWhatDeadOnesLeft(Path parent) throws IOException {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(parent, PREFIX + "*")) {
            for (Path folder : folders) {
                String pid = folder.getFileName().toString().substring(PREFIX.length());
                if (ProcessHandle.of(Long.parseLong(pid)).isEmpty()) {
                    remove(folder);
                }
            }
        }
    }

    private static void remove(Path folder) {
        try {
            Optional<ProcessHandle> server = serverOn(folder);
            if (server.isPresent()) {
                end(server.get());
            }
            FileSystemUtils.deleteRecursively(folder);
        } catch (IOException e) {
            System.err.printf("PostgreSQL's folder %s cannot be removed: %s%n", folder, e);
        }
    }

    private static Optional<ProcessHandle> serverOn(Path folder) throws IOException {
        Path file = folder.resolve("postmaster.pid");
        List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
        return lines.isEmpty()
                ? Optional.empty()
                : ProcessHandle.of(Long.parseLong(lines.getFirst().strip()))
                        .filter(ForgetfulServer::isPostgres);
    }

    private static boolean isPostgres(ProcessHandle process) {
        return process.info().command().filter(it -> it.endsWith("/postgres")).isPresent();
    }

    /** Ends it without a checkpoint, which would write all databases once more. */
    private static void end(ProcessHandle server) throws IOException {
        CompletableFuture<ProcessHandle> ended = server.onExit();
        new ProcessBuilder("kill", "-QUIT", String.valueOf(server.pid())).inheritIO().start();
        ended.completeOnTimeout(server, PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
        server.destroyForcibly();
    }
}
