package io.gpusharing.webhook.admission;

import io.gpusharing.request.PodRequest;
import io.gpusharing.request.RequestGrammars;
import io.gpusharing.request.Verdict.Illegal;
import io.gpusharing.request.Verdict.Legal;
import io.gpusharing.request.Verdict.LegalUntilBound;
import io.gpusharing.request.Verdict.NotOurs;
import io.gpusharing.webhook.admission.Decision.Allowed;
import io.gpusharing.webhook.admission.Decision.Untouched;
import io.gpusharing.webhook.review.MalformedReviewException;
import io.gpusharing.webhook.review.PodReader;
import io.gpusharing.webhook.review.Review;
import io.gpusharing.webhook.review.Slice;
import io.gpusharing.webhook.review.Templates;
import io.gpusharing.webhook.standing.NamespaceStanding;
import io.gpusharing.webhook.standing.Surroundings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Judges the templates that controllers make pods from, so that the answer comes where somebody
 * reads it and not on a pod that nobody sees. Nothing is changed here: the pods are completed when
 * they are made.
 */
final class TemplateAdmission {

    private static final JsonMapper MAPPER = JsonMapper.shared();
    private final RequestGrammars grammars;

    TemplateAdmission(RequestGrammars grammars) {
        this.grammars = grammars;
    }

    /** The decision about one review; an update is judged only where the template changed. */
    Decision decide(Review review, Surroundings surroundings) {
        String path = Templates.path(review.group(), review.kind()).orElse("");
        if (path.isEmpty() || !review.subresource().isEmpty() || review.object().isEmpty()) {
            return new Untouched();
        }
        JsonNode object = tree(review.object());
        JsonNode template = object.at(path);
        if (!template.isObject()
                || isBeingDeleted(object)
                || hasController(object)
                || template.equals(tree(review.oldObject()).at(path))) {
            return new Untouched();
        }
        PodRequest asked =
                PodReader.readTemplate(
                                template.traverse(ObjectReadContext.empty()), grammars::reads)
                        .request();
        var completion = Completion.of(asked, grammars);
        return switch (grammars.judge(completion.request())) {
            case NotOurs notOurs -> new Untouched();
            case Illegal illegal -> Refusals.of(illegal);
            case Legal legal -> allowed(review, completion, surroundings);
            case LegalUntilBound legal -> allowed(review, completion, surroundings);
        };
    }

    private Decision allowed(Review review, Completion completion, Surroundings surroundings) {
        PodRequest request = completion.request();
        var warnings = new ArrayList<>(completion.warnings());
        warnings.addAll(
                grammars.grammarOf(request).orElseThrow().warnings(request, surroundings.nodes()));
        NamespaceStanding standing =
                surroundings.budgets().standingOf(review.namespace(), surroundings.now());
        if (standing.refuses()) {
            warnings.add(
                    "budget %s is used up: its pods are refused now".formatted(standing.budget()));
        } else if (standing.lowersPriority()) {
            warnings.add(
                    "budget %s is used up: its pods run at low priority now"
                            .formatted(standing.budget()));
        }
        return new Allowed(null, List.copyOf(warnings), Map.of());
    }

    private static boolean isBeingDeleted(JsonNode object) {
        return object.at("/metadata/deletionTimestamp").isString();
    }

    /** What a Deployment was told need not be repeated by its ReplicaSets. */
    private static boolean hasController(JsonNode object) {
        return object.at("/metadata/ownerReferences")
                .valueStream()
                .anyMatch(owner -> owner.path("controller").asBoolean(false));
    }

    private static JsonNode tree(Slice slice) {
        if (slice.isEmpty()) {
            return MAPPER.missingNode();
        }
        try {
            return MAPPER.readTree(slice.document(), slice.from(), slice.length());
        } catch (JacksonException e) {
            throw new MalformedReviewException("The object is not JSON: " + e.getOriginalMessage());
        }
    }
}
