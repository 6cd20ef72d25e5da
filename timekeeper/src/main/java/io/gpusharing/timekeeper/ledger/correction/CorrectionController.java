package io.gpusharing.timekeeper.ledger.correction;

import io.gpusharing.timekeeper.ledger.correction.CorrectionOrders.Signed;
import io.gpusharing.timekeeper.ledger.correction.Corrections.Written;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.timekeeper.web.Page;
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
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** What people corrected, and why. */
@RestController
@RequestMapping("/api/v1/budgets/{budget}/corrections")
public class CorrectionController {

    private final Corrections corrections;
    private final Callers callers;
    private final CorrectionOrders orders;

    CorrectionController(Corrections corrections, Callers callers, CorrectionOrders orders) {
        this.corrections = corrections;
        this.callers = callers;
        this.orders = orders;
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
        String answer =
                orders.carryOut(
                        wanted(budget, order),
                        order.reason(),
                        new Signed(Callers.of(who).name(), key, known));
        return ResponseEntity.ok()
                .contentType(MediaType.APPLICATION_JSON)
                .eTag(tag(corrections.version(order.pod())))
                .body(answer);
    }

    private static CorrectionOrder wanted(String budget, Order order) {
        try {
            return new CorrectionOrder(order.pod(), budget, order.from(), order.to(), order.rate());
        } catch (IllegalArgumentException e) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT, String.valueOf(e.getMessage()), e);
        }
    }

    /** The tag of a pod that was corrected so often. */
    public static String tag(long corrections) {
        return "\"" + corrections + "\"";
    }
}
