package io.gpusharing.webhook.budget;

import io.gpusharing.Names;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.webhook.cluster.Surroundings;
import io.gpusharing.webhook.decision.Decision;
import io.gpusharing.webhook.decision.Decision.Allowed;
import io.gpusharing.webhook.decision.Decision.Refused;
import io.gpusharing.webhook.decision.Decision.Untouched;
import io.gpusharing.webhook.decision.Finding;
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
 * otherwise, and only here is it known. Warns of a grant that does not count.
 */
public final class AuthorAdmission {

    private static final JsonMapper MAPPER = JsonMapper.shared();

    /**
     * The decision about one review; all but what is new of the two kinds is none of its business.
     */
    public Decision decide(Review review, Surroundings surroundings) {
        boolean ours = review.isGrant() || review.isCorrection();
        if (!ours || !review.operation().equals("CREATE")) {
            return new Untouched();
        }
        Slice object = review.object();
        try (JsonParser json =
                MAPPER.createParser(object.document(), object.from(), object.length())) {
            var patch = new ObjectPatch(PodReader.readMetadata(json));
            patch.annotate(Names.AUTHOR_ANNOTATION, review.userName());
            var allowed = new Allowed(patch, List.of(), Map.of("author", review.userName()));
            return review.isGrant() ? judged(object, surroundings, allowed) : allowed;
        } catch (JacksonException e) {
            throw new MalformedReviewException("The object is not JSON: " + e.getOriginalMessage());
        }
    }

    private static Decision judged(Slice object, Surroundings surroundings, Allowed allowed) {
        JsonNode grant = MAPPER.readTree(object.document(), object.from(), object.length());
        List<Finding> findings = UnquotedMinutes.in(grant, "spec.gpuMinutes");
        return findings.isEmpty()
                ? new Allowed(allowed.patch(), warnings(grant, surroundings), allowed.audit())
                : new Refused(Refused.INVALID, findings);
    }

    /**
     * A grant may come before its budget or its limit, and one that has expired from a backup: none
     * of it is a reason to refuse it.
     */
    private static List<String> warnings(JsonNode grant, Surroundings surroundings) {
        var warnings =
                new ArrayList<>(warnings(grant.at("/spec/budget").asString(""), surroundings));
        String expiresAt = grant.at("/spec/expiresAt").asString("");
        if (hasPassed(expiresAt, surroundings.now())) {
            warnings.add(
                    "spec.expiresAt is %s, which has passed, so that nothing is granted; name an instant to come, or leave it out for the end of the period"
                            .formatted(expiresAt));
        }
        return warnings;
    }

    private static List<String> warnings(String budget, Surroundings surroundings) {
        return surroundings
                .budgets()
                .named(budget)
                .map(it ->
                        switch (it.standingWord(surroundings.now())) {
                            case PublishedBudget.MISSPELLED ->
                                    List.of(
                                            "the GpuBudget %s is misspelled and has no limit until that is mended"
                                                    .formatted(budget));
                            case PublishedBudget.INACTIVE ->
                                    List.of(
                                            "no namespace draws on the GpuBudget %s now"
                                                    .formatted(budget));
                            case "Unlimited" ->
                                    List.of(
                                            "the GpuBudget %s has no limit: the grant adds nothing as long as it has none"
                                                    .formatted(budget));
                            default -> List.<String>of();
                        })
                .orElseGet(() ->
                        List.of(
                                "there is no GpuBudget %s: the grant adds nothing as long as there is none"
                                        .formatted(budget)));
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
