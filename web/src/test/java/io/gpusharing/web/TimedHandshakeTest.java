package io.gpusharing.web;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.apache.catalina.LifecycleException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimedHandshakeTest {

    private static final Duration SHORT = Duration.ofMillis(100);
    private static final byte[] REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(US_ASCII);

    @TempDir Path directory;

    @Test
    void aServerWhoseThreadsAreBusyForLongerThanTheTimeoutsStillMakesTheHandshake()
            throws Exception {
        var work = new LinkedBlockingQueue<Runnable>();
        var client = new SlowClient();
        try (TlsServer server = server(Duration.ofMillis(500), work::add);
                Socket plain = connect(server)) {
            CompletableFuture<String> answer = client.ask(plain);
            Runnable greeted = next(work);
            for (int timeouts = 0; timeouts < 3; timeouts++) {
                passOneTimeout(server, work);
            }

            greeted.run();
            workAsLongAsThereIsAny(work);
            client.answer();

            assertThat(worked(work, answer)).isEqualTo("HTTP/1.1 404");
            // On the buffers of those that were left.
            try (Socket another = connect(server)) {
                assertThat(worked(work, client.ask(another))).isEqualTo("HTTP/1.1 404");
            }
        }
    }

    private static String worked(BlockingQueue<Runnable> work, CompletableFuture<String> answer)
            throws InterruptedException {
        while (!answer.isDone()) {
            workAsLongAsThereIsAny(work);
        }
        return answer.join();
    }

    /** Another client says nothing, until the server leaves it. */
    private static void passOneTimeout(TlsServer server, BlockingQueue<Runnable> work)
            throws IOException, InterruptedException {
        try (Socket silent = connect(server)) {
            next(work).run();
            assertThat(silent.getInputStream().read()).isEqualTo(-1);
        }
    }

    /** And a fifth of a timeout longer. */
    private static void workAsLongAsThereIsAny(BlockingQueue<Runnable> work)
            throws InterruptedException {
        Runnable step = work.poll(100, MILLISECONDS);
        while (step != null) {
            step.run();
            step = work.poll(100, MILLISECONDS);
        }
    }

    private static Runnable next(BlockingQueue<Runnable> work) throws InterruptedException {
        return Objects.requireNonNull(work.poll(10, SECONDS), "the server has nothing to do");
    }

    @ParameterizedTest(name = "after {0} bytes")
    @ValueSource(ints = {0, 1})
    void aClientThatFallsSilentIsLeftAfterTheTimeout(int sent) throws Exception {
        try (TlsServer server = server(SHORT, Thread::startVirtualThread)) {
            long began = System.nanoTime();
            try (Socket silent = connect(server)) {
                silent.getOutputStream().write(hello(), 0, sent);

                assertThat(isLeft(silent)).isTrue();
                assertThat(System.nanoTime() - began).isGreaterThan(SHORT.toNanos());
            }
        }
    }

    @Test
    void aClientThatIsNeverSilentAndNeverReadyIsLeft() throws Exception {
        try (TlsServer server = server(SHORT, Thread::startVirtualThread);
                Socket dripping = connect(server)) {
            dripping.setSoTimeout((int) SHORT.toMillis() / 10);
            byte[] hello = hello();
            boolean left = false;
            for (int i = 0; i < hello.length && !left; i++) {
                left = !isSent(dripping, hello[i]) || isLeft(dripping);
            }

            assertThat(left).isTrue();
        }
    }

    private TlsServer server(Duration timeout, Executor threads) throws LifecycleException {
        var protocol = new SharedConnections();
        protocol.setConnectionTimeout((int) timeout.toMillis());
        protocol.setExecutor(threads);
        // How often Tomcat looks for connections whose time is over, in milliseconds.
        protocol.setProperty("selectorTimeout", "10");
        protocol.setProperty("socket.timeoutInterval", "10");
        return new TlsServer(directory, protocol);
    }

    private static Socket connect(TlsServer server) throws IOException {
        var socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        socket.setSoTimeout(10_000);
        return socket;
    }

    /** The begin of a record that is as long as any may be. */
    private static byte[] hello() {
        return ByteBuffer.allocate(1_000).put(new byte[] {0x16, 3, 1, 0x40, 0, 1}).array();
    }

    private static boolean isSent(Socket socket, byte one) throws IOException {
        try {
            socket.getOutputStream().write(one);
            return true;
        } catch (SocketException e) {
            return false;
        }
    }

    private static boolean isLeft(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (SocketException e) {
            // Reset, because there is a byte that nobody has read.
            return true;
        }
    }

    /** Has the server's part of the handshake, and takes its time before it answers. */
    private static final class SlowClient implements X509TrustManager {

        private final CountDownLatch answers = new CountDownLatch(1);

        CompletableFuture<String> ask(Socket plain) throws GeneralSecurityException {
            var tls = SSLContext.getInstance("TLS");
            tls.init(null, new TrustManager[] {this}, null);
            return CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            Socket socket =
                                    tls.getSocketFactory()
                                            .createSocket(plain, "localhost", 0, false);
                            socket.getOutputStream().write(REQUEST);
                            return new String(socket.getInputStream().readNBytes(12), US_ASCII);
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    },
                    Thread::startVirtualThread);
        }

        void answer() {
            answers.countDown();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {
            try {
                answers.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {
            throw new IllegalStateException("It is the client");
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
