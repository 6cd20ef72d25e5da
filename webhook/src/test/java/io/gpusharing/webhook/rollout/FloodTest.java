package io.gpusharing.webhook.rollout;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.webhook.testing.FakeApiServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The webhook as a process with the heap of its image, and many more connections than it takes. */
class FloodTest {

    /** {@code -Dflood.connections=2000} is what benchmarks/connections measures. */
    private static final int CONNECTIONS = Integer.getInteger("flood.connections", 300);

    private static final Duration LONGEST =
            Duration.ofSeconds(Integer.getInteger("flood.seconds", 5));

    /** Clients that flood, each with an address of its own. */
    private static final int CLIENTS = 4;

    private static final String LENGTH = "Content-Length: ";
    private static final String MUTATING =
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/gpusharing-webhook";

    @TempDir Path directory;

    private final FakeApiServer api = new FakeApiServer();
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicInteger answered = new AtomicInteger();

    @BeforeEach
    void register() {
        api.put(
                MUTATING,
                """
                {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
                 "metadata": {"name": "gpusharing-webhook"},
                 "webhooks": [{"name": "pods.gpusharing.io", "clientConfig": {"url": "https://127.0.0.1:1"}}]}
                """);
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void manyConnectionsWithLargeReviewsEndNothing() throws Exception {
        byte[] largest = withAnAnnotationOf(1_400_000);
        byte[] large = withAnAnnotationOf(200_000);
        try (var replica = ReplicaProcess.ready(directory, api.url())) {
            SSLContext trust = api.trusting(MUTATING);
            Socket established = connect(trust, replica.port(), "127.0.0.2");
            assertThat(post(established, FakeApiServer.review())).isEqualTo(200);
            List<Thread> flood = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                String address = "127.0.1." + (1 + i % CLIENTS);
                // Two of four send a large one, one the largest, and one half of that, and waits.
                int kind = i / CLIENTS % 4;
                byte[] review = kind < 2 ? large : largest;
                int length = kind < 3 ? review.length : review.length / 2;
                flood.add(
                        Thread.ofVirtual()
                                .start(() ->
                                        flood(trust, replica.port(), address, review, length)));
            }

            List<Long> millis = new ArrayList<>();
            long end = System.nanoTime() + LONGEST.toNanos();
            while (System.nanoTime() < end) {
                long began = System.nanoTime();
                assertThat(post(established, FakeApiServer.review())).isEqualTo(200);
                millis.add(Duration.ofNanos(System.nanoTime() - began).toMillis());
            }
            try (Socket newcomer = connect(trust, replica.port(), "127.0.0.3")) {
                assertThat(post(newcomer, FakeApiServer.review())).isEqualTo(200);
            }
            assertThat(replica.isReady()).isTrue();
            over.set(true);
            established.close();
            tell(millis);
            assertThat(millis).allMatch(it -> it < 10_000);
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> flood.stream().noneMatch(Thread::isAlive));
        }
    }

    private void tell(List<Long> millis) {
        long[] sorted = millis.stream().mapToLong(it -> it).sorted().toArray();
        System.out.printf(
                "{\"connections\": %d, \"seconds\": %d, \"answered_of_the_flood\": %d, \"reviews\": %d, \"p50_ms\": %d, \"p99_ms\": %d, \"max_ms\": %d}%n",
                CONNECTIONS,
                LONGEST.toSeconds(),
                answered.get(),
                sorted.length,
                sorted[sorted.length / 2],
                sorted[sorted.length * 99 / 100],
                Arrays.stream(sorted).max().orElse(0));
    }

    /** Sends again and again, on new connections where one is closed. */
    private void flood(SSLContext trust, int port, String address, byte[] review, int length) {
        while (!over.get()) {
            try (Socket socket = connect(trust, port, address)) {
                while (!over.get()) {
                    head(socket, review.length);
                    socket.getOutputStream().write(review, 0, length);
                    if (status(socket) == 200) {
                        answered.incrementAndGet();
                    }
                }
            } catch (IOException e) {
                // Turned away, or told that it was too slow: it comes again.
            }
        }
    }

    private static Socket connect(SSLContext trust, int port, String from) throws IOException {
        Socket plain =
                new Socket(InetAddress.getLoopbackAddress(), port, InetAddress.ofLiteral(from), 0);
        plain.setSoTimeout(10_000);
        return trust.getSocketFactory().createSocket(plain, "127.0.0.1", port, true);
    }

    private static int post(Socket socket, byte[] review) throws IOException {
        head(socket, review.length);
        socket.getOutputStream().write(review);
        return status(socket);
    }

    private static void head(Socket socket, int length) throws IOException {
        socket.getOutputStream()
                .write(
                        "POST /mutate?timeout=3s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
                                .formatted(length)
                                .getBytes(UTF_8));
    }

    /** Reads the whole answer. */
    private static int status(Socket socket) throws IOException {
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = socket.getInputStream().read();
            if (next < 0) {
                throw new IOException("closed");
            }
            head.append((char) next);
        }
        String length = head.substring(head.indexOf(LENGTH) + LENGTH.length());
        socket.getInputStream()
                .readNBytes(Integer.parseInt(length.lines().findFirst().orElseThrow()));
        return Integer.parseInt(head.substring(9, 12));
    }

    private static byte[] withAnAnnotationOf(int length) {
        return new String(FakeApiServer.review(), UTF_8)
                .replace(
                        "\"metadata\": {",
                        "\"metadata\": {\"annotations\": {\"a\": \"%s\"},"
                                .formatted("a".repeat(length)))
                .getBytes(UTF_8);
    }
}
