package io.gpusharing.webhook.budget;

import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.InvalidSpec;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.webhook.cluster.PublishedBudgets;
import io.gpusharing.webhook.cluster.Surroundings;
import io.gpusharing.webhook.decision.Decision;
import io.gpusharing.webhook.decision.Decision.Allowed;
import io.gpusharing.webhook.decision.Decision.Refused;
import io.gpusharing.webhook.decision.Decision.Untouched;
import io.gpusharing.webhook.decision.Finding;
import io.gpusharing.webhook.review.MalformedReviewException;
import io.gpusharing.webhook.review.Review;
import io.gpusharing.webhook.review.Slice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Judges a new or changed {@code GpuBudget}. What makes no sense whatever else there is, is
 * refused. What depends on other objects, which may come later, is a warning.
 */
public final class BudgetAdmission {

    private static final JsonMapper MAPPER = JsonMapper.shared();

    private final Set<String> excluded;
    private final Predicate<String> missing;

    /**
     * @param excluded namespaces whose pods are left alone, our own among them
     * @param missing whether a namespace is known not to be there
     */
    public BudgetAdmission(Set<String> excluded, Predicate<String> missing) {
        this.excluded = Set.copyOf(excluded);
        this.missing = missing;
    }

    /** The decision about one review of a budget. */
    public Decision decide(Review review, Surroundings surroundings) {
        Slice slice = review.object();
        if (slice.isEmpty()) {
            return new Untouched();
        }
        JsonNode object;
        try {
            object = MAPPER.readTree(slice.document(), slice.from(), slice.length());
        } catch (JacksonException e) {
            throw new MalformedReviewException("The object is not JSON: " + e.getOriginalMessage());
        }
        Optional<GpuBudgetSpec> spec = spec(object);
        var findings =
                new ArrayList<>(
                        UnquotedMinutes.in(
                                object, "spec.gpuMinutes", "spec.rollover.maxGpuMinutes"));
        spec.map(InvalidSpec::all).orElse(List.of()).stream()
                .map(it -> new Finding("MISSPELLED", it.message()))
                .forEach(findings::add);
        if (!findings.isEmpty()) {
            return new Refused(Refused.INVALID, findings);
        }
        return spec.<Decision>map(it ->
                        new Allowed(
                                null,
                                warnings(review.name(), it, surroundings.budgets()),
                                Map.of()))
                .orElseGet(Untouched::new);
    }

    /**
     * Empty where a field has the wrong type, or a word that there is none of: the definition says
     * so.
     */
    private static Optional<GpuBudgetSpec> spec(JsonNode object) {
        try {
            return object.path("spec").isObject()
                    ? Optional.of(MAPPER.treeToValue(object.path("spec"), GpuBudgetSpec.class))
                    : Optional.empty();
        } catch (JacksonException _) {
            return Optional.empty();
        }
    }

    private List<String> warnings(String name, GpuBudgetSpec spec, PublishedBudgets budgets) {
        var warnings = new ArrayList<String>();
        boolean drawnOn = false;
        for (String namespace : spec.namespaces()) {
            Optional<PublishedBudget> other =
                    budgets.naming(namespace).filter(it -> !it.name().equals(name));
            boolean older = other.filter(it -> isOlder(it, budgets.named(name))).isPresent();
            boolean left = excluded.contains(namespace);
            boolean unknown = !left && missing.test(namespace);
            drawnOn |= !older && !left && !unknown;
            if (left) {
                warnings.add(
                        "GPUSharing leaves the pods of %s alone, so they draw on no budget"
                                .formatted(namespace));
            } else if (unknown) {
                warnings.add(
                        "there is no namespace %s yet; is it misspelled?".formatted(namespace));
            }
            if (older) {
                warnings.add(
                        "%s draws on the older budget %s, so this one changes nothing for it"
                                .formatted(namespace, other.orElseThrow().name()));
            } else if (other.isPresent()) {
                warnings.add(
                        "this budget takes %s from the budget %s, which is newer"
                                .formatted(namespace, other.orElseThrow().name()));
            }
        }
        if (!drawnOn) {
            warnings.addFirst(
                    "no namespace of spec.namespaces draws on this budget now: it is Inactive");
        }
        return warnings;
    }

    /** One that is being created is the newest. */
    private static boolean isOlder(PublishedBudget other, Optional<PublishedBudget> known) {
        return known.map(it -> PublishedBudget.OLDER_FIRST.compare(other, it) < 0).orElse(true);
    }
}
