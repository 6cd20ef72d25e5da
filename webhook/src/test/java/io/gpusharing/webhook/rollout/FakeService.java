package io.gpusharing.webhook.rollout;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What a Service is to an API server: a new connection goes to one of its endpoints in turn; one
 * that is open keeps its endpoint, whatever becomes of that.
 */
final class FakeService implements AutoCloseable {

    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final AtomicInteger next = new AtomicInteger();
    private volatile List<Integer> endpoints;

    FakeService(List<Integer> ports) throws IOException {
        endpoints = List.copyOf(ports);
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    /** Where new connections go from now on. */
    void endpoints(List<Integer> ports) {
        endpoints = List.copyOf(ports);
    }

    @Override
    public void close() throws IOException {
        server.close();
    }

    private void accept() {
        try {
            while (!server.isClosed()) {
                Socket client = server.accept();
                List<Integer> now = endpoints;
                int port = now.get(next.getAndIncrement() % now.size());
                Socket endpoint = new Socket(InetAddress.getLoopbackAddress(), port);
                Thread.ofVirtual().start(() -> carry(client, endpoint));
                Thread.ofVirtual().start(() -> carry(endpoint, client));
            }
        } catch (IOException e) {
            if (!server.isClosed()) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static void carry(Socket from, Socket to) {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // One side has closed; closing both ends the other.
        }
    }
}
