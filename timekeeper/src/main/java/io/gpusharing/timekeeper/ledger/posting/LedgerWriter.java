package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.OutageLog;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.timekeeper.cluster.PodEvent;
import io.gpusharing.timekeeper.cluster.PodEvent.PodChange;
import io.gpusharing.timekeeper.cluster.PodEventHandler;
import io.gpusharing.timekeeper.ledger.LedgerProperties;
import io.gpusharing.timekeeper.ledger.posting.LedgerInput.Pods;
import io.gpusharing.timekeeper.ledger.posting.LedgerInput.Task;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import io.gpusharing.web.Part;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * The one thread that writes the ledger while this replica leads. It queues what the watch reports
 * and has it posted in batches. A batch that fails is posted again until it succeeds, so nothing is
 * lost while the database is away. While another replica leads, the thread reads the ledger every
 * few seconds, so that this replica can answer questions too.
 */
@Component
public class LedgerWriter implements PodEventHandler, SmartLifecycle, Part {

    private static final Logger log = LoggerFactory.getLogger(LedgerWriter.class);
    private static final int BATCH = 500;
    private static final Duration LONGEST_NAP = Duration.ofSeconds(10);

    /** How often a replica that does not lead reads the ledger. */
    private static final Duration FOLLOW_EVERY = Duration.ofSeconds(5);

    private final Ledger ledger;
    private final PostingRound round;
    private final Timer commits;
    private final Leadership leadership;
    private final Clock clock;
    private final LinkedBlockingDeque<LedgerInput> queue = new LinkedBlockingDeque<>();

    /** What has to happen before the first posting; null once postings have begun. */
    private @Nullable List<Runnable> early = new ArrayList<>();

    private final CountDownLatch ready = new CountDownLatch(1);
    private final Thread thread = Thread.ofPlatform().name("ledger-writer").unstarted(this::run);
    private final Rounds rounds;
    private long term;
    private volatile boolean running;

    /** When the oldest event in hand was received; null while nothing waits for its commit. */
    private volatile @Nullable Instant oldest;

    /** Since when postings fail although the database answers; null while they do not. */
    private volatile @Nullable Instant stuckSince;

    LedgerWriter(
            Ledger ledger,
            PostingRound round,
            MeterRegistry registry,
            LedgerProperties properties,
            Leadership leadership,
            Clock clock) {
        this.ledger = ledger;
        this.round = round;
        this.leadership = leadership;
        this.clock = clock;
        this.rounds = new Rounds("ledger-writer", properties.databaseRetry(), log, clock);
        this.commits =
                Timer.builder("gpusharing.ledger.commit")
                        .description("From the event of a pod to its commit")
                        .publishPercentiles(0.5, 0.99)
                        .register(registry);
        Gauge.builder(
                        "gpusharing.ledger.unposted",
                        this,
                        it -> it.since(it.oldest).toMillis() / 1_000.0)
                .baseUnit("seconds")
                .description(
                        "Age of the oldest event that waits for its commit; it should be near 0")
                .strongReference(true)
                .register(registry);
    }

    /** How long postings have been failing although the database answers; zero if they are not. */
    Duration stuck() {
        return since(stuckSince);
    }

    private Duration since(@Nullable Instant instant) {
        return instant == null ? Duration.ZERO : Duration.between(instant, clock.instant());
    }

    @Override
    public Rounds rounds() {
        return rounds;
    }

    @Override
    public Optional<String> position() {
        queue.removeIf(Pods.class::isInstance);
        return Optional.ofNullable(ledger.open(round.now()).position());
    }

    @Override
    public void onEvent(PodEvent event) {
        queue.add(new Pods(event));
    }

    /** Runs work in the ledger writer's thread, between two postings. */
    public synchronized void between(Runnable work) {
        if (early == null) {
            queue.add(new Task(work));
        } else {
            early.add(work);
        }
    }

    /** Lets postings begin. To be called once the budgets, and so all payers, are known. */
    public synchronized void begin() {
        if (early != null) {
            // Ahead of the pods that were queued meanwhile, or those would be charged to nobody.
            // As one, because what each says makes sense only with the others.
            List<Runnable> all = early;
            queue.addFirst(new Task(() -> all.forEach(Runnable::run)));
            early = null;
        }
        ready.countDown();
    }

    @Override
    public void start() {
        running = true;
        term = leadership.term();
        thread.start();
    }

    @Override
    public void stop() {
        running = false;
        thread.interrupt();
        try {
            thread.join(Duration.ofSeconds(20));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** Starts before the watches that feed it, and stops after them. */
    @Override
    public int getPhase() {
        return -1000;
    }

    private void run() {
        try {
            ready.await();
            while (running) {
                Deque<LedgerInput> batch = take();
                if (leadership.leads()) {
                    post(batch);
                } else {
                    follow(batch);
                }
            }
        } catch (InterruptedException e) {
            log.debug("interrupted");
        }
    }

    private Deque<LedgerInput> take() throws InterruptedException {
        Duration nap = leadership.leads() ? nap() : FOLLOW_EVERY;
        var batch = new ArrayDeque<LedgerInput>();
        // Rounded up, lest it wakes too early; a nap of nothing still takes what is there.
        LedgerInput first = queue.poll(Math.max(0, nap.toMillis() + 1), TimeUnit.MILLISECONDS);
        if (first != null) {
            batch.add(first);
            queue.drainTo(batch, BATCH - 1);
        }
        return batch;
    }

    private Duration nap() {
        Instant due;
        try {
            due = round.nextDue();
        } catch (RuntimeException | Error e) {
            return rounds.failed(e);
        }
        Duration wait = due == null ? LONGEST_NAP : Duration.between(clock.instant(), due);
        return wait.compareTo(LONGEST_NAP) < 0 ? wait : LONGEST_NAP;
    }

    private void beginTerm() {
        if (leadership.term() != term) {
            long begins = leadership.term();
            round.takeOver();
            term = begins;
        }
    }

    /** Events of pods are dropped: the leader receives the same. */
    private void follow(Deque<LedgerInput> batch) throws InterruptedException {
        batch.removeIf(Pods.class::isInstance);
        oldest = null;
        stuckSince = null;
        while (true) {
            try {
                round.follow(batch);
                rounds.succeeded();
                return;
            } catch (RuntimeException | Error e) {
                Thread.sleep(rounds.failed(e));
            }
        }
    }

    private void post(Deque<LedgerInput> batch) throws InterruptedException {
        List<Instant> receivedAt =
                batch.stream()
                        .flatMap(input ->
                                input instanceof Pods(PodChange change)
                                        ? Stream.of(change.at())
                                        : Stream.empty())
                        .toList();
        long begun = leadership.term();
        oldest = receivedAt.stream().min(Instant::compareTo).orElseGet(clock::instant);
        while (true) {
            try {
                beginTerm();
                round.post(batch);
                Instant now = clock.instant();
                receivedAt.forEach(at -> commits.record(Duration.between(at, now)));
                rounds.succeeded();
                oldest = null;
                stuckSince = null;
                return;
            } catch (RuntimeException | Error e) {
                // Whatever went wrong, the rows are right and the batch is still here.
                round.forget();
                Duration pause = rounds.failed(e);
                boolean away = OutageLog.isOutage(e);
                stuckSince = away ? null : stuckSince == null ? clock.instant() : stuckSince;
                Thread.sleep(pause);
            }
            // In another term the watch begins anew, and tells the same again.
            if (!leadership.leads() || leadership.term() != begun) {
                follow(batch);
                return;
            }
        }
    }
}
