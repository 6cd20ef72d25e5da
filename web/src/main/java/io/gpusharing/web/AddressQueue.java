package io.gpusharing.web;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.ToIntFunction;

/**
 * What waits, by the address of the client that it is from. The address that has least already is
 * next, and of several such the one that has waited longest.
 */
final class AddressQueue<T> {

    /** One address alone gets three of four places, two get three of seven each. */
    private static final int OF_THE_FREE = 3;

    /** In the order in which they were served last. None of the queues is empty. */
    private final Map<String, Deque<T>> waiting = new LinkedHashMap<>();

    private int size;

    /**
     * Whether an address may have one more of what is shared: there is always one left for an
     * address that has none.
     *
     * @param has how many it has
     * @param free how many nobody has
     */
    static boolean mayHaveMore(int has, int free) {
        return has < OF_THE_FREE * free;
    }

    void add(String address, T waiter) {
        waiting.computeIfAbsent(address, _ -> new ArrayDeque<>()).add(waiter);
        size++;
    }

    int size() {
        return size;
    }

    /** How many of one address wait. */
    int of(String address) {
        Deque<T> queue = waiting.get(address);
        return queue == null ? 0 : queue.size();
    }

    /**
     * The address that is next; empty if nothing waits.
     *
     * @param has how much an address has already
     */
    Optional<String> next(ToIntFunction<String> has) {
        // The first of equals, which is what a stream's min does.
        return waiting.keySet().stream().min(Comparator.comparingInt(has));
    }

    /**
     * The address that has most together with what waits; empty if nothing waits.
     *
     * @param has how much an address has already
     */
    Optional<String> greediest(ToIntFunction<String> has) {
        return waiting.keySet().stream()
                .max(Comparator.comparingInt(it -> has.applyAsInt(it) + of(it)));
    }

    /** Takes what has waited longest of an address, which then is behind all others. */
    T take(String address) {
        Deque<T> queue = removed(address);
        T waiter = queue.remove();
        if (!queue.isEmpty()) {
            waiting.put(address, queue);
        }
        return waiter;
    }

    /** Takes what has come last of an address, which keeps its place. */
    T takeLast(String address) {
        Deque<T> queue = waiting.get(address);
        if (queue == null || queue.size() == 1) {
            return removed(address).remove();
        }
        size--;
        return queue.removeLast();
    }

    private Deque<T> removed(String address) {
        Deque<T> queue = waiting.remove(address);
        if (queue == null) {
            throw new NoSuchElementException(address);
        }
        size--;
        return queue;
    }
}
