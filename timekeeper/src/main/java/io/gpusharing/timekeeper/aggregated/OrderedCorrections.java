package io.gpusharing.timekeeper.aggregated;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.timekeeper.ledger.correction.CorrectionController;
import io.gpusharing.timekeeper.ledger.correction.CorrectionOrder;
import io.gpusharing.timekeeper.ledger.correction.CorrectionRequests;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.timekeeper.web.QuestionBodies;
import io.swagger.v3.oas.annotations.Hidden;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.Authentication;
import org.springframework.util.unit.DataSize;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code kubectl create -f correction.yaml -o yaml}: what a pod's span should have cost. It becomes
 * entries of the ledger, and is no object afterwards.
 */
@Hidden
@RestController
@RequestMapping(Discovery.PATH + "/corrections")
class OrderedCorrections {

    private static final DataSize LARGEST = DataSize.ofKilobytes(16);
    private static final int AT_ONCE = 2;
    private static final int LONGEST_REASON = 1024;
    private static final int LONGEST_KEY = 255;
    private static final int LONGEST_NAME = 253;

    /** Of their own, so that no tenant keeps an administrator waiting. */
    private final QuestionBodies bodies;

    private final CorrectionRequests requests;
    private final JsonMapper json;

    OrderedCorrections(CorrectionRequests requests, JsonMapper json, Clock clock) {
        this.bodies = new QuestionBodies("correction", LARGEST, AT_ONCE, clock);
        this.requests = requests;
        this.json = json;
    }

    /**
     * What is ordered.
     *
     * @param pod uid
     * @param from a whole second
     * @param to a whole second, not after what is posted of the pod
     * @param rate micro-GPUs that the span should have been charged; 0 gives all of it back
     * @param reason for whoever reads the ledger later
     * @param idempotencyKey names the order: given again it changes nothing, and is answered the
     *     same
     * @param ifMatch refused unless the pod was corrected just so often; null for whichever
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Spec(
            @Nullable String budget,
            @Nullable UUID pod,
            @Nullable Instant from,
            @Nullable Instant to,
            @Nullable Long rate,
            @Nullable String reason,
            @Nullable String idempotencyKey,
            @Nullable Long ifMatch) {

        private CorrectionOrder order() {
            try {
                return new CorrectionOrder(
                        required("pod", pod),
                        text("budget", required("budget", budget), LONGEST_NAME),
                        required("from", from),
                        required("to", to),
                        required("rate", rate));
            } catch (IllegalArgumentException e) {
                throw illegal(String.valueOf(e.getMessage()));
            }
        }

        private String key() {
            return idempotencyKey == null
                    ? UUID.randomUUID().toString()
                    : text("idempotencyKey", idempotencyKey, LONGEST_KEY);
        }

        private String why() {
            return text("reason", required("reason", reason), LONGEST_REASON);
        }

        /** No database text holds the character 0. */
        private static String text(String field, String value, int longest) {
            if (value.isBlank() || value.length() > longest || value.indexOf('\0') >= 0) {
                throw illegal("spec.%s has 1 to %d characters".formatted(field, longest));
            }
            return value;
        }

        private static <T> T required(String field, @Nullable T value) {
            if (value == null) {
                throw illegal(
                        "spec.%s is missing; a correction has budget, pod, from, to, rate and reason"
                                .formatted(field));
            }
            return value;
        }
    }

    /** What was written: the difference to what was charged. */
    record Result(JsonNode entries) {}

    /** Corrects. */
    @PostMapping
    ResponseEntity<Object> create(
            @RequestParam(defaultValue = "") String dryRun,
            Authentication who,
            HttpServletRequest request)
            throws IOException {
        if (!dryRun.isEmpty()) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST,
                    "A correction cannot be tried: what is written stays; leave dryRun out");
        }
        Asked<Spec> asked = bodies.read(request, body -> Asked.read(body, Spec.class, request));
        Spec spec = Spec.required("budget", asked.spec());
        String answer =
                requests.carryOut(
                        spec.order(),
                        spec.why(),
                        Callers.of(who).name(),
                        spec.key(),
                        spec.ifMatch() == null ? null : CorrectionController.tag(spec.ifMatch()));
        return asked.answered("Correction", spec, new Result(json.readTree(answer)));
    }

    private static ResponseStatusException illegal(String problem) {
        return new ResponseStatusException(HttpStatus.UNPROCESSABLE_CONTENT, problem);
    }
}
