package io.gpusharing.deviceplugin.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Keeps something in the API server as it should be, by a thread of its own: what is wanted last is
 * written until it is there, and nothing is written that is there already. Looks now and then
 * whether somebody else has changed it.
 */
final class KeptState<T> implements AutoCloseable {

    private static final Duration BETWEEN_LOOKS = Duration.ofMinutes(10);

    /** Where it is kept. */
    interface Place<T> {

        /** What is there; null if nothing is. */
        @Nullable T read() throws IOException, InterruptedException;

        void write(T wanted) throws IOException, InterruptedException;
    }

    private final String name;
    private final Place<T> place;
    private final Backoff backoff;
    private final OutageLog outage;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** Guarded by the lock, as all below. */
    private @Nullable Supplier<T> wanted;

    private boolean isNew;
    private long lookedAt = System.nanoTime();
    private @Nullable Thread keeping;
    private boolean lookAgain = true;
    private boolean closed;

    /**
     * @param name what it is, as a noun: {@code gpu node}
     */
    KeptState(String name, Place<T> place, Backoff backoff, Logger log) {
        this.name = name;
        this.place = place;
        this.backoff = backoff;
        this.outage = new OutageLog(log, name);
    }

    /**
     * From now on it should be this. Returns at once; what exactly is asked when there is time to
     * write it.
     */
    void want(Supplier<T> state) {
        lock.lock();
        try {
            wanted = state;
            isNew = true;
            changed.signalAll();
            if (keeping == null && !closed) {
                keeping = Thread.ofVirtual().name(name.replace(' ', '-')).start(this::keep);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Looks soon whether it is still there. */
    void look() {
        lock.lock();
        try {
            lookAgain = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void keep() {
        @Nullable T there = null;
        while (true) {
            try {
                Task<T> task = next();
                if (task.look()) {
                    there = place.read();
                }
                T wanted = task.wanted().get();
                if (!wanted.equals(there)) {
                    place.write(wanted);
                    there = wanted;
                }
                outage.over();
                backoff.reset();
            } catch (InterruptedException e) {
                return;
            } catch (IOException | RuntimeException | Error e) {
                if (!pauseAfter(e)) {
                    return;
                }
            }
        }
    }

    /** What is wanted, and whether to look first what is there. */
    private record Task<T>(Supplier<T> wanted, boolean look) {}

    /** Waits until there is something to do. */
    private Task<T> next() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (wanted == null || (!lookAgain && untilLook() > 0 && !isNew)) {
                var _ = changed.awaitNanos(untilLook());
            }
            boolean look = lookAgain || untilLook() <= 0;
            if (look) {
                lookedAt = System.nanoTime();
            }
            lookAgain = false;
            isNew = false;
            return new Task<>(wanted, look);
        } finally {
            lock.unlock();
        }
    }

    /** In nanoseconds. */
    private long untilLook() {
        return BETWEEN_LOOKS.toNanos() - (System.nanoTime() - lookedAt);
    }

    /** After a failure nothing is certain, not even that it failed. */
    private boolean pauseAfter(Throwable problem) {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            lookAgain = true;
        } finally {
            lock.unlock();
        }
        outage.failed(problem);
        try {
            backoff.pause();
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            if (keeping != null) {
                keeping.interrupt();
            }
        } finally {
            lock.unlock();
        }
    }
}
