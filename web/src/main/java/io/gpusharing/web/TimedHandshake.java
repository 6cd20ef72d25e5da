package io.gpusharing.web;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.apache.tomcat.util.net.NioEndpoint;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;
import org.apache.tomcat.util.net.SecureNioChannel;
import org.apache.tomcat.util.net.SocketBufferHandler;

/**
 * A connection of TLS whose handshake ends when the client has been silent for the connection
 * timeout, or when the server has waited for it for three of them in all. Tomcat's own channel has
 * one timeout for the whole handshake, from the moment when it was accepted, so a busy server left
 * clients that had always answered at once.
 */
final class TimedHandshake extends SecureNioChannel {

    private final NioEndpoint endpoint;
    private ClientTime time;

    TimedHandshake(SocketBufferHandler buffer, NioEndpoint endpoint) {
        super(buffer, endpoint);
        this.endpoint = endpoint;
        time = begun();
    }

    private ClientTime begun() {
        return new ClientTime(
                Duration.ofMillis(endpoint.getConnectionTimeout()), System.nanoTime());
    }

    /** Tomcat uses a channel for many connections, one after the other. */
    @Override
    public void reset(SocketChannel channel, NioSocketWrapper connection) throws IOException {
        super.reset(channel, connection);
        time = begun();
    }

    /** The client has sent something. A thread for {@link #handshake} may have to be waited for. */
    void came() {
        if (!handshakeComplete) {
            time.came(System.nanoTime());
        }
    }

    @Override
    public int handshake(boolean read, boolean write) throws IOException {
        if (time.isOver()) {
            throw new SocketTimeoutException("The client takes too long for its handshake");
        }
        int next = super.handshake(read, write);
        // Tomcat counts the timeout from these, and sets them at the first request only.
        socketWrapper.updateLastRead();
        socketWrapper.updateLastWrite();
        time.waits(System.nanoTime());
        return next;
    }
}
