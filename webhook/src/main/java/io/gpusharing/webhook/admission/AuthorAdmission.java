package io.gpusharing.webhook.admission;

import io.gpusharing.Names;
import io.gpusharing.webhook.cluster.Surroundings;
import io.gpusharing.webhook.decision.Decision;
import io.gpusharing.webhook.decision.Decision.Allowed;
import io.gpusharing.webhook.decision.Decision.Untouched;
import io.gpusharing.webhook.decision.ObjectPatch;
import io.gpusharing.webhook.review.MalformedReviewException;
import io.gpusharing.webhook.review.PodReader;
import io.gpusharing.webhook.review.Review;
import io.gpusharing.webhook.review.Slice;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes into a new {@code GpuGrant} or {@code GpuCorrection} who made it, as the API server knows
 * them: the ledger names an author for every minute on top and for every one that is charged
 * otherwise, and only here is it known. Warns of a grant that cannot count.
 */
final class AuthorAdmission {

    private static final JsonMapper MAPPER = JsonMapper.shared();

    /**
     * The decision about one review; all but what is new of the two kinds is none of its business.
     */
    Decision decide(Review review, Surroundings surroundings) {
        boolean ours = review.isGrant() || review.isCorrection();
        if (!ours || !review.operation().equals("CREATE")) {
            return new Untouched();
        }
        Slice object = review.object();
        try (JsonParser json =
                MAPPER.createParser(object.document(), object.from(), object.length())) {
            var patch = new ObjectPatch(PodReader.readMetadata(json));
            patch.annotate(Names.AUTHOR_ANNOTATION, review.userName());
            return new Allowed(
                    patch,
                    review.isGrant() ? warnings(object, surroundings) : List.of(),
                    Map.of("author", review.userName()));
        } catch (JacksonException e) {
            throw new MalformedReviewException("The object is not JSON: " + e.getOriginalMessage());
        }
    }

    /** A grant may come before its budget, so neither is a reason to refuse it. */
    private static List<String> warnings(Slice object, Surroundings surroundings) {
        JsonNode spec =
                MAPPER.readTree(object.document(), object.from(), object.length()).path("spec");
        var warnings = new ArrayList<String>();
        String budget = spec.path("budget").asString("");
        if (!surroundings.budgets().has(budget)) {
            warnings.add(
                    "there is no GpuBudget %s: the grant adds nothing as long as there is none"
                            .formatted(budget));
        }
        String expiresAt = spec.path("expiresAt").asString("");
        if (hasPassed(expiresAt, surroundings.now())) {
            warnings.add(
                    "spec.expiresAt is %s, which has passed: the grant adds nothing"
                            .formatted(expiresAt));
        }
        return warnings;
    }

    private static boolean hasPassed(String instant, Instant now) {
        try {
            return !OffsetDateTime.parse(instant).toInstant().isAfter(now);
        } catch (DateTimeException e) {
            // Absent; or no instant, which the definition refuses.
            return false;
        }
    }
}
