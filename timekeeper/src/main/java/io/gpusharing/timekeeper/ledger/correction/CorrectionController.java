package io.gpusharing.timekeeper.ledger.correction;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.timekeeper.ledger.LedgerListener;
import io.gpusharing.timekeeper.ledger.correction.Corrections.Written;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.timekeeper.web.Page;
import io.gpusharing.timekeeper.web.RequestDigest;
import io.gpusharing.web.Caller;
import io.swagger.v3.oas.annotations.media.ArraySchema;
import io.swagger.v3.oas.annotations.media.Content;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.Authentication;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.databind.json.JsonMapper;

/** What people corrected, and why. */
@RestController
@RequestMapping("/api/v1/budgets/{budget}/corrections")
public class CorrectionController {

    private static final int PATIENCE_SECONDS = 10;

    private final Corrections corrections;
    private final Callers callers;
    private final AnsweredRequests answered;
    private final LedgerWriter writer;
    private final LedgerListener accounts;
    private final Leadership leadership;
    private final TransactionTemplate transaction;
    private final JsonMapper json;

    CorrectionController(
            Corrections corrections,
            Callers callers,
            AnsweredRequests answered,
            LedgerWriter writer,
            LedgerListener accounts,
            Leadership leadership,
            PlatformTransactionManager transactions,
            JsonMapper json) {
        this.corrections = corrections;
        this.callers = callers;
        this.answered = answered;
        this.writer = writer;
        this.accounts = accounts;
        this.leadership = leadership;
        this.transaction = new TransactionTemplate(transactions);
        this.json = json;
    }

    /**
     * What a pod's span should have cost.
     *
     * @param pod uid
     * @param from a whole second
     * @param to a whole second, not after what is posted of the pod
     * @param rate micro-GPUs that the span should have been charged; 0 gives all of it back
     * @param reason for whoever reads the ledger later
     */
    record Order(
            @NotNull UUID pod,
            @NotNull Instant from,
            @NotNull Instant to,
            @NotNull Long rate,
            @NotBlank @Size(max = 1024) String reason) {}

    /**
     * A budget's corrections, latest first. Pods of namespaces where who asks may not get pods have
     * no uid.
     */
    @GetMapping
    ResponseEntity<List<Written>> all(
            @PathVariable String budget,
            @RequestParam(defaultValue = "1000") int limit,
            @RequestParam(required = false) @Nullable UUID after,
            Authentication who) {
        List<Written> page = corrections.of(budget, after, Page.size(limit));
        Set<String> shown =
                callers.podsShown(Callers.of(who), page.stream().map(Written::namespace).toList());
        return Page.of(
                page.stream()
                        .map(it -> shown.contains(it.namespace()) ? it : it.withoutPod())
                        .toList(),
                limit,
                correction -> correction.id().toString());
    }

    /**
     * Corrects what a pod was charged. Its author is whoever asks.
     *
     * @param key any text of the asker's that names this correction; sent again with the same
     *     content it is answered the same and changes nothing, with another content it is refused
     * @param known the pod's {@code ETag} as it was read: refused if it has been corrected since
     */
    @PostMapping
    @ApiResponse(
            responseCode = "200",
            content =
                    @Content(
                            array = @ArraySchema(schema = @Schema(implementation = Written.class))))
    ResponseEntity<String> correct(
            @PathVariable String budget,
            @RequestHeader("Idempotency-Key") String key,
            @RequestHeader(name = HttpHeaders.IF_MATCH, required = false) @Nullable String known,
            @Valid @RequestBody Order order,
            Authentication who) {
        Caller caller = Callers.of(who);
        CorrectionOrder wanted = wanted(budget, order);
        String digest = RequestDigest.of("correction", budget, json.writeValueAsString(order));
        String answer =
                inTheLedgersThread(
                        budget,
                        () ->
                                transaction.execute(status -> {
                                    // Of two at once the second waits here for the first's commit.
                                    corrections.hold(order.pod());
                                    return answered.once(
                                            caller,
                                            key,
                                            digest,
                                            () -> write(wanted, order.reason(), caller, known));
                                }));
        return ResponseEntity.ok()
                .contentType(MediaType.APPLICATION_JSON)
                .eTag(tag(corrections.version(order.pod())))
                .body(answer);
    }

    private String write(
            CorrectionOrder order, String reason, Caller caller, @Nullable String known) {
        Instant posted =
                corrections
                        .hold(order.pod())
                        .orElseThrow(() ->
                                new ResponseStatusException(
                                        HttpStatus.NOT_FOUND,
                                        "No pod " + order.pod() + " held a GPU"));
        String present = tag(corrections.version(order.pod()));
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
        List<Written> written = corrections.write(order, reason, caller.name());
        if (written.isEmpty()) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    "Nothing to correct: on budget %s, pod %s was charged nothing else between %s and %s"
                            .formatted(order.budget(), order.pod(), order.from(), order.to()));
        }
        return json.writeValueAsString(written);
    }

    private static CorrectionOrder wanted(String budget, Order order) {
        try {
            return new CorrectionOrder(order.pod(), budget, order.from(), order.to(), order.rate());
        } catch (IllegalArgumentException e) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT, String.valueOf(e.getMessage()), e);
        }
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
                    "The ledger is busy or its database away; send it again with the same Idempotency-Key",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The tag of a pod that was corrected so often. */
    public static String tag(long corrections) {
        return "\"" + corrections + "\"";
    }
}
