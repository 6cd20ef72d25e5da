package io.gpusharing.scheduler.evicting;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.LeaseSettings;
import io.gpusharing.kubernetes.OutageLog;
import io.gpusharing.kubernetes.Rounds;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * The one thread that ends pods, on the replica that leads. Whatever fails of one plan, the others
 * have their turn: a plan that was tried rests, and comes after those that were not.
 */
final class Evictor implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(Evictor.class);

    /** Deadlines are looked at as often. */
    private static final Duration NAP = Duration.ofSeconds(1);

    /** Between two tries, where the API server has refused. */
    private static final Duration AGAIN = Duration.ofMinutes(1);

    /** Between two tries, where nothing was learned. */
    private static final Duration PAUSE = Duration.ofSeconds(5);

    /** Between two looks at what others do. */
    private static final Duration LOOK = Duration.ofSeconds(3);

    /**
     * Plans at one go, of those that are carried out, of those that are asked for and of those that
     * are looked at: one that was written meanwhile waits for no thousands of others.
     */
    private static final int MOST = 50;

    /** How long the plan at hand may take when we are to stop. */
    private static final Duration FAREWELL = Duration.ofSeconds(5);

    private final PlanStore store;
    private final Evictions evictions;
    private final PreemptionFollower preemptions;
    private final Waiters waiters;
    private final RefusedStartPlanner refusedStarts;
    private final UnaskedPreemptions unasked;
    private final EvictionWatch watch;
    private final Leadership leadership;
    private final Rounds rounds;
    private final Clock clock;
    private final Semaphore wakeUp = new Semaphore(1);

    /** When each plan is tried again. */
    private final Map<Key, Instant> resting = new HashMap<>();

    /** UIDs of those that could not be carried out lately: logged once. */
    private final Set<String> failing = new HashSet<>();

    private long term;
    private Instant looked = Instant.EPOCH;
    private volatile boolean stopping;
    private volatile @Nullable Thread thread;

    Evictor(
            PlanStore store,
            Evictions evictions,
            PreemptionFollower preemptions,
            Waiters waiters,
            RefusedStartPlanner refusedStarts,
            UnaskedPreemptions unasked,
            EvictionWatch watch,
            Leadership leadership,
            Rounds rounds,
            Clock clock) {
        this.store = store;
        this.evictions = evictions;
        this.preemptions = preemptions;
        this.waiters = waiters;
        this.refusedStarts = refusedStarts;
        this.unasked = unasked;
        this.watch = watch;
        watch.listen(this::trigger);
        this.leadership = leadership;
        this.rounds = rounds;
        this.clock = clock;
    }

    /** A plan whose victims have ended is looked at without delay. */
    private record Key(String uid, boolean done) {
        static Key of(EvictionPlan plan) {
            return new Key(plan.uid(), plan.phase() == Phase.Done);
        }
    }

    /** What one plan needs now: done is said by yes, and no means to look again soon. */
    private interface Step {

        boolean done(EvictionPlan plan, Instant now);
    }

    /** There is something to do. */
    void trigger() {
        wakeUp.release();
    }

    /**
     * Does what is due of all plans.
     *
     * @throws KubernetesClientException if the API server would most likely answer nobody
     */
    void round() {
        // Of two plans that name one pod, both have to be known.
        if (!leadership.leads() || !watch.isListed()) {
            return;
        }
        Instant now = clock.instant();
        if (leadership.term() != term || now.isBefore(looked.minus(LeaseSettings.SKEW))) {
            term = leadership.term();
            resting.clear();
            refusedStarts.takeOver();
            unasked.takeOver();
        }
        looked = now;
        Map<Boolean, List<EvictionPlan>> due = due(now);
        attemptFirst(due.getOrDefault(true, List.of()), PAUSE, this::carryOut);
        boolean all = refusedStarts.plan(leadership::leads, MOST, now);
        attemptFirst(due.getOrDefault(false, List.of()), LOOK, this::look);
        // Last: Events are often kept elsewhere, and may be away alone.
        all &= unasked.plan(leadership::leads, MOST, now);
        if (!all) {
            trigger();
        }
    }

    private void attemptFirst(List<EvictionPlan> plans, Duration pause, Step step) {
        plans.stream().limit(MOST).forEach(plan -> attempt(plan, pause, step));
        if (plans.size() > MOST) {
            trigger();
        }
    }

    /** By whether they are carried out; who was not tried for long comes first. */
    private Map<Boolean, List<EvictionPlan>> due(Instant now) {
        List<EvictionPlan> all = watch.open();
        resting.keySet().retainAll(all.stream().map(Key::of).collect(Collectors.toSet()));
        failing.retainAll(all.stream().map(EvictionPlan::uid).collect(Collectors.toSet()));
        return all.stream()
                .filter(it -> !triedAgain(it).isAfter(now))
                .sorted(
                        Comparator.comparing(this::triedAgain)
                                // Others have no end by which they are too late.
                                .thenComparing(plan -> plan.cause() != Cause.Reclaim)
                                .thenComparing(EvictionPlan::created)
                                .thenComparing(EvictionPlan::name))
                .collect(Collectors.partitioningBy(EvictionPlan::isCarriedOut));
    }

    private Instant triedAgain(EvictionPlan plan) {
        return resting.getOrDefault(Key.of(plan), Instant.MIN);
    }

    private boolean carryOut(EvictionPlan plan, Instant now) {
        return !plan.isCarriedOut() || evictions.carryOut(plan, leadership::leads, now);
    }

    private boolean look(EvictionPlan plan, Instant now) {
        return switch (plan.phase()) {
            case Asked, Planned -> preemptions.follow(plan, leadership::leads, now);
            case Done -> waiters.settle(plan, now);
            case Refused, NotDone -> true;
        };
    }

    private void attempt(EvictionPlan known, Duration pause, Step step) {
        if (stopping || !leadership.leads()) {
            return;
        }
        Instant now = clock.instant();
        // Before it is tried: whatever goes wrong, the others have their turn.
        resting.put(Key.of(known), now.plus(AGAIN));
        try {
            boolean done =
                    store.read(known)
                            .filter(plan -> plan.object().isOpen())
                            .map(plan -> step.done(plan, now))
                            .orElse(true);
            if (!done) {
                resting.put(Key.of(known), now.plus(pause));
            }
            failing.remove(known.uid());
        } catch (KubernetesClientException e) {
            resting.put(Key.of(known), clock.instant().plus(PAUSE));
            if (OutageLog.isOutageForAll(e)) {
                throw e;
            }
            failed(known, e);
        } catch (RuntimeException | StackOverflowError e) {
            failed(known, e);
        }
    }

    private void failed(EvictionPlan plan, Throwable problem) {
        if (failing.add(plan.uid())) {
            log.atWarn()
                    .setCause(problem)
                    .addKeyValue("eviction", plan.name())
                    .log("cannot carry out an eviction, or say what became of it; trying again");
        }
    }

    private void run() {
        try {
            while (Thread.currentThread().equals(thread)) {
                if (wakeUp.tryAcquire(NAP.toMillis(), TimeUnit.MILLISECONDS)) {
                    wakeUp.drainPermits();
                }
                rounds.run(this::round);
            }
        } catch (InterruptedException e) {
            log.debug("interrupted");
        }
    }

    @Override
    public void start() {
        leadership.listen(this::trigger, this::trigger);
        stopping = false;
        Thread fresh = Thread.ofVirtual().name("evicting").unstarted(this::run);
        thread = fresh;
        fresh.start();
    }

    /** Lets the plan at hand come to its end, so that its answers are written down. */
    @Override
    public void stop() {
        Thread present = thread;
        thread = null;
        stopping = true;
        if (present != null) {
            trigger();
            try {
                if (!present.join(FAREWELL)) {
                    present.interrupt();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public boolean isRunning() {
        return thread != null;
    }
}
