package io.gpusharing.timekeeper.ledger.correction;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.timekeeper.ledger.LedgerListener;
import io.gpusharing.timekeeper.ledger.correction.Corrections.Written;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import io.gpusharing.timekeeper.web.RequestDigest;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Carries out what people order, once for each key, on the replica that leads. What cannot be
 * carried out is a {@link ResponseStatusException} with a sentence for the user.
 */
@Component
class CorrectionOrders implements CorrectionRequests.Carrier {

    private static final int PATIENCE_SECONDS = 10;

    private final Corrections corrections;
    private final AnsweredRequests answered;
    private final LedgerWriter writer;
    private final LedgerListener accounts;
    private final Leadership leadership;
    private final TransactionTemplate transaction;
    private final JsonMapper json;

    CorrectionOrders(
            Corrections corrections,
            AnsweredRequests answered,
            LedgerWriter writer,
            LedgerListener accounts,
            Leadership leadership,
            PlatformTransactionManager transactions,
            JsonMapper json) {
        this.corrections = corrections;
        this.answered = answered;
        this.writer = writer;
        this.accounts = accounts;
        this.leadership = leadership;
        this.transaction = new TransactionTemplate(transactions);
        this.json = json;
    }

    /**
     * Who orders a correction.
     *
     * @param key any text of the author's that names it; ordered again with the same content it is
     *     answered the same and changes nothing, with another content it is refused
     * @param known the pod's {@code ETag} as it was read: refused if it has been corrected since
     */
    record Signed(String author, String key, @Nullable String known) {}

    @Override
    public String carryOut(CorrectionOrder order, String reason, Signed by) {
        String digest =
                RequestDigest.of(
                        "correction",
                        order.budget(),
                        order.pod().toString(),
                        order.from().toString(),
                        order.to().toString(),
                        String.valueOf(order.rate()),
                        reason);
        return inTheLedgersThread(
                order.budget(),
                () ->
                        transaction.execute(status -> {
                            // Of two at once the second waits here for the first's commit.
                            corrections.hold(order.pod());
                            return answered.once(
                                    by.author(),
                                    by.key(),
                                    digest,
                                    () -> write(order, reason, by.author(), by.known()));
                        }));
    }

    private String write(
            CorrectionOrder order, String reason, String author, @Nullable String known) {
        Instant posted =
                corrections
                        .hold(order.pod())
                        .orElseThrow(() ->
                                new ResponseStatusException(
                                        HttpStatus.NOT_FOUND,
                                        "No pod " + order.pod() + " held a GPU"));
        String present = CorrectionController.tag(corrections.version(order.pod()));
        if (known != null && !known.equals("*") && !known.equals(present)) {
            throw new ResponseStatusException(
                    HttpStatus.PRECONDITION_FAILED,
                    "Pod %s has been corrected since you read it: its ETag is %s now, not %s"
                            .formatted(order.pod(), present, known));
        }
        if (order.to().isAfter(posted)) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    "What pod %s cost is posted until %s; correct up to there, and the rest when it is posted"
                            .formatted(order.pod(), posted));
        }
        List<Written> written = corrections.write(order, reason, author);
        if (written.isEmpty()) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    "Nothing to correct: on budget %s, pod %s was charged nothing else between %s and %s"
                            .formatted(order.budget(), order.pod(), order.from(), order.to()));
        }
        return json.writeValueAsString(written);
    }

    /** Who asks next is answered by the leader, and its accounts must know of the correction. */
    private void demandLeadership() {
        if (!leadership.leads()) {
            throw new ResponseStatusException(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "Another replica keeps the ledger and takes corrections: the holder of the lease gpusharing-timekeeper. Send it there, or again, with the same Idempotency-Key");
        }
    }

    /**
     * Works between two postings, so that the pod's end is not posted meanwhile. The account is
     * computed anew afterwards.
     */
    private <T> T inTheLedgersThread(String budget, Callable<T> work) {
        var done = new CompletableFuture<T>();
        writer.between(() -> {
            if (!done.isDone()) {
                try {
                    demandLeadership();
                    done.complete(work.call());
                } catch (Exception e) {
                    done.completeExceptionally(e);
                } finally {
                    // Also after a failure: it may have come after the commit.
                    accounts.corrected(budget);
                }
            }
        });
        try {
            return done.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        } catch (TimeoutException e) {
            // If it has begun meanwhile, the same key shows what became of it.
            done.cancel(false);
            throw new ResponseStatusException(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "The ledger is busy or its database away; sent again with the same idempotency key, it is answered what became of it",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
