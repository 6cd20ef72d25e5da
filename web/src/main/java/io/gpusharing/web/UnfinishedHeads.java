package io.gpusharing.web;

import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.tomcat.util.net.AbstractEndpoint.Handler;
import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.SocketEvent;
import org.apache.tomcat.util.net.SocketWrapperBase;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how many connections have sent a part of a request's head. Tomcat keeps what has come of a
 * head, and its headers, without a thread, so threads do not bound that memory. A head is usually
 * there as a whole. Beyond the bound one of the address with the most ends: the one that has been
 * unfinished longest.
 */
final class UnfinishedHeads implements Handler<NioChannel> {

    private final Handler<NioChannel> http;

    /** In the order in which they became unfinished. */
    private final Set<SocketWrapperBase<NioChannel>> unfinished = new LinkedHashSet<>();

    private volatile int most = Integer.MAX_VALUE;

    /**
     * @param http reads and answers
     */
    UnfinishedHeads(Handler<NioChannel> http) {
        this.http = http;
    }

    void setMost(int most) {
        this.most = most;
    }

    @Override
    public SocketState process(SocketWrapperBase<NioChannel> connection, SocketEvent event) {
        // It has a thread from here on, and counts as that.
        finished(connection);
        SocketState state = http.process(connection, event);
        if (state != SocketState.LONG || SharingEndpoint.isAsynchronous(connection)) {
            return state;
        }
        SocketWrapperBase<NioChannel> ending = tooMany(connection);
        if (connection.equals(ending)) {
            return SocketState.CLOSED;
        }
        // One whose lock is taken has a thread again.
        if (ending != null && ending.getLock().tryLock()) {
            try {
                ending.close();
            } finally {
                ending.getLock().unlock();
            }
        }
        return state;
    }

    @Override
    public void release(SocketWrapperBase<NioChannel> connection) {
        finished(connection);
        http.release(connection);
    }

    @Override
    public Object getGlobal() {
        return http.getGlobal();
    }

    @Override
    public void pause() {
        http.pause();
    }

    @Override
    public void recycle() {
        http.recycle();
    }

    private synchronized void finished(SocketWrapperBase<NioChannel> connection) {
        unfinished.remove(connection);
    }

    /** Adds one, and takes out the one that has to end for it, if any has to. */
    private synchronized @Nullable SocketWrapperBase<NioChannel> tooMany(
            SocketWrapperBase<NioChannel> added) {
        unfinished.add(added);
        if (unfinished.size() <= most) {
            return null;
        }
        SocketWrapperBase<NioChannel> ending =
                ConnectionsByAddress.of(unfinished.stream()).ofTheGreediest().getFirst();
        unfinished.remove(ending);
        return ending;
    }
}
