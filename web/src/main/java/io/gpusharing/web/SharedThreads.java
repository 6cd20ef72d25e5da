package io.gpusharing.web;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A pool of threads that work for clients by turns. One that keeps its threads busy, with requests
 * that come byte by byte, leaves some to the others.
 */
final class SharedThreads {

    private final ReentrantLock lock = new ReentrantLock();
    private final AddressQueue<Task> waiting = new AddressQueue<>();

    /** Threads by the address that they work for. */
    private final Map<String, Integer> working = new HashMap<>();

    private int busy;

    private record Task(String address, Runnable work) {}

    /**
     * Has one of the pool's threads do something, sooner or later.
     *
     * @param most threads of the pool
     * @return false if the pool has ended
     */
    boolean execute(Executor pool, int most, String address, Runnable work) {
        lock.lock();
        try {
            waiting.add(address, new Task(address, work));
        } finally {
            lock.unlock();
        }
        return askFor(pool, most);
    }

    private boolean askFor(Executor pool, int most) {
        try {
            pool.execute(() -> workOnNext(pool, most));
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    private void workOnNext(Executor pool, int most) {
        Task task = begun(most);
        if (task == null) {
            return;
        }
        try {
            task.work().run();
        } finally {
            if (ended(task)) {
                // It may have waited for this thread, and its own has found nothing to do.
                askFor(pool, most);
            }
        }
    }

    private @Nullable Task begun(int most) {
        lock.lock();
        try {
            String next = waiting.next(this::threadsOf).orElse("");
            if (waiting.size() == 0 || !AddressQueue.mayHaveMore(threadsOf(next), most - busy)) {
                return null;
            }
            busy++;
            working.merge(next, 1, Integer::sum);
            return waiting.take(next);
        } finally {
            lock.unlock();
        }
    }

    /**
     * @return whether something waits
     */
    private boolean ended(Task task) {
        lock.lock();
        try {
            busy--;
            working.computeIfPresent(task.address(), (_, of) -> of == 1 ? null : of - 1);
            return waiting.size() > 0;
        } finally {
            lock.unlock();
        }
    }

    private int threadsOf(String address) {
        return working.getOrDefault(address, 0);
    }
}
