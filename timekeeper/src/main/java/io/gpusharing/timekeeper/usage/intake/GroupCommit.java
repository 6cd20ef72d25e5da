package io.gpusharing.timekeeper.usage.intake;

import io.gpusharing.timekeeper.usage.intake.Outcome.Unavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.transaction.TransactionException;

/**
 * Commits reports that come at the same time together: while one transaction is on its way, the
 * next batch gathers. A report is answered when the transaction that holds it is durable.
 */
final class GroupCommit implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(GroupCommit.class);
    private static final int ATTEMPTS = 5;

    private final Function<List<Delivery>, List<Outcome>> reports;
    private final int maxBatch;
    private final Duration patience;
    private final BlockingQueue<Waiting> queue;
    private final Thread thread;
    private volatile boolean open = true;
    private boolean failing;

    private record Waiting(
            Delivery delivery, CompletableFuture<Outcome> answer, AtomicBoolean taken) {}

    /**
     * @param reports where a batch is written; one outcome for each delivery, or an exception and
     *     nothing
     * @param maxBatch most counters in a transaction; a single larger report still goes through
     */
    GroupCommit(
            Function<List<Delivery>, List<Outcome>> reports,
            int maxBatch,
            int maxWaiting,
            Duration patience) {
        this.reports = reports;
        this.maxBatch = maxBatch;
        this.patience = patience;
        this.queue = new ArrayBlockingQueue<>(maxWaiting);
        this.thread = Thread.ofPlatform().name("usage-commit").daemon().start(this::run);
    }

    /** Returns when the report is durable, or will not be. */
    Outcome submit(Delivery delivery) {
        var waiting = new Waiting(delivery, new CompletableFuture<>(), new AtomicBoolean());
        if (!open || !queue.offer(waiting)) {
            return new Unavailable("too many reports are waiting");
        }
        try {
            return waiting.answer().get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            // Once it is in a transaction, only that knows what became of it.
            return waiting.taken().compareAndSet(false, true)
                    ? new Unavailable("the database is too slow")
                    : waiting.answer().join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Unavailable("the timekeeper is ending");
        } catch (ExecutionException e) {
            throw new IllegalStateException("Outcomes are never exceptions", e);
        }
    }

    int waiting() {
        return queue.size();
    }

    /** What was submitted before is still committed. */
    @Override
    public void close() {
        open = false;
        thread.interrupt();
        try {
            thread.join(patience);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        while (open || !queue.isEmpty()) {
            try {
                List<Waiting> batch = gather();
                if (!batch.isEmpty()) {
                    commit(batch);
                }
            } catch (InterruptedException e) {
                // close() wakes us; the loop's condition decides.
            }
        }
    }

    private List<Waiting> gather() throws InterruptedException {
        var batch = new ArrayList<Waiting>();
        Waiting next = open ? queue.take() : queue.poll();
        int size = 0;
        while (next != null) {
            if (next.taken().compareAndSet(false, true)) {
                batch.add(next);
                size += next.delivery().size();
            }
            next = size < maxBatch ? queue.poll() : null;
        }
        return batch;
    }

    private void commit(List<Waiting> batch) {
        try {
            List<Outcome> outcomes = post(batch.stream().map(Waiting::delivery).toList());
            for (int i = 0; i < batch.size(); i++) {
                batch.get(i).answer().complete(outcomes.get(i));
            }
            recovered();
        } catch (DataIntegrityViolationException e) {
            alone(batch, e);
        } catch (DataAccessException | TransactionException e) {
            failed(e);
            batch.forEach(it -> it.answer().complete(new Unavailable("the database is away")));
        } catch (RuntimeException | Error e) {
            log.atError().setCause(e).log("usage reports could not be written");
            batch.forEach(it -> it.answer().complete(new Unavailable("the timekeeper failed")));
        }
    }

    /** One report that the database will not take must not hold up the others. */
    private void alone(List<Waiting> batch, DataIntegrityViolationException e) {
        if (batch.size() == 1) {
            log.atError().setCause(e).log("usage report does not fit the schema");
            batch.getFirst().answer().complete(new Unavailable("the database refused the report"));
        } else {
            batch.forEach(waiting -> commit(List.of(waiting)));
        }
    }

    private List<Outcome> post(List<Delivery> batch) {
        for (int attempt = 1; ; attempt++) {
            try {
                return reports.apply(batch);
            } catch (ConcurrencyFailureException e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private void failed(RuntimeException e) {
        if (!failing) {
            log.atWarn().addKeyValue("problem", e.getMessage()).log("usage reports are not taken");
        }
        failing = true;
    }

    private void recovered() {
        if (failing) {
            log.atInfo().log("usage reports are taken again");
        }
        failing = false;
    }
}
