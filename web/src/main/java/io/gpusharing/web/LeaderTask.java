package io.gpusharing.web;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.LeaseSettings;
import io.gpusharing.kubernetes.Rounds;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * A thread that works when it starts, when it is triggered, and at the instants that it asked for.
 * What fails is tried again after a second, and later if it fails again. Work that one replica does
 * for all is done only while it leads.
 */
public abstract class LeaderTask implements SmartLifecycle, Part {

    private static final Logger log = LoggerFactory.getLogger(LeaderTask.class);
    private static final Duration LONGEST_NAP = Duration.ofSeconds(30);
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final Leadership leadership;
    private final Clock clock;
    private final Semaphore wakeUp = new Semaphore(1);
    private final Rounds rounds;
    private final String name;
    private volatile @Nullable Thread thread;
    private boolean listening;
    private long term;
    private boolean working;
    private Instant looked = Instant.EPOCH;

    /**
     * Work that each replica does for itself.
     *
     * @param name of the thread, a noun: {@code serving-certificate}
     */
    protected LeaderTask(String name, Clock clock) {
        this(name, Leadership.alone(), clock);
    }

    /**
     * Work that the leader does for all.
     *
     * @param name of the thread, a noun: {@code notifier}
     */
    protected LeaderTask(String name, Leadership leadership, Clock clock) {
        this(name, PAUSE, leadership, clock);
    }

    /**
     * Work that the leader does for all, and that costs others too much to be tried again at once.
     *
     * @param name of the thread, a noun: {@code notifier}
     * @param pause after work that has failed
     */
    protected LeaderTask(String name, Duration pause, Leadership leadership, Clock clock) {
        this.leadership = leadership;
        this.clock = clock;
        this.rounds = new Rounds(name, pause, log, clock);
        this.name = name;
    }

    /**
     * Does what is due.
     *
     * @return when to be called again, unless triggered before; null for half a minute later
     */
    protected abstract @Nullable Instant work(Instant now);

    /**
     * Others have worked since we did, or the clock was set back: what we remember of our work is
     * old, or dated by what has not come yet.
     */
    protected void takeOver() {}

    /** Others work from now on: what we show of our work is over. */
    protected void handOver() {}

    /** Whether to go on: between any two steps that others can see. */
    protected final boolean leads() {
        return leadership.leads();
    }

    /** There is something to do. */
    protected final void trigger() {
        wakeUp.release();
    }

    /** The sooner of both, of which null is never. */
    public static @Nullable Instant sooner(@Nullable Instant one, @Nullable Instant other) {
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        return other.isBefore(one) ? other : one;
    }

    @Override
    public final Rounds rounds() {
        return rounds;
    }

    @Override
    public void start() {
        if (!listening) {
            leadership.listen(this::trigger, this::trigger);
            listening = true;
        }
        Thread fresh = Thread.ofVirtual().name(name).unstarted(this::run);
        thread = fresh;
        fresh.start();
    }

    @Override
    public void stop() {
        Thread present = thread;
        thread = null;
        if (present != null) {
            present.interrupt();
        }
    }

    @Override
    public boolean isRunning() {
        return thread != null;
    }

    private void run() {
        Instant worked = Instant.MAX;
        Instant next = null;
        try {
            while (Thread.currentThread().equals(thread)) {
                boolean triggered = wakeUp.tryAcquire(nap(next).toMillis(), TimeUnit.MILLISECONDS);
                // Where each event of the cluster triggers work that fails, it would fail as often.
                // The trigger is not lost: the pause ends, and then there is work.
                boolean now = triggered && !(rounds.pausing() && leads());
                if (now || isDue(next, worked, clock.instant())) {
                    wakeUp.drainPermits();
                    worked = clock.instant();
                    next = workSafely();
                }
            }
        } catch (InterruptedException e) {
            log.debug("interrupted");
        }
    }

    /** A clock that was far ahead puts nothing off once it is right again. */
    static boolean isDue(@Nullable Instant next, Instant worked, Instant now) {
        return next == null || !now.isBefore(next) || now.isBefore(worked);
    }

    private Duration nap(@Nullable Instant next) {
        if (next == null) {
            return LONGEST_NAP;
        }
        // Rounded up, lest it wakes a moment too early and has nothing to do yet.
        Duration wait = Duration.between(clock.instant(), next).plusMillis(1);
        return wait.isNegative()
                ? Duration.ZERO
                : wait.compareTo(LONGEST_NAP) < 0 ? wait : LONGEST_NAP;
    }

    private @Nullable Instant workIfWeLead() {
        if (!leads()) {
            if (working) {
                handOver();
            }
            working = false;
            return null;
        }
        working = true;
        Instant now = clock.instant();
        boolean setBack = now.isBefore(looked.minus(LeaseSettings.SKEW));
        looked = now;
        if (leadership.term() != term || setBack) {
            term = leadership.term();
            takeOver();
        }
        return work(now);
    }

    private @Nullable Instant workSafely() {
        try {
            Instant next = workIfWeLead();
            rounds.succeeded();
            return next;
        } catch (RuntimeException | Error e) {
            return clock.instant().plus(rounds.failed(e));
        }
    }
}
