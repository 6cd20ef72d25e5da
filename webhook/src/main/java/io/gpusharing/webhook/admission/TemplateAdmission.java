package io.gpusharing.webhook.admission;

import io.gpusharing.request.PodRequest;
import io.gpusharing.request.RequestGrammars;
import io.gpusharing.request.Verdict.Illegal;
import io.gpusharing.request.Verdict.Legal;
import io.gpusharing.request.Verdict.LegalUntilBound;
import io.gpusharing.request.Verdict.NotOurs;
import io.gpusharing.request.Violation;
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

    /**
     * Of object and old object together, in bytes. An early answer is a courtesy, and not worth the
     * memory that the tree of a longer one takes.
     */
    private static final int MAX_BYTES = 1536 * 1024;

    private final RequestGrammars grammars;
    private final Templates templates;

    TemplateAdmission(RequestGrammars grammars, Templates templates) {
        this.grammars = grammars;
        this.templates = templates;
    }

    /** The decision about one review; an update is judged only where a template changed. */
    Decision decide(Review review, Surroundings surroundings) {
        if (!templates.knows(review.group(), review.kind())
                || !review.subresource().isEmpty()
                || review.object().isEmpty()) {
            return new Untouched();
        }
        if (review.object().length() + review.oldObject().length() > MAX_BYTES) {
            return new Allowed(
                    null,
                    List.of("too large to be judged early; its pods will be, when they are made"),
                    Map.of());
        }
        JsonNode object = tree(review.object());
        if (isBeingDeleted(object) || hasController(object)) {
            return new Untouched();
        }
        List<JsonNode> before = pods(review, tree(review.oldObject()));
        var violations = new ArrayList<Violation>();
        var legal = new ArrayList<Completion>();
        for (JsonNode pod : pods(review, object)) {
            if (!before.contains(pod)) {
                judge(pod, violations, legal);
            }
        }
        if (!violations.isEmpty()) {
            return Refusals.of(new Illegal(violations));
        }
        return legal.isEmpty() ? new Untouched() : allowed(review, legal, surroundings);
    }

    private List<JsonNode> pods(Review review, JsonNode object) {
        return templates.podsOf(review.group(), review.kind(), object);
    }

    private void judge(JsonNode pod, List<Violation> violations, List<Completion> legal) {
        PodRequest asked;
        try {
            asked =
                    PodReader.readTemplate(pod.traverse(ObjectReadContext.empty()), grammars::reads)
                            .request();
        } catch (MalformedReviewException e) {
            // What an operator fills in only when it makes the pod, as Argo's {{inputs…}}, cannot
            // be
            // judged before; and whatever else a template has wrong, its pod will be refused for.
            return;
        }
        var completion = Completion.of(asked, grammars);
        switch (grammars.judge(completion.request())) {
            case NotOurs _ -> {}
            case Illegal illegal -> violations.addAll(illegal.violations());
            case Legal _ -> legal.add(completion);
            case LegalUntilBound _ -> legal.add(completion);
        }
    }

    private Decision allowed(Review review, List<Completion> legal, Surroundings surroundings) {
        var warnings = new ArrayList<String>();
        for (Completion completion : legal) {
            PodRequest request = completion.request();
            warnings.addAll(completion.warnings());
            warnings.addAll(
                    grammars.grammarOf(request)
                            .orElseThrow()
                            .warnings(request, surroundings.nodes()));
        }
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
