package io.gpusharing.timekeeper.ledger;

import io.gpusharing.timekeeper.cluster.PodFollower;
import io.gpusharing.timekeeper.leadership.Leadership;
import io.gpusharing.timekeeper.ledger.News.Changed;
import io.gpusharing.timekeeper.ledger.News.Listed;
import io.gpusharing.timekeeper.ledger.News.Passed;
import io.gpusharing.timekeeper.ledger.News.Removed;
import io.gpusharing.timekeeper.ledger.News.Swept;
import io.gpusharing.timekeeper.ledger.News.Task;
import io.gpusharing.timekeeper.ledger.News.Unlabelled;
import io.gpusharing.timekeeper.metering.PodFacts;
import io.gpusharing.timekeeper.outage.Outage;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * The one thread that writes the ledger while this replica leads. It queues what the watch tells
 * and has it posted in batches. A batch that fails is posted again until it succeeds, so nothing is
 * lost while the database is away. While another replica leads, the thread reads the ledger every
 * few seconds, so that this replica can answer questions too.
 */
@Component
public class Bookkeeper implements PodFollower, SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(Bookkeeper.class);
    private static final int BATCH = 500;
    private static final Duration LONGEST_NAP = Duration.ofSeconds(10);

    /** How often a replica that does not lead reads the ledger. */
    private static final Duration LOOK = Duration.ofSeconds(5);

    private final Ledger ledger;
    private final Book book;
    private final LedgerMetrics metrics;
    private final LedgerProperties properties;
    private final Leadership leadership;
    private final Clock clock;
    private final LinkedBlockingDeque<News> news = new LinkedBlockingDeque<>();

    /** What has to happen before the first posting; null once postings have begun. */
    private @Nullable List<Runnable> early = new ArrayList<>();

    private final CountDownLatch ready = new CountDownLatch(1);
    private final Thread thread = Thread.ofPlatform().name("bookkeeper").unstarted(this::run);
    private final Outage outage;
    private long term;
    private volatile boolean running;

    /** When the oldest of the news in hand was told; null while nothing waits for its commit. */
    private volatile @Nullable Instant oldest;

    /** Since when postings fail although the database answers; null while they do not. */
    private volatile @Nullable Instant stuckSince;

    Bookkeeper(
            Ledger ledger,
            Book book,
            LedgerMetrics metrics,
            LedgerProperties properties,
            Leadership leadership,
            Clock clock) {
        this.ledger = ledger;
        this.book = book;
        this.metrics = metrics;
        this.properties = properties;
        this.leadership = leadership;
        this.clock = clock;
        this.outage = new Outage(log, "bookkeeper", clock);
        metrics.unposted(() -> since(oldest));
    }

    /** How long postings have been failing although the database answers; zero if they are not. */
    Duration stuck() {
        return since(stuckSince);
    }

    private Duration since(@Nullable Instant instant) {
        return instant == null ? Duration.ZERO : Duration.between(instant, clock.instant());
    }

    @Override
    public Optional<String> position() {
        news.removeIf(Bookkeeper::isOfPods);
        return Optional.ofNullable(ledger.open(book.now()).position());
    }

    @Override
    public void listed(List<PodFacts> pods, String position, boolean resuming) {
        news.add(new Listed(pods, position, resuming, clock.instant()));
    }

    @Override
    public void changed(PodFacts pod, String position) {
        news.add(new Changed(pod, position, clock.instant()));
    }

    @Override
    public void removed(PodFacts pod, String position) {
        news.add(new Removed(pod, position, clock.instant()));
    }

    @Override
    public void unlabelled(PodFacts pod, String position) {
        news.add(new Unlabelled(pod, position, clock.instant()));
    }

    @Override
    public void passed(String position) {
        news.add(new Passed(position, clock.instant()));
    }

    @Override
    public void swept(List<PodFacts> pods) {
        news.add(new Swept(pods, clock.instant()));
    }

    /** Runs work in the bookkeeper's thread, between two postings. */
    public synchronized void between(Runnable work) {
        if (early == null) {
            news.add(new Task(work));
        } else {
            early.add(work);
        }
    }

    /** Lets postings begin. To be called once the budgets, and so all tariffs, are known. */
    public synchronized void begin() {
        if (early != null) {
            // Ahead of the pods that were queued meanwhile, or those would be charged to nobody.
            // As one, because what each tells makes sense only with the others.
            List<Runnable> all = early;
            news.addFirst(new Task(() -> all.forEach(Runnable::run)));
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
                Deque<News> batch = take();
                if (leadership.leads()) {
                    beginTerm();
                    keep(batch);
                } else {
                    look(batch);
                }
            }
        } catch (InterruptedException e) {
            log.debug("told to stop");
        }
    }

    private Deque<News> take() throws InterruptedException {
        Duration nap = leadership.leads() ? nap() : LOOK;
        // Rounded up, lest it wakes too early; a nap of nothing still takes what is there.
        News first = news.poll(Math.max(0, nap.toMillis() + 1), TimeUnit.MILLISECONDS);
        var batch = new ArrayDeque<News>();
        if (first != null) {
            batch.add(first);
            news.drainTo(batch, BATCH - 1);
        }
        return batch;
    }

    private Duration nap() {
        Instant due = book.nextDue();
        Duration wait = due == null ? LONGEST_NAP : Duration.between(clock.instant(), due);
        return wait.compareTo(LONGEST_NAP) < 0 ? wait : LONGEST_NAP;
    }

    private static boolean isOfPods(News news) {
        return !(news instanceof Task);
    }

    private void beginTerm() {
        if (leadership.term() != term) {
            term = leadership.term();
            book.takeOver();
        }
    }

    /** News of pods is dropped: the leader hears the same. */
    private void look(Deque<News> batch) throws InterruptedException {
        batch.removeIf(Bookkeeper::isOfPods);
        oldest = null;
        stuckSince = null;
        while (true) {
            try {
                book.look(batch);
                outage.over();
                return;
            } catch (RuntimeException e) {
                outage.failed(e);
                TimeUnit.NANOSECONDS.sleep(properties.databaseRetry().toNanos());
            }
        }
    }

    private void keep(Deque<News> batch) throws InterruptedException {
        List<Instant> told = batch.stream().flatMap(News::instants).toList();
        oldest = told.stream().min(Instant::compareTo).orElseGet(clock::instant);
        while (true) {
            try {
                book.keep(batch);
                Instant now = clock.instant();
                told.forEach(at -> metrics.committed(Duration.between(at, now)));
                outage.over();
                oldest = null;
                stuckSince = null;
                return;
            } catch (RuntimeException e) {
                // Whatever went wrong, the rows are right and the batch is still here.
                book.forget();
                outage.failed(e);
                boolean away = Outage.isOutage(e);
                stuckSince = away ? null : stuckSince == null ? clock.instant() : stuckSince;
                TimeUnit.NANOSECONDS.sleep(properties.databaseRetry().toNanos());
            }
            if (!leadership.leads()) {
                look(batch);
                return;
            }
        }
    }
}
