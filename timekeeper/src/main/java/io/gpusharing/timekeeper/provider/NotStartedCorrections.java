package io.gpusharing.timekeeper.provider;

import static io.gpusharing.kubernetes.PodReader.storable;

import io.gpusharing.kubernetes.RefusedStart;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.correction.CorrectionOrder;
import io.gpusharing.timekeeper.ledger.correction.Corrections;
import io.gpusharing.timekeeper.ledger.correction.Corrections.Written;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Corrections of the time in which our device plugin did not let a pod start: to nothing, on the
 * account of every budget that paid for it. They stand beside the charges as those of people do,
 * and are ordered by their result, so that ordering one again changes nothing.
 *
 * <p>A pod that has run is given nothing back, nor is one that is charged by measured use: idle
 * time has its price there, and what was measured has been given back already.
 */
@Component
class NotStartedCorrections {

    private static final Logger log = LoggerFactory.getLogger(NotStartedCorrections.class);

    private static final String AUTHOR = "timekeeper";

    private final Corrections corrections;
    private final Ledger ledger;
    private final TransactionTemplate transaction;

    NotStartedCorrections(
            Corrections corrections, Ledger ledger, PlatformTransactionManager transactions) {
        this.corrections = corrections;
        this.ledger = ledger;
        this.transaction = new TransactionTemplate(transactions);
    }

    /**
     * What became of one that is done with.
     *
     * @param givenBack micro-GPU-seconds, now
     */
    record Answer(RefusedStart start, long givenBack) {}

    /**
     * Corrects what can be corrected by now.
     *
     * @param corrected told each budget whose account may have changed
     * @param done told those with which nothing remains to be done; the others wait for the end of
     *     their time, or for its charges
     * @throws RuntimeException if one of them failed, after all others had their turn
     */
    void correct(
            List<RefusedStart> starts,
            Consumer<String> corrected,
            Consumer<Answer> done,
            Instant now) {
        Map<UUID, PodAllocation> allocations =
                ledger
                        .allocations(starts.stream().map(RefusedStart::pod).distinct().toList())
                        .stream()
                        .collect(Collectors.toMap(PodAllocation::uid, Function.identity()));
        RuntimeException failure = null;
        for (RefusedStart start : starts) {
            PodAllocation allocation = allocations.get(start.pod());
            if (allocation == null) {
                continue;
            }
            try {
                correct(start, allocation, corrected, now).ifPresent(done);
            } catch (RuntimeException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private Optional<Answer> correct(
            RefusedStart start, PodAllocation allocation, Consumer<String> corrected, Instant now) {
        if (start.ran() || allocation.byUse() || !allocation.node().equals(start.node())) {
            return Optional.of(new Answer(start, 0));
        }
        return NotStartedTime.of(start, allocation, now)
                .filter(span -> !span.to().isAfter(allocation.postedUntil()))
                .map(span -> new Answer(start, giveBack(start, span, corrected)));
    }

    private long giveBack(RefusedStart start, NotStartedTime span, Consumer<String> corrected) {
        if (span.isEmpty()) {
            return 0;
        }
        List<String> payers = corrections.payers(start.pod(), span.from(), span.to());
        try {
            List<Written> written = transaction.execute(status -> write(start, span, payers));
            long amount = written.stream().mapToLong(Written::amount).sum();
            if (amount != 0) {
                log.atInfo()
                        .addKeyValue("pod", start.namespace() + "/" + start.name())
                        .addKeyValue("node", start.node())
                        .addKeyValue("from", span.from())
                        .addKeyValue("to", span.to())
                        .addKeyValue("amount", amount)
                        .log("gave back the time in which the device plugin did not let it start");
            }
            return -amount;
        } finally {
            // Also after a failure: it may have come after the commit.
            payers.forEach(corrected);
        }
    }

    private List<Written> write(RefusedStart start, NotStartedTime span, List<String> payers) {
        corrections.hold(start.pod());
        // What people have decided of this time stands.
        return corrections.isCorrectedByPeople(start.pod(), span.from(), span.to())
                ? List.of()
                : payers.stream()
                        .map(budget ->
                                new CorrectionOrder(start.pod(), budget, span.from(), span.to(), 0))
                        .flatMap(order ->
                                corrections
                                        .write(
                                                order,
                                                "NotStarted: the device plugin of %s did not let it start: %s"
                                                        .formatted(
                                                                start.node(),
                                                                storable(start.reason())),
                                                AUTHOR,
                                                null)
                                        .stream())
                        .toList();
    }
}
