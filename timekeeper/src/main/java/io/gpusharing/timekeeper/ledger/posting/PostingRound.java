package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.cluster.PodEvent;
import io.gpusharing.timekeeper.ledger.LedgerListener;
import io.gpusharing.timekeeper.ledger.LedgerProperties;
import io.gpusharing.timekeeper.ledger.RateSource;
import io.gpusharing.timekeeper.ledger.posting.LedgerInput.Pods;
import io.gpusharing.timekeeper.ledger.posting.LedgerInput.Task;
import io.gpusharing.timekeeper.ledger.posting.PodDevices.Devices;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * One round of posting: events are posted, tasks are done between two postings, and then what is
 * due is posted. A replica that does not lead only does the tasks and reads what the leader wrote.
 */
@Component
public class PostingRound {

    /** Corrections by people do not show in the cluster's state, so its rows are read anyway. */
    private static final Duration READ_ANEW = Duration.ofSeconds(30);

    private final Ledger ledger;
    private final RateSource rates;
    private final LedgerListener listener;
    private final Clock clock;
    private final OpenAllocations allocations;
    private final PodDevices devices;
    private final PodTracker pods;
    private final DuePostings due;
    private final Repricing repricing;

    /** Whether another replica keeps the ledger, and we only look at it. */
    private boolean following;

    /** Whether the budgets are known: before that, nobody seems to pay for anything. */
    private boolean initialized;

    /** Whether all open allocations are on the terms that hold now. */
    private boolean priced;

    /** Namespaces whose allocations may not be. */
    private final Set<String> repriced = new HashSet<>();

    private Instant readAnew = Instant.MIN;

    public PostingRound(
            Ledger ledger,
            RateSource rates,
            LedgerListener listener,
            ClusterView view,
            RequestGrammars grammars,
            ModelWeights weights,
            Settlement settlement,
            LedgerProperties properties,
            Clock clock) {
        this.ledger = ledger;
        this.rates = rates;
        this.listener = listener;
        this.clock = clock;
        this.allocations =
                new OpenAllocations(ledger, rates, listener, view, properties.postingSize());
        var claims = new SharedClaims(allocations);
        var vanished = new VanishedPods(allocations, claims, properties.resumeGrace());
        this.devices = new PodDevices(view, grammars, weights);
        this.pods = new PodTracker(allocations, claims, vanished, devices);
        this.due =
                new DuePostings(
                        allocations,
                        pods,
                        vanished,
                        ledger,
                        listener,
                        settlement,
                        properties,
                        clock);
        this.repricing = new Repricing(allocations, rates, settlement, view);
    }

    /** Whole seconds, as the API server counts: so that no charge is ever rounded. */
    public Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.SECONDS);
    }

    /** When time alone brings a posting; null if it does not. */
    @Nullable Instant nextDue() {
        return due.next();
    }

    /** Memory may be wrong: all of it is read again before the next posting. */
    public void forget() {
        allocations.forget();
    }

    /**
     * Posts events and does tasks, in their order, and then posts what is due. What is done is
     * taken out of the queue, so that after a failure the rest can be tried again.
     */
    public void post(Deque<LedgerInput> pending) {
        allocations.restore(now());
        // Before anything is posted: an edit that the database cut short holds since it was seen.
        reprice();
        while (!pending.isEmpty()) {
            if (pending.getFirst() instanceof Task(Runnable work)) {
                // What has ended by now ended by the rules that held until now.
                due.post(rates.unsettledSince());
                work.run();
                initialized = true;
                noteRepriced();
                pending.removeFirst();
            } else {
                List<PodEvent> batch =
                        pending.stream()
                                .takeWhile(Pods.class::isInstance)
                                .map(input -> ((Pods) input).event())
                                .toList();
                pods.handle(batch);
                batch.forEach(event -> pending.removeFirst());
            }
            reprice();
        }
        refine();
        due.post(rates.unsettledSince());
    }

    /** Once all are on the terms that hold now, and before what an estimate makes of it is due. */
    private void refine() {
        if (initialized && pods.listed()) {
            Map<UUID, Devices> found = devices.found(allocations::get);
            repricing.refine(found, now());
            devices.priced(found.keySet());
        }
    }

    /**
     * Terms may have changed by a task, or while nobody ran: the last leader may have died over an
     * edit. A rate may refer to what a node has, and nodes are known once the pods are.
     */
    private void reprice() {
        if (!initialized || !pods.listed()) {
            return;
        }
        if (!priced) {
            repricing.reprice(allocations.open(), now());
        } else if (!repriced.isEmpty()) {
            repricing.reprice(allocations.openIn(repriced), now());
        }
        priced = true;
        repriced.clear();
    }

    private void noteRepriced() {
        Set<String> namespaces = rates.repriced();
        if (namespaces == null) {
            priced = false;
        } else {
            repriced.addAll(namespaces);
        }
    }

    /** Does tasks, taking them out of the queue, and shows what the leader has written. */
    void follow(Deque<LedgerInput> tasks) {
        Ledger.State read = ledger.open(now());
        boolean asked = !tasks.isEmpty();
        initialized |= asked;
        while (!tasks.isEmpty()) {
            if (tasks.getFirst() instanceof Task(Runnable work)) {
                work.run();
            }
            tasks.removeFirst();
        }
        Instant now = clock.instant();
        if (asked || !following || !allocations.isOf(read) || !now.isBefore(readAnew)) {
            allocations.load(read);
            readAnew = now.plus(READ_ANEW);
        }
        following = true;
        listener.followed(now);
    }

    /**
     * Our term begins after somebody else's: what we know is old, and much is still to be reported.
     */
    void takeOver() {
        following = false;
        priced = false;
        allocations.forget();
        pods.takeOver();
        due.takeOver();
    }
}
