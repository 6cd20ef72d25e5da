package io.gpusharing.webhook.rollout;

import static org.awaitility.Awaitility.await;

import io.gpusharing.webhook.WebhookApplication;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The webhook as a process of its own, which can be sent a SIGTERM. */
final class ReplicaProcess implements AutoCloseable {

    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final Process process;
    private final Path log;
    private final int port;
    private final int healthPort;

    private ReplicaProcess(Process process, Path log, int port, int healthPort) {
        this.process = process;
        this.log = log;
        this.port = port;
        this.healthPort = healthPort;
    }

    /**
     * Starts it and waits until it is ready.
     *
     * @param directory for its log
     * @param api base URL of the API server
     */
    static ReplicaProcess ready(Path directory, String api) throws IOException {
        int port = freePort();
        int healthPort = freePort();
        Path log = directory.resolve("webhook.log");
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                                "-Xmx128m",
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "-Dkubernetes.master=" + api,
                                "-Dkubernetes.auth.tryKubeConfig=false",
                                "-cp",
                                System.getProperty("java.class.path"),
                                WebhookApplication.class.getName(),
                                "--server.address=127.0.0.1",
                                "--server.port=" + port,
                                "--management.server.address=127.0.0.1",
                                "--management.server.port=" + healthPort,
                                "--gpusharing.tls.subject-alternative-names=127.0.0.1")
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        var replica = new ReplicaProcess(process, log, port, healthPort);
        await().atMost(Duration.ofSeconds(60))
                .failFast(replica::complainIfEnded)
                .until(() -> replica.readiness() == 200);
        return replica;
    }

    int port() {
        return port;
    }

    /** As kubelet ends a container. */
    void terminate() {
        process.destroy();
    }

    boolean isReady() throws InterruptedException {
        return readiness() == 200;
    }

    /** Whether it has received its termination signal. */
    boolean refusesTraffic() throws InterruptedException {
        return readiness() == 503;
    }

    /** Whether it ends in good time. */
    boolean ends() throws InterruptedException {
        return process.waitFor(10, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    private void complainIfEnded() throws IOException {
        if (!process.isAlive()) {
            throw new AssertionError(Files.readString(log));
        }
    }

    private int readiness() throws InterruptedException {
        try {
            var request =
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + healthPort + "/readyz"))
                            .build();
            return HTTP.send(request, BodyHandlers.discarding()).statusCode();
        } catch (IOException e) {
            return 0;
        }
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
