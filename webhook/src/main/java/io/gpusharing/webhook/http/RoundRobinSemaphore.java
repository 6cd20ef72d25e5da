package io.gpusharing.webhook.http;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Permits that namespaces get in turn, however many of one wait: who comes from a namespace that
 * asked for nothing yet waits for those that hold permits, and then for at most one of each other
 * namespace.
 */
final class RoundRobinSemaphore {

    private final ReentrantLock lock = new ReentrantLock();

    /** Who waits, by namespace; the first namespace is next. None of the queues is empty. */
    private final Map<String, Deque<Waiter>> waiting = new LinkedHashMap<>();

    private int free;

    RoundRobinSemaphore(int permits) {
        this.free = permits;
    }

    private record Waiter(int permits, CountDownLatch served) {}

    /**
     * Takes permits, and waits for them; {@link #release} gives them back.
     *
     * @param namespace asked only if it has to wait
     * @param permits no more than there are in all
     * @param deadline by {@link System#nanoTime}
     * @return whether there were enough in time
     */
    boolean acquire(Supplier<String> namespace, int permits, long deadline) {
        lock.lock();
        try {
            if (waiting.isEmpty() && permits <= free) {
                free -= permits;
                return true;
            }
        } finally {
            lock.unlock();
        }
        var waiter = new Waiter(permits, new CountDownLatch(1));
        String whose = namespace.get();
        lock.lock();
        try {
            waiting.computeIfAbsent(whose, _ -> new ArrayDeque<>()).add(waiter);
            serve();
        } finally {
            lock.unlock();
        }
        return served(waiter, deadline) || !gaveUp(whose, waiter);
    }

    /** Gives permits back. */
    void release(int permits) {
        lock.lock();
        try {
            free += permits;
            serve();
        } finally {
            lock.unlock();
        }
    }

    private static boolean served(Waiter waiter, long deadline) {
        try {
            return waiter.served().await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Waits no longer, unless it was served meanwhile. */
    private boolean gaveUp(String namespace, Waiter waiter) {
        lock.lock();
        try {
            Deque<Waiter> queue = waiting.get(namespace);
            if (queue == null || !queue.remove(waiter)) {
                return false;
            }
            if (queue.isEmpty()) {
                waiting.remove(namespace);
            }
            // It may have stood before others who need less.
            serve();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** As many as there are permits for. Who is next is not passed over for asking for more. */
    private void serve() {
        while (!waiting.isEmpty()) {
            Iterator<Map.Entry<String, Deque<Waiter>>> namespaces = waiting.entrySet().iterator();
            Map.Entry<String, Deque<Waiter>> next = namespaces.next();
            Deque<Waiter> queue = next.getValue();
            if (queue.element().permits() > free) {
                return;
            }
            Waiter waiter = queue.remove();
            namespaces.remove();
            if (!queue.isEmpty()) {
                waiting.put(next.getKey(), queue);
            }
            free -= waiter.permits();
            waiter.served().countDown();
        }
    }
}
