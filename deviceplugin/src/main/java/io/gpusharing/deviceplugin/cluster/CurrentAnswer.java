package io.gpusharing.deviceplugin.cluster;

import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The answer of the API server that one thread reads just now. Others may end it: when nothing has
 * come for too long, or when it lacks what must be in it.
 */
final class CurrentAnswer {

    private static final Duration BETWEEN_DOUBTS = Duration.ofSeconds(30);

    private final LongSupplier nanoTime;
    private final ReentrantLock lock = new ReentrantLock();

    /** Guarded by the lock, as what follows. */
    private @Nullable TimedStream stream;

    private boolean watching;
    private boolean doubted;
    private boolean closed;
    private long lastDoubt;

    CurrentAnswer(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.lastDoubt = nanoTime.getAsLong() - BETWEEN_DOUBTS.toNanos();
    }

    /**
     * A new answer begins.
     *
     * @param silence how long nothing may come
     * @param isWatch whether it is of changes, not of all that is there
     */
    TimedStream begin(InputStream answer, Duration silence, boolean isWatch) {
        var begun = new TimedStream(answer, silence, nanoTime);
        lock.lock();
        try {
            stream = begun;
            watching = isWatch;
            doubted = false;
        } finally {
            lock.unlock();
        }
        return begun;
    }

    /** It has been read, or cannot be. */
    void over() {
        lock.lock();
        try {
            stream = null;
        } finally {
            lock.unlock();
        }
    }

    /** Ends a watch, unless one was just ended: a connection may be dead and not look it. */
    void doubt() {
        long now = nanoTime.getAsLong();
        lock.lock();
        try {
            if (stream != null && watching && now - lastDoubt >= BETWEEN_DOUBTS.toNanos()) {
                lastDoubt = now;
                doubted = true;
                stream.end();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether the last answer was ended by {@link #doubt}. */
    boolean isDoubted() {
        lock.lock();
        try {
            return doubted;
        } finally {
            lock.unlock();
        }
    }

    /** Ends what was not heard of for too long. */
    void endIfSilent() {
        lock.lock();
        try {
            if (stream != null && stream.isSilent()) {
                stream.end();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Nothing more is to be read. */
    void close() {
        lock.lock();
        try {
            closed = true;
            if (stream != null) {
                stream.end();
            }
        } finally {
            lock.unlock();
        }
    }

    boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }
}
