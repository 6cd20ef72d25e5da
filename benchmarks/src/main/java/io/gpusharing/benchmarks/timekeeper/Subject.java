package io.gpusharing.benchmarks.timekeeper;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The timekeeper as a process of its own, as it runs in its image, and its database. */
final class Subject implements AutoCloseable {

    private static final HttpClient HTTP =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(1)).build();

    private final Path dir;
    private final Process postgres;
    private final int postgresPort;
    private final Process process;
    private final int port;
    private final int healthPort;

    private Subject(
            Path dir,
            Process postgres,
            int postgresPort,
            Process process,
            int port,
            int healthPort) {
        this.dir = dir;
        this.postgres = postgres;
        this.postgresPort = postgresPort;
        this.process = process;
        this.port = port;
        this.healthPort = healthPort;
    }

    /**
     * @param image what {@code timekeeper/image/assemble} made: jar, options, AOT cache
     * @param dir holds its kubeconfig, its database and its log
     */
    static Subject start(Path image, Path dir, URI cluster, Map<String, String> settings) {
        try {
            Path kubeconfig = dir.resolve("kubeconfig");
            Files.writeString(
                    kubeconfig,
                    """
                    apiVersion: v1
                    kind: Config
                    current-context: here
                    clusters:
                    - {name: here, cluster: {server: '%s'}}
                    users:
                    - {name: bench, user: {token: none}}
                    contexts:
                    - {name: here, context: {cluster: here, user: bench}}
                    """
                            .formatted(cluster));
            return start(image, dir, kubeconfig, settings);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The same with another way to its cluster.
     *
     * @param kubeconfig by which it knows the cluster, and the cluster it
     */
    static Subject start(Path image, Path dir, Path kubeconfig, Map<String, String> settings) {
        try {
            int port = freePort();
            int health = freePort();
            int postgresPort = freePort();
            Process postgres =
                    logged(
                                    dir.resolve("postgres.log"),
                                    List.of(
                                            Path.of(System.getProperty("java.home"), "bin/java")
                                                    .toString(),
                                            "-jar",
                                            System.getProperty("postgres"),
                                            dir.resolve("database").toString(),
                                            String.valueOf(postgresPort)))
                            .start();
            var command = new ArrayList<String>();
            command.add(image.resolve("java/bin/java").toString());
            command.add("@" + image.resolve("jvm.options"));
            command.add("-XX:AOTCache=" + image.resolve("timekeeper.aot"));
            Arrays.stream(System.getProperty("javaOptions", "").split(" ", -1))
                    .filter(option -> !option.isBlank())
                    .forEach(command::add);
            command.addAll(List.of("-jar", image.resolve("timekeeper.jar").toString()));
            var builder = logged(dir.resolve("timekeeper.log"), command);
            var environment = builder.environment();
            environment.put("KUBECONFIG", kubeconfig.toString());
            environment.put("SERVER_ADDRESS", "127.0.0.1");
            environment.put("SERVER_PORT", String.valueOf(port));
            environment.put("MANAGEMENT_SERVER_ADDRESS", "127.0.0.1");
            environment.put("MANAGEMENT_SERVER_PORT", String.valueOf(health));
            environment.put("GPUSHARING_TLS_SUBJECTALTERNATIVENAMES", "127.0.0.1");
            environment.put("SPRING_DATASOURCE_URL", url(postgresPort));
            environment.put("SPRING_DATASOURCE_USERNAME", "postgres");
            // As the image sets it.
            environment.put("MALLOC_ARENA_MAX", "2");
            environment.putAll(settings);
            return new Subject(dir, postgres, postgresPort, builder.start(), port, health);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ProcessBuilder logged(Path log, List<String> command) {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    }

    private static String url(int port) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
    }

    int port() {
        return port;
    }

    /** Returns when {@code /readyz} answers 200. */
    void awaitReady() throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
        while (!isReady()) {
            if (!process.isAlive() || System.nanoTime() > end) {
                throw new IllegalStateException(
                        "the timekeeper is not ready; see " + dir.resolve("timekeeper.log"));
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    private boolean isReady() throws InterruptedException {
        try {
            return HTTP.send(
                                    HttpRequest.newBuilder(
                                                    URI.create(
                                                            "http://127.0.0.1:"
                                                                    + healthPort
                                                                    + "/readyz"))
                                            .build(),
                                    HttpResponse.BodyHandlers.discarding())
                            .statusCode()
                    == 200;
        } catch (IOException e) {
            return false;
        }
    }

    /** SIGKILL. */
    void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    /** Memory that is resident now, in bytes. */
    long resident() {
        return status("VmRSS:") * 1024;
    }

    /** The most that was ever resident, in bytes. */
    long mostResident() {
        return status("VmHWM:") * 1024;
    }

    private long status(String field) {
        try {
            return Files.readAllLines(Path.of("/proc/" + process.pid() + "/status")).stream()
                    .filter(line -> line.startsWith(field))
                    .map(line -> line.replaceAll("[^0-9]", ""))
                    .mapToLong(Long::parseLong)
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Seconds of CPU that it has used. */
    double cpuSeconds() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO).toMillis() / 1e3;
    }

    /** The same of its database; of sessions that have ended it is not known. */
    double databaseCpuSeconds() {
        return server().stream()
                        .flatMap(it -> Stream.concat(Stream.of(it), it.descendants()))
                        .mapToLong(
                                it -> it.info().totalCpuDuration().orElse(Duration.ZERO).toMillis())
                        .sum()
                / 1e3;
    }

    /** Its database's first process, which is no child of the program that has started it. */
    private Optional<ProcessHandle> server() {
        try (Stream<String> lines = Files.lines(dir.resolve("database/postmaster.pid"))) {
            return lines.findFirst().flatMap(pid -> ProcessHandle.of(Long.parseLong(pid.strip())));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Connection database() throws SQLException {
        return DriverManager.getConnection(
                url(postgresPort) + "?prepareThreshold=1", "postgres", "");
    }

    long number(String sql) throws SQLException {
        try (Connection connection = database();
                ResultSet row = connection.createStatement().executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    String text(String sql) throws SQLException {
        try (Connection connection = database();
                ResultSet row = connection.createStatement().executeQuery(sql)) {
            row.next();
            return String.valueOf(row.getString(1));
        }
    }

    /**
     * Returns when a query says a number.
     *
     * @throws IllegalStateException if it does not within three minutes
     */
    void await(String sql, long number) throws SQLException, InterruptedException {
        long end = System.nanoTime() + 180_000_000_000L;
        while (number(sql) != number) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException(sql + " is not " + number);
            }
            Thread.sleep(10);
        }
    }

    /** As PostgreSQL itself says, and refuses to measure anything else. */
    String durability() throws SQLException {
        var settings = new ArrayList<String>();
        for (String setting : List.of("fsync", "synchronous_commit", "full_page_writes")) {
            String value = text("show " + setting);
            if (!value.equals("on")) {
                throw new IllegalStateException(setting + " is " + value);
            }
            settings.add(setting + "=" + value);
        }
        return String.join(" ", settings) + ", PostgreSQL " + text("show server_version");
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = database()) {
            connection.createStatement().execute(sql);
        }
    }

    /** Ends it, and its database with it. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                kill();
            }
            postgres.destroy();
            postgres.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
