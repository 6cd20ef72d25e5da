package io.gpusharing.timekeeper.audit;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.Unwatched;
import io.gpusharing.timekeeper.ledger.store.Estimates;
import io.gpusharing.timekeeper.ledger.store.Estimates.Estimate;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import io.gpusharing.timekeeper.ledger.store.UnwatchedSpans;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Whether the ledger and the cluster agree now. */
@RestController
class ReconcileController {

    private static final int MAX_ESTIMATES = 1_000;
    private static final Duration EVENT_TAKES = Duration.ofSeconds(2);

    private final ClusterView view;
    private final RequestGrammars grammars;
    private final Ledger ledger;
    private final Estimates estimates;
    private final UnwatchedSpans unwatched;
    private final Clock clock;

    ReconcileController(
            ClusterView view,
            RequestGrammars grammars,
            Ledger ledger,
            Estimates estimates,
            UnwatchedSpans unwatched,
            Clock clock) {
        this.view = view;
        this.grammars = grammars;
        this.ledger = ledger;
        this.estimates = estimates;
        this.unwatched = unwatched;
        this.clock = clock;
    }

    /**
     * What was found.
     *
     * @param sound whether cluster and ledger agree; neither estimates nor unwatched spans make it
     *     unsound
     * @param estimated ends that nobody saw, latest first, a thousand at most
     * @param unwatched spans in which nobody saw pods come and go, latest first, a thousand at most
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Report(
            Instant at,
            boolean sound,
            int podsInCluster,
            int openIntervals,
            @JsonUnwrapped Reconciliation differences,
            List<Estimate> estimated,
            List<Unwatched> unwatched) {}

    /** Compares the pods that the API server shows with the open intervals of the ledger. */
    @GetMapping("/api/v1/reconcile")
    Report reconcile() {
        if (!view.listed()) {
            throw new ResponseStatusException(
                    HttpStatus.SERVICE_UNAVAILABLE, "The API server has not listed the pods yet");
        }
        Report report = compare();
        if (!report.sound()) {
            // The latest events may still be on their way to the ledger; only what lasts is a
            // difference.
            LockSupport.parkNanos(EVENT_TAKES.toNanos());
            report = compare();
        }
        return report;
    }

    /** Not while a claim may yet become the pod's: none of it can run before. */
    private boolean isCharged(PodFacts pod) {
        return pod.claimed().complete() && pod.holdsGpus(grammars);
    }

    private Report compare() {
        List<PodAllocation> open =
                ledger.openAllocations().stream()
                        .filter(allocation -> !allocation.isShared())
                        .toList();
        var pods = view.pods();
        Instant now = clock.instant();
        Reconciliation found = Reconciliation.of(pods, open, this::isCharged, now);
        return new Report(
                now,
                found.sound(),
                pods.size(),
                open.size(),
                found,
                estimates.latest(MAX_ESTIMATES),
                unwatched.within(Instant.EPOCH, Instant.MAX));
    }
}
