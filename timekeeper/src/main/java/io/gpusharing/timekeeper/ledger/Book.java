package io.gpusharing.timekeeper.ledger;

import io.gpusharing.request.RequestGrammars;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.ledger.News.Task;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * One round of bookkeeping: news is posted, tasks are done between two postings, and then what is
 * due is posted. A replica that does not lead only does the tasks and reads what the leader wrote.
 *
 * <p>Belongs to the bookkeeper's thread.
 */
@Component
class Book {

    /** Corrections by people do not show in the cluster's state, so its rows are read anyway. */
    private static final Duration READ_ANEW = Duration.ofSeconds(30);

    private final Ledger ledger;
    private final Tariffs tariffs;
    private final Clock clock;
    private final Stays stays;
    private final PodTracker pods;
    private final DuePostings due;
    private final Repricing repricing;

    /** Whether another replica keeps the ledger, and we only look at it. */
    private boolean looking;

    /** Whether the budgets are known: before that, nobody seems to pay for anything. */
    private boolean told;

    /** Whether all open stays are on the terms that hold now. */
    private boolean priced;

    private Instant readAnew = Instant.MIN;

    Book(
            Ledger ledger,
            Tariffs tariffs,
            ClusterView view,
            RequestGrammars grammars,
            ModelWeights weights,
            Settlement settlement,
            LedgerProperties properties,
            Clock clock) {
        this.ledger = ledger;
        this.tariffs = tariffs;
        this.clock = clock;
        this.stays = new Stays(ledger, tariffs);
        this.pods =
                new PodTracker(stays, ledger, view, grammars, weights, properties.resumeGrace());
        this.due = new DuePostings(stays, pods, ledger, tariffs, settlement, properties, clock);
        this.repricing = new Repricing(stays, tariffs, settlement, view);
    }

    /** Whole seconds, as the API server counts: so that no charge is ever rounded. */
    Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.SECONDS);
    }

    /** When time alone brings a posting; null if it does not. */
    @Nullable Instant nextDue() {
        return due.next();
    }

    /** Memory may be wrong: all of it is read again before the next posting. */
    void forget() {
        stays.forget();
    }

    /**
     * Posts news and does tasks, in their order, and then posts what is due. What is done is taken
     * out of the queue, so that after a failure the rest can be tried again.
     */
    void keep(Deque<News> pending) {
        stays.restore(now());
        // Before anything is posted: an edit that the database cut short holds since it was seen.
        reprice();
        while (!pending.isEmpty()) {
            if (pending.getFirst() instanceof Task(Runnable work)) {
                // What has ended by now ended by the rules that held until now.
                due.post();
                priced = false;
                work.run();
                told = true;
                pending.removeFirst();
                tariffs.restored(stays.open());
            } else {
                List<News> batch =
                        pending.stream().takeWhile(news -> !(news instanceof Task)).toList();
                pods.take(batch);
                batch.forEach(news -> pending.removeFirst());
            }
            reprice();
        }
        due.post();
    }

    /**
     * Terms may have changed by a task, or while nobody ran: the last leader may have died over an
     * edit. A rate may refer to what a node has, and nodes are known once the pods are.
     */
    private void reprice() {
        if (!priced && told && pods.listed()) {
            repricing.reprice(now());
            priced = true;
        }
    }

    /** Does tasks, taking them out of the queue, and shows what the leader has written. */
    void look(Deque<News> tasks) {
        Ledger.State read = ledger.open(now());
        boolean asked = !tasks.isEmpty();
        told |= asked;
        while (!tasks.isEmpty()) {
            if (tasks.getFirst() instanceof Task(Runnable work)) {
                work.run();
            }
            tasks.removeFirst();
        }
        Instant now = clock.instant();
        if (asked || !looking || !stays.isOf(read) || !now.isBefore(readAnew)) {
            stays.load(read);
            readAnew = now.plus(READ_ANEW);
        }
        looking = true;
        tariffs.looked(now);
    }

    /** Our term begins after somebody else's: what we know is old, and much is still to be told. */
    void takeOver() {
        looking = false;
        priced = false;
        stays.forget();
        pods.takeOver();
        due.takeOver();
    }
}
