package io.gpusharing.kubernetes;

import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Whether this replica leads. Work that one replica does for all asks before every step, and goes
 * on only while the answer is yes.
 *
 * <p>Nothing depends on it in order to be right: two that both believe to lead for a moment,
 * because one of them was stopped and woke up, meet at the ledger's rows, at the names of Events
 * and at the names and versions of {@code GpuEviction}s.
 *
 * <p>A term that has run out is over for good. Who was refused may have dropped their work, so even
 * a lease that is renewed a moment too late begins a new term.
 */
public final class Leadership {

    private final InstantSource ticks;
    private final List<Runnable> begins = new CopyOnWriteArrayList<>();
    private final List<Runnable> ends = new CopyOnWriteArrayList<>();
    private boolean leads;
    private boolean announced;
    private Instant until = Instant.MIN;
    private long term;

    /**
     * @param ticks a clock that nobody sets
     */
    public Leadership(InstantSource ticks) {
        this.ticks = ticks;
    }

    /** That of a replica which has no others beside it, and asks nobody. */
    public static Leadership alone() {
        var alone = new Leadership(() -> Instant.EPOCH);
        alone.hold(Instant.MAX);
        return alone;
    }

    /** Whether it leads at this moment. */
    public synchronized boolean leads() {
        leads = leads && ticks.instant().isBefore(until);
        return leads;
    }

    /** Grows with each term that begins: a caller that remembers another one has to read again. */
    public synchronized long term() {
        return term;
    }

    /**
     * Calls back when terms begin and end, in the order of registration. The call for an end may
     * come late, when {@link #leads} has said no for seconds. Be quick.
     */
    public void listen(Runnable begins, Runnable ends) {
        this.begins.add(begins);
        this.ends.add(ends);
    }

    /** The lease is ours until then. */
    void hold(Instant end) {
        synchronized (this) {
            if (leads()) {
                until = end;
                return;
            }
        }
        lose();
        synchronized (this) {
            until = end;
            leads = true;
            announced = true;
            term++;
        }
        try {
            begins.forEach(Runnable::run);
        } catch (RuntimeException | Error e) {
            // Who leads with half of its parts does half of the work, and nobody does the rest.
            lose();
            throw e;
        }
    }

    /** The lease is not ours. */
    void lose() {
        boolean call;
        synchronized (this) {
            leads = false;
            call = announced;
            announced = false;
        }
        if (call) {
            ends.forEach(Runnable::run);
        }
    }
}
