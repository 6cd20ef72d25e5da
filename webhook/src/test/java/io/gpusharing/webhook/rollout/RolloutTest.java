package io.gpusharing.webhook.rollout;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.webhook.testing.FakeApiServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Replicas as processes behind a Service, and clients with persistent connections, as API servers
 * have.
 */
class RolloutTest {

    /** Each starts a replica, for seconds; {@code -Drollouts=20} is for make test-all. */
    private static final int ROLLOUTS = Integer.getInteger("rollouts", 5);

    private static final String CLOSE = "Connection: close";
    private static final Pattern LENGTH = Pattern.compile("Content-Length: (\\d+)");
    private static final String MUTATING =
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/gpusharing-webhook";

    /**
     * Reviews that each client is answered before the old replica ends: its connection is in use.
     */
    private static final int IN_FLOW = 20;

    @TempDir Path directory;

    private final FakeApiServer api = new FakeApiServer();

    /** Clients wait while a replica starts, which needs the processors and is asked nothing yet. */
    private final ReadWriteLock starting = new ReentrantReadWriteLock(true);

    @BeforeEach
    void register() {
        api.put(
                MUTATING,
                """
                {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
                 "metadata": {"name": "gpusharing-webhook"},
                 "webhooks": [{"name": "pods.gpusharing.io", "clientConfig": {"url": "https://127.0.0.1:1"}}]}
                """);
        System.setProperty("kubernetes.master", api.url());
        System.setProperty("kubernetes.auth.tryKubeConfig", "false");
    }

    @AfterEach
    void stop() {
        System.clearProperty("kubernetes.master");
        System.clearProperty("kubernetes.auth.tryKubeConfig");
        api.close();
    }

    @Test
    void rolloutsUnderLoadLoseNoReview() throws Exception {
        var replicas = new ArrayDeque<Replica>();
        replicas.add(Replica.started());
        replicas.add(Replica.started());
        try (var service = new FakeService(ports(replicas));
                var one = new Load(service.port());
                var other = new Load(service.port())) {

            for (int rollout = 0; rollout < ROLLOUTS; rollout++) {
                replicas.add(startedAlone());
                Replica old = replicas.remove();
                service.endpoints(ports(replicas));
                one.answersInFlow();
                other.answersInFlow();
                old.close();
            }

            assertThat(one.failures).isEmpty();
            assertThat(other.failures).isEmpty();
            assertThat(one.answered.get()).isGreaterThan(ROLLOUTS);
        } finally {
            replicas.forEach(Replica::close);
        }
    }

    @Test
    void aReplicaThatIsTerminatedAnswersOnAKeptConnectionAndThenEnds() throws Exception {
        try (var replica = ReplicaProcess.ready(directory, api.url());
                var connection =
                        api.trusting(MUTATING)
                                .getSocketFactory()
                                .createSocket(InetAddress.getLoopbackAddress(), replica.port())) {
            assertThat(answerOn(connection)).startsWith("HTTP/1.1 200").doesNotContain(CLOSE);

            replica.terminate();
            await().until(replica::refusesTraffic);

            // It refuses traffic first, and takes leave of kept connections a moment later.
            await().until(() -> {
                String answer = answerOn(connection);
                assertThat(answer).startsWith("HTTP/1.1 200");
                return answer.contains(CLOSE);
            });
            assertThat(connection.getInputStream().read()).isEqualTo(-1);
            assertThat(replica.ends()).isTrue();
        }
    }

    private Replica startedAlone() {
        starting.writeLock().lock();
        try {
            return Replica.started();
        } finally {
            starting.writeLock().unlock();
        }
    }

    private static List<Integer> ports(Collection<Replica> replicas) {
        return replicas.stream().map(Replica::port).toList();
    }

    /** Posts a review and reads head and body of its answer. */
    private static String answerOn(Socket connection) throws IOException {
        connection
                .getOutputStream()
                .write(
                        "POST /mutate HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
                                .formatted(FakeApiServer.review().length)
                                .getBytes(UTF_8));
        connection.getOutputStream().write(FakeApiServer.review());
        var answer = new StringBuilder();
        InputStream in = connection.getInputStream();
        while (answer.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                return answer.toString();
            }
            answer.append((char) next);
        }
        Matcher length = LENGTH.matcher(answer);
        assertThat(length.find()).isTrue();
        return answer + new String(in.readNBytes(Integer.parseInt(length.group(1))), UTF_8);
    }

    /** One client that posts a review after the other. */
    private final class Load implements AutoCloseable {

        private final Queue<String> failures = new ConcurrentLinkedQueue<>();
        private final AtomicLong answered = new AtomicLong();
        private final HttpClient client;
        private final URI target;
        private final Thread thread;
        private volatile boolean over;

        Load(int port) {
            client = HttpClient.newBuilder().sslContext(api.trusting(MUTATING)).build();
            target = URI.create("https://127.0.0.1:" + port + "/mutate?timeout=3s");
            thread = Thread.ofPlatform().start(this::run);
        }

        void answersInFlow() {
            long before = answered.get();
            await().pollInterval(Duration.ofMillis(10))
                    .until(() -> answered.get() >= before + IN_FLOW || !failures.isEmpty());
        }

        @Override
        public void close() {
            over = true;
            await().until(() -> !thread.isAlive());
            client.close();
        }

        private void run() {
            while (!over) {
                starting.readLock().lock();
                try {
                    HttpResponse<String> answer =
                            client.send(
                                    HttpRequest.newBuilder(target)
                                            .version(HttpClient.Version.HTTP_1_1)
                                            .POST(
                                                    BodyPublishers.ofByteArray(
                                                            FakeApiServer.review()))
                                            .build(),
                                    BodyHandlers.ofString());
                    if (answer.statusCode() == 200) {
                        answered.incrementAndGet();
                    } else {
                        failures.add(answer.statusCode() + " " + answer.body());
                    }
                    Thread.sleep(2);
                } catch (IOException e) {
                    failures.add(e.toString());
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                } finally {
                    starting.readLock().unlock();
                }
            }
        }
    }
}
