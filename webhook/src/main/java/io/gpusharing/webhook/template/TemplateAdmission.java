package io.gpusharing.webhook.template;

import io.gpusharing.request.Verdict.Illegal;
import io.gpusharing.request.Verdict.Legal;
import io.gpusharing.request.Verdict.LegalUntilBound;
import io.gpusharing.request.Verdict.NotOurs;
import io.gpusharing.request.Violation;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.webhook.cluster.NamespaceStanding;
import io.gpusharing.webhook.cluster.Surroundings;
import io.gpusharing.webhook.decision.Decision;
import io.gpusharing.webhook.decision.Decision.Allowed;
import io.gpusharing.webhook.decision.Decision.Refused;
import io.gpusharing.webhook.decision.Decision.Untouched;
import io.gpusharing.webhook.decision.Findings;
import io.gpusharing.webhook.pod.CompletedRequest;
import io.gpusharing.webhook.pod.LegalRequest;
import io.gpusharing.webhook.pod.RequestChecks;
import io.gpusharing.webhook.policy.MpsProperties;
import io.gpusharing.webhook.policy.PolicyProperties;
import io.gpusharing.webhook.policy.PriorityClassProperties;
import io.gpusharing.webhook.review.MalformedReviewException;
import io.gpusharing.webhook.review.PodReader;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.Review;
import io.gpusharing.webhook.review.Slice;
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
public final class TemplateAdmission {

    private static final JsonMapper MAPPER = JsonMapper.shared();

    /**
     * Of object and old object together, in bytes. An early answer is a courtesy, and not worth the
     * memory that the tree of a longer one takes.
     */
    private static final int MAX_BYTES = 1536 * 1024;

    private final RequestGrammars grammars;
    private final RequestChecks checks;
    private final PodTemplates templates;

    public TemplateAdmission(
            RequestGrammars grammars,
            PolicyProperties policy,
            MpsProperties mps,
            PriorityClassProperties classes,
            PodTemplates templates) {
        this.grammars = grammars;
        this.checks = new RequestChecks(policy, mps, classes);
        this.templates = templates;
    }

    /** The decision about one review; an update is judged only where a template changed. */
    public Decision decide(Review review, Surroundings surroundings) {
        if (!templates.knows(review.group(), review.kind())
                || !review.subresource().isEmpty()
                || review.object().isEmpty()) {
            return new Untouched();
        }
        if (review.object().length() + review.oldObject().length() > MAX_BYTES) {
            return new Allowed(
                    null,
                    List.of(
                            "too large to be validated early; its pods are validated when they are created"),
                    Map.of());
        }
        JsonNode object = tree(review.object());
        if (isBeingDeleted(object) || hasController(object)) {
            return new Untouched();
        }
        List<JsonNode> before = pods(review, tree(review.oldObject()));
        var violations = new ArrayList<Violation>();
        var legal = new ArrayList<LegalRequest>();
        for (JsonNode pod : pods(review, object)) {
            if (!before.contains(pod)) {
                judge(pod, violations, legal);
            }
        }
        if (!violations.isEmpty()) {
            return Refused.invalid(new Illegal(violations));
        }
        if (legal.isEmpty()) {
            return new Untouched();
        }
        var findings = new Findings();
        boolean unpaid = surroundings.unpaid(review.namespace());
        for (LegalRequest asked : legal) {
            checks.checkForged(
                    ForgedTemplateKeys.in(asked.pod(), asked.request().stamp(grammars::reads)),
                    findings);
            if (!unpaid || !asked.completion().isNvidiasAlone(grammars)) {
                checks.check(asked, surroundings, findings);
            }
        }
        return findings.refusals().isEmpty()
                ? allowed(review, findings, surroundings)
                : new Refused(Refused.FORBIDDEN, findings.refusals().stream().distinct().toList());
    }

    private List<JsonNode> pods(Review review, JsonNode object) {
        return templates.podsOf(review.group(), review.kind(), object);
    }

    private void judge(JsonNode pod, List<Violation> violations, List<LegalRequest> legal) {
        PodView view;
        try {
            view = PodReader.readTemplate(pod.traverse(ObjectReadContext.empty()), grammars::reads);
        } catch (MalformedReviewException e) {
            // What an operator fills in only when it makes the pod, as Argo's {{inputs…}}, cannot
            // be judged before; and whatever else a template has wrong, its pod will be refused
            // for.
            return;
        }
        var completion = CompletedRequest.of(view.request(), grammars);
        switch (grammars.judge(completion.request())) {
            case NotOurs _ -> {}
            case Illegal illegal -> violations.addAll(illegal.violations());
            case Legal it -> legal.add(LegalRequest.of(view, completion, it.share(), grammars));
            case LegalUntilBound it ->
                    legal.add(LegalRequest.of(view, completion, it.leastShare(), grammars));
        }
    }

    private Decision allowed(Review review, Findings findings, Surroundings surroundings) {
        NamespaceStanding standing =
                surroundings.budgets().standingOf(review.namespace(), surroundings.now());
        if (standing.refuses()) {
            findings.warn(
                    "budget %s is used up: its pods are refused now".formatted(standing.budget()));
        } else if (standing.lowersPriority()) {
            findings.warn(
                    "budget %s is used up: its pods run at low priority now"
                            .formatted(standing.budget()));
        }
        return new Allowed(null, List.copyOf(findings.warnings()), Map.of());
    }

    private static boolean isBeingDeleted(JsonNode object) {
        return object.at("/metadata/deletionTimestamp").isString();
    }

    /** What a Deployment was answered need not be repeated by its ReplicaSets. */
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
