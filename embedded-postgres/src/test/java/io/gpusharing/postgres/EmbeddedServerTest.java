package io.gpusharing.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedServerTest {

    /** What initdb writes takes seconds and is the same each time: the tests begin with copies. */
    @TempDir private static Path initialized;

    @TempDir Path folder;

    private Path directory;
    private int port;

    @BeforeAll
    static void initialize() throws IOException {
        EmbeddedServer.open(initialized.resolve("database"), freePort()).stop();
    }

    @BeforeEach
    void choose() throws IOException {
        directory = folder.resolve("database");
        port = freePort();
        copy(initialized.resolve("database"), directory);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Files.copy(
                        file,
                        to.resolve(from.relativize(file)),
                        StandardCopyOption.COPY_ATTRIBUTES);
            }
        }
    }

    @AfterEach
    void stop() throws IOException {
        Postmaster.runningOn(directory).ifPresent(Postmaster::stop);
    }

    @Test
    void isDurable() throws Exception {
        Postmaster server = EmbeddedServer.open(directory, port);

        for (String setting : List.of("fsync", "synchronous_commit", "full_page_writes")) {
            assertThat(ask(server, "select current_setting('%s')".formatted(setting)))
                    .as(setting)
                    .isEqualTo("on");
        }
    }

    @Test
    void committedDataSurvivesAKill() throws Exception {
        Process first = runningProcess();
        Postmaster server = Postmaster.runningOn(directory).orElseThrow();
        execute(server, "create table kept as select 7 as number");
        kill(server);
        first.waitFor();

        Process next = runningProcess();

        assertThat(ask(server, "select number from kept")).isEqualTo("7");
        next.destroy();
        next.waitFor();
    }

    @Test
    void oneThatIsLeftIsAdoptedOnItsPortAndReplacedOnAnother() throws Exception {
        runningProcess().destroyForcibly().waitFor();
        Postmaster left = Postmaster.runningOn(directory).orElseThrow();

        assertThat(EmbeddedServer.open(directory, port)).isEqualTo(left);
        Postmaster other = EmbeddedServer.open(directory, freePort());

        assertThat(left.process().isAlive()).isFalse();
        assertThat(ask(other, "select 1")).isEqualTo("1");
    }

    @Test
    void endsWhenItIsStopped() throws Exception {
        Postmaster server = EmbeddedServer.open(directory, port);

        server.stop();

        assertThat(server.process().isAlive()).isFalse();
        assertThat(Postmaster.runningOn(directory)).isEmpty();
    }

    @Test
    void whenPostgresqlEndsTheProcessSaysSoInOneLineAndEndsWithItsCommand() throws Exception {
        Process process = run("sh", "-c", "echo $$ $SPRING_DATASOURCE_URL; exec sleep 600");
        try (var lines = process.inputReader()) {
            assertThat(lines.readLine()).contains("runs on port " + port, "one machine only");
            String[] command = lines.readLine().split(" ", 2);
            Postmaster server = Postmaster.runningOn(directory).orElseThrow();
            assertThat(command[1]).isEqualTo(server.url());

            kill(server);

            assertThat(lines.lines()).singleElement().asString().contains("has ended");
            assertThat(process.waitFor()).isEqualTo(1);
            assertThat(ProcessHandle.of(Long.parseLong(command[0]))).isEmpty();
        }
    }

    @Test
    void endsWithItsCommandAndTakesPostgresqlAlong() throws Exception {
        Process process = run("sh", "-c", "exit 7");

        assertThat(process.waitFor()).isEqualTo(7);
        assertThat(Postmaster.runningOn(directory)).isEmpty();
    }

    @Test
    void stopsPostgresqlWhenItIsStopped() throws Exception {
        Process process = run();
        try (var lines = process.inputReader()) {
            assertThat(lines.readLine()).contains("runs on port " + port);

            // Not by the process itself, which would close its output.
            process.toHandle().destroy();

            assertThat(lines.lines()).isEmpty();
            process.waitFor();
            assertThat(Postmaster.runningOn(directory)).isEmpty();
        }
    }

    private Process run(String... command) throws IOException {
        var all =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-cp",
                                System.getProperty("java.class.path"),
                                RunEmbeddedServer.class.getName(),
                                directory.toString(),
                                String.valueOf(port)));
        all.addAll(List.of(command));
        return new ProcessBuilder(all).redirectErrorStream(true).start();
    }

    private Process runningProcess() throws IOException {
        Process process = run();
        assertThat(process.inputReader().readLine()).contains("runs on port " + port);
        return process;
    }

    private static void kill(Postmaster server) {
        List<ProcessHandle> children = server.process().descendants().toList();
        server.process().destroyForcibly();
        server.process().onExit().join();
        children.forEach(child -> child.onExit().join());
    }

    private static String ask(Postmaster server, String sql) throws SQLException {
        try (Connection connection =
                        DriverManager.getConnection(server.url(), Postmaster.USER, "");
                ResultSet answer = connection.createStatement().executeQuery(sql)) {
            answer.next();
            return answer.getString(1);
        }
    }

    private static void execute(Postmaster server, String sql) throws SQLException {
        try (Connection connection =
                DriverManager.getConnection(server.url(), Postmaster.USER, "")) {
            connection.createStatement().executeUpdate(sql);
        }
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
