package io.gpusharing.webhook.http;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Permits that clients share, and the namespaces that a client asks for. The client that holds
 * least is next. Of its namespaces each is in turn, however many requests of one wait: a namespace
 * that asked for nothing yet waits for those that hold permits, and then for at most one of each
 * other namespace.
 *
 * <p>A client gets no more than {@link #OF_THE_FREE} times what it leaves free, so that another one
 * need not wait until the first has ended, which may send slowly.
 */
final class RoundRobinSemaphore {

    /** One client alone gets three of four permits, two get three of seven each. */
    private static final int OF_THE_FREE = 3;

    private final ReentrantLock lock = new ReentrantLock();

    /** Clients that hold permits or wait, in the order in which they were served last. */
    private final Map<String, Client> clients = new LinkedHashMap<>();

    private int free;
    private int waiters;

    RoundRobinSemaphore(int permits) {
        this.free = permits;
    }

    /**
     * Who asks.
     *
     * @param client the address of the client
     * @param namespace asked only if it has to wait
     */
    record Asker(String client, Supplier<String> namespace) {}

    private record Waiter(int permits, CountDownLatch served) {}

    private static final class Client {

        private int held;

        /** Who waits, by namespace; the first namespace is next. None of the queues is empty. */
        private final Map<String, Deque<Waiter>> waiting = new LinkedHashMap<>();

        private Deque<Waiter> next() {
            return waiting.values().iterator().next();
        }

        private Waiter take() {
            Iterator<Map.Entry<String, Deque<Waiter>>> namespaces = waiting.entrySet().iterator();
            Map.Entry<String, Deque<Waiter>> next = namespaces.next();
            Deque<Waiter> queue = next.getValue();
            Waiter waiter = queue.remove();
            namespaces.remove();
            if (!queue.isEmpty()) {
                waiting.put(next.getKey(), queue);
            }
            return waiter;
        }

        /** Whether it waited until now. */
        private boolean giveUp(String namespace, Waiter waiter) {
            Deque<Waiter> queue = waiting.get(namespace);
            if (queue == null || !queue.remove(waiter)) {
                return false;
            }
            if (queue.isEmpty()) {
                waiting.remove(namespace);
            }
            return true;
        }
    }

    /**
     * Takes permits, and waits for them; {@link #release} gives them back.
     *
     * @param permits no more than there are in all
     * @param deadline by {@link System#nanoTime}
     * @return whether there were enough in time
     */
    boolean acquire(Asker asker, int permits, long deadline) {
        lock.lock();
        try {
            Client client = client(asker.client());
            if (waiters == 0 && mayHave(client, permits)) {
                free -= permits;
                client.held += permits;
                return true;
            }
            forget(asker.client());
        } finally {
            lock.unlock();
        }
        var waiter = new Waiter(permits, new CountDownLatch(1));
        String namespace = asker.namespace().get();
        lock.lock();
        try {
            client(asker.client())
                    .waiting
                    .computeIfAbsent(namespace, _ -> new ArrayDeque<>())
                    .add(waiter);
            waiters++;
            serve();
        } finally {
            lock.unlock();
        }
        return served(waiter, deadline) || !gaveUp(asker.client(), namespace, waiter);
    }

    /** Gives permits of a client back. */
    void release(String client, int permits) {
        lock.lock();
        try {
            free += permits;
            client(client).held -= permits;
            forget(client);
            serve();
        } finally {
            lock.unlock();
        }
    }

    private Client client(String name) {
        return clients.computeIfAbsent(name, _ -> new Client());
    }

    private void forget(String client) {
        clients.computeIfPresent(
                client, (_, it) -> it.held == 0 && it.waiting.isEmpty() ? null : it);
    }

    /** A client that holds nothing may have all: what is asked for at once is never too much. */
    private boolean mayHave(Client client, int permits) {
        long left = (long) free - permits;
        return left >= 0
                && (client.held == 0 || client.held + (long) permits <= OF_THE_FREE * left);
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
    private boolean gaveUp(String client, String namespace, Waiter waiter) {
        lock.lock();
        try {
            if (!client(client).giveUp(namespace, waiter)) {
                return false;
            }
            waiters--;
            forget(client);
            // It may have stood before others who need less.
            serve();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** As many as there are permits for. Who is next is not passed over for asking for more. */
    private void serve() {
        Optional<Map.Entry<String, Client>> next = next();
        while (next.isPresent()) {
            String name = next.get().getKey();
            Client client = next.get().getValue();
            if (!mayHave(client, client.next().element().permits())) {
                return;
            }
            Waiter waiter = client.take();
            waiters--;
            free -= waiter.permits();
            client.held += waiter.permits();
            clients.remove(name);
            clients.put(name, client);
            waiter.served().countDown();
            next = next();
        }
    }

    private Optional<Map.Entry<String, Client>> next() {
        return clients.entrySet().stream()
                .filter(it -> !it.getValue().waiting.isEmpty())
                .min(Comparator.comparingInt(it -> it.getValue().held));
    }
}
