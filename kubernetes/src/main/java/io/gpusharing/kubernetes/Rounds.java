package io.gpusharing.kubernetes;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;

/**
 * How the rounds of one part of a service go. What a round throws, be it an {@code Error}, ends
 * neither the part nor its thread: it is logged once, counted, and followed by a pause. Two in a
 * row that have thrown are no accident: then the part is failing.
 *
 * <p>The thread that runs the rounds says how they went; any thread may ask.
 */
public final class Rounds {

    private static final int FAILING = 2;
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    /** Doubled as often, every pause is longer than the longest. */
    private static final int MOST_DOUBLINGS = 16;

    private final String part;
    private final Duration pause;
    private final OutageLog outageLog;
    private final Clock clock;
    private final AtomicInteger inARow = new AtomicInteger();
    private final AtomicLong failures = new AtomicLong();
    private volatile Runnable onDefect = () -> {};
    private boolean defectTold;
    private Instant looked = Instant.MIN;
    private Instant next = Instant.MIN;

    /**
     * @param part a noun: {@code reclaim}
     * @param pause after the first round that has thrown
     * @param log where failures are logged
     */
    public Rounds(String part, Duration pause, Logger log, Clock clock) {
        this.part = part;
        this.pause = pause;
        this.outageLog = new OutageLog(log, part, clock);
        this.clock = clock;
    }

    /** The part whose rounds these are. */
    public String part() {
        return part;
    }

    /**
     * Does a round, unless the pause after one that has thrown still lasts: for a timer, which
     * comes again by itself. Never throws.
     */
    public void run(Runnable round) {
        Instant now = clock.instant();
        // A clock that was far ahead puts nothing off once it is right again.
        boolean early = now.isBefore(next) && !now.isBefore(looked);
        looked = now;
        if (early) {
            return;
        }
        try {
            round.run();
            succeeded();
            next = Instant.MIN;
        } catch (RuntimeException | Error e) {
            next = clock.instant().plus(failed(e));
        }
    }

    /** Says that a round has done its work. */
    public void succeeded() {
        outageLog.over();
        inARow.set(0);
        defectTold = false;
    }

    /**
     * Says that a round has thrown.
     *
     * @return how long to wait for the next one. While the database or the API server is away that
     *     is always the same: they come back by themselves, and are to be missed no longer. Any
     *     other problem will most likely be there again, so that each wait is twice the one before.
     */
    public Duration failed(Throwable problem) {
        outageLog.failed(problem);
        failures.incrementAndGet();
        int times = inARow.incrementAndGet();
        if (OutageLog.isOutage(problem)) {
            return pause;
        }
        if (times >= FAILING && !defectTold) {
            defectTold = true;
            onDefect.run();
        }
        Duration longer = pause.multipliedBy(1L << Math.min(times - 1, MOST_DOUBLINGS));
        return longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
    }

    /** Whether the last two rounds have thrown, or more. */
    public boolean failing() {
        return inARow.get() >= FAILING;
    }

    /** Whether the last round has thrown. */
    public boolean pausing() {
        return inARow.get() > 0;
    }

    /** How many rounds have thrown in all. */
    public long failures() {
        return failures.get();
    }

    /**
     * Calls back, in the thread that runs the rounds, when the part begins to fail and neither the
     * database nor the API server is away. Be quick.
     */
    public void onDefect(Runnable onDefect) {
        this.onDefect = onDefect;
    }
}
