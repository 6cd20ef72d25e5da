package io.gpusharing.timekeeper.aggregated;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Whose question is looked up now, and whose next: those who wait are served in their order. Nobody
 * has all turns, however much they ask.
 */
final class Turns {

    private final int ofOne;
    private final Duration patience;

    /** For those that are looked up, and those that wait. */
    private final Semaphore room;

    private final Semaphore free;
    private final ConcurrentHashMap<String, Integer> taken = new ConcurrentHashMap<>();

    /**
     * @param atOnce how many are looked up at a time
     * @param waiting how many more wait for that
     * @param ofOne how many one caller has of both
     * @param patience how long they wait
     */
    Turns(int atOnce, int waiting, int ofOne, Duration patience) {
        this.ofOne = ofOne;
        this.patience = patience;
        this.room = new Semaphore(atOnce + waiting);
        this.free = new Semaphore(atOnce, true);
    }

    /**
     * Waits for a turn, which is to be ended.
     *
     * @return false if there is none: whoever asks is to come again
     */
    boolean begin(String caller) {
        if (!room.tryAcquire()) {
            return false;
        }
        if (taken.merge(caller, 1, Integer::sum) <= ofOne && waited()) {
            return true;
        }
        leave(caller);
        return false;
    }

    private boolean waited() {
        try {
            return free.tryAcquire(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Leaves a turn that was begun to the next. */
    void end(String caller) {
        free.release();
        leave(caller);
    }

    private void leave(String caller) {
        taken.computeIfPresent(caller, (name, count) -> count == 1 ? null : count - 1);
        room.release();
    }
}
