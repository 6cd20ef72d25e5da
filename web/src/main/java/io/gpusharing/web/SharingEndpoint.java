package io.gpusharing.web;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.coyote.Processor;
import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.NioEndpoint;
import org.apache.tomcat.util.net.SocketBufferHandler;
import org.apache.tomcat.util.net.SocketEvent;
import org.apache.tomcat.util.net.SocketWrapperBase;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shares places for connections, and threads, by the addresses of clients.
 *
 * <p>Accepting never stops: a connection that finds no place waits, which costs a file descriptor
 * and no buffers. An address gets no more than {@link AddressQueue#mayHaveMore a part} of the
 * places, so there is one for who has none yet. Where there is none all the same, a connection of
 * the address that has most ends: one that is quiet if there is any, else the one that has been
 * silent longest in its request.
 */
final class SharingEndpoint extends NioEndpoint {

    private static final Logger log = LoggerFactory.getLogger(SharingEndpoint.class);

    /** A client whose connection has been quiet for so long is hardly writing to it just now. */
    private static final Duration QUIET = Duration.ofSeconds(1);

    /** Tomcat makes this class, and writes down by the system's clock when it has read. */
    private static final Clock TOMCATS = Clock.systemUTC();

    private final ReentrantLock lock = new ReentrantLock();

    /** Connections without a place. */
    private final AddressQueue<SocketChannel> newcomers = new AddressQueue<>();

    /** As many as {@link #newcomers}, for those who only want to know whether there are any. */
    private volatile int waiting;

    private boolean looksAgain;

    /** Connections that were told to end. */
    private final Set<SocketWrapperBase<NioChannel>> leaving =
            Collections.newSetFromMap(new WeakHashMap<>());

    private final SharedThreads threads = new SharedThreads();

    private int places = getMaxConnections() / 2;

    /** Tomcat's own limit also counts those that wait, of whom there may be as many. */
    @Override
    public void setMaxConnections(int most) {
        places = most;
        super.setMaxConnections(2 * most);
    }

    @Override
    protected boolean setSocketOptions(SocketChannel socket) {
        lock.lock();
        try {
            newcomers.add(address(socket), socket);
            place();
        } catch (IOException e) {
            // It has left again.
            destroySocket(socket);
        } finally {
            lock.unlock();
        }
        return true;
    }

    /** Called when a connection has closed, and when one was not accepted. */
    @Override
    protected long countDownConnection() {
        long left = super.countDownConnection();
        if (!lock.isHeldByCurrentThread()) {
            placeThoseWhoWait();
        }
        return left;
    }

    private void placeThoseWhoWait() {
        if (waiting > 0 && isRunning()) {
            lock.lock();
            try {
                place();
            } finally {
                lock.unlock();
            }
        }
    }

    @Override
    public void stopInternal() {
        lock.lock();
        try {
            while (newcomers.size() > 0) {
                destroySocket(newcomers.take(newcomers.next(_ -> 0).orElseThrow()));
            }
            waiting = 0;
        } finally {
            lock.unlock();
        }
        super.stopInternal();
    }

    /** Gives places to those who wait, as far as there are any. */
    private void place() {
        // Written before places are counted: whoever closes after the count sees it and comes here.
        waiting = newcomers.size();
        ConnectionsByAddress held = held();
        Optional<String> next = newcomers.next(held::of);
        while (next.isPresent()) {
            if (AddressQueue.mayHaveMore(held.of(next.get()), places - held.total())) {
                SocketChannel socket = newcomers.take(next.get());
                if (!super.setSocketOptions(socket)) {
                    closeSocket(socket);
                }
            } else if (!madeRoom(next.get(), held)) {
                break;
            }
            held = held();
            next = newcomers.next(held::of);
        }
        while (newcomers.size() >= places) {
            destroySocket(newcomers.takeLast(newcomers.greediest(held::of).orElseThrow()));
        }
        waiting = newcomers.size();
        if (waiting > 0 && !looksAgain) {
            // Connections become quiet without a sound.
            looksAgain = true;
            CompletableFuture.delayedExecutor(QUIET.toMillis(), TimeUnit.MILLISECONDS)
                    .execute(this::lookAgain);
        }
    }

    private void lookAgain() {
        lock.lock();
        try {
            looksAgain = false;
        } finally {
            lock.unlock();
        }
        placeThoseWhoWait();
    }

    private ConnectionsByAddress held() {
        // One that closes is still there when it says so.
        return ConnectionsByAddress.of(connections.values().stream().filter(it -> !it.isClosed()));
    }

    /**
     * Ends one connection for a newcomer, if there is one that should.
     *
     * @return whether it has ended; one that is at work ends later
     */
    private boolean madeRoom(String newcomer, ConnectionsByAddress held) {
        leaving.removeIf(SocketWrapperBase::isClosed);
        if (leaving.size() >= newcomers.size()) {
            return false;
        }
        List<SocketWrapperBase<NioChannel>> most = held.ofTheGreediest();
        boolean unfair = most.size() > held.of(newcomer) + 1;
        return most.stream()
                .filter(it -> !leaving.contains(it) && (unfair || isQuiet(it)))
                .min(
                        Comparator.comparingInt(
                                        (SocketWrapperBase<NioChannel> it) -> isAtWork(it) ? 1 : 0)
                                .thenComparingLong(SharingEndpoint::lastRead))
                .map(this::ended)
                .orElse(false);
    }

    private static boolean isQuiet(SocketWrapperBase<NioChannel> connection) {
        return !isAtWork(connection) && TOMCATS.millis() - lastRead(connection) > QUIET.toMillis();
    }

    private static boolean isAtWork(SocketWrapperBase<NioChannel> connection) {
        return connection.getLock().isLocked() || isAsynchronous(connection);
    }

    static boolean isAsynchronous(SocketWrapperBase<NioChannel> connection) {
        return connection.getCurrentProcessor() instanceof Processor processor
                && processor.isAsync();
    }

    private static long lastRead(SocketWrapperBase<NioChannel> connection) {
        return connection instanceof NioSocketWrapper nio ? nio.getLastRead() : 0;
    }

    /**
     * Ends a connection. One that is at work ends as if its client had hung up: a request that was
     * read is still answered.
     *
     * @return whether it has ended already
     */
    private boolean ended(SocketWrapperBase<NioChannel> connection) {
        // Nobody begins to work for it meanwhile, and nobody goes on with what is closed.
        if (connection.getLock().tryLock()) {
            try {
                if (!isAsynchronous(connection)) {
                    connection.close();
                    return true;
                }
            } finally {
                connection.getLock().unlock();
            }
        }
        leaving.add(connection);
        SocketChannel socket = connection.getSocket().getIOChannel();
        try {
            if (socket != null) {
                socket.shutdownInput();
            }
        } catch (IOException e) {
            log.atDebug().setCause(e).log("connection has closed already");
        }
        return false;
    }

    private static String address(SocketChannel socket) throws IOException {
        return socket.getRemoteAddress() instanceof InetSocketAddress address
                ? address.getAddress().getHostAddress()
                : "";
    }

    @Override
    protected NioChannel createChannel(SocketBufferHandler buffer) {
        return isSSLEnabled() ? new TimedHandshake(buffer, this) : super.createChannel(buffer);
    }

    /** Where threads are few, an address leaves some of them to others. */
    @Override
    public boolean processSocket(
            SocketWrapperBase<NioChannel> connection, SocketEvent event, boolean dispatch) {
        if (dispatch && connection.getSocket() instanceof TimedHandshake handshake) {
            handshake.came();
        }
        return (dispatch && getExecutor() instanceof ThreadPoolExecutor pool)
                ? threads.execute(
                        pool,
                        getMaxThreads(),
                        ConnectionsByAddress.address(connection),
                        () -> super.processSocket(connection, event, false))
                : super.processSocket(connection, event, dispatch);
    }
}
