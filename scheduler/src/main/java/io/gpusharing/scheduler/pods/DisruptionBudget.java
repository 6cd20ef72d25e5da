package io.gpusharing.scheduler.pods;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.gpusharing.kubernetes.LabelMatch;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A PodDisruptionBudget, of which little is kept however much it says.
 *
 * @param name with its namespace, as {@code namespace/name}
 * @param selector the pods of its namespace that it guards; null for none
 * @param allowed how many of those may go now
 * @param disrupted the names of those whose going has been counted already
 */
public record DisruptionBudget(
        String name, @Nullable LabelSelector selector, int allowed, Set<String> disrupted) {

    public DisruptionBudget {
        disrupted = Set.copyOf(disrupted);
    }

    static DisruptionBudget of(PodDisruptionBudget budget) {
        // One without a spec is stored, and selects nothing.
        LabelSelector selector = budget.getSpec() == null ? null : budget.getSpec().getSelector();
        var status = budget.getStatus();
        return status == null
                ? new DisruptionBudget(name(budget), selector, 0, Set.of())
                : new DisruptionBudget(
                        name(budget),
                        selector,
                        requireNonNullElse(status.getDisruptionsAllowed(), 0),
                        requireNonNullElse(status.getDisruptedPods(), Map.<String, String>of())
                                .keySet());
    }

    /**
     * What one that cannot be read counts for: it guards its whole namespace, and lets nobody go.
     */
    static DisruptionBudget unreadable(PodDisruptionBudget budget) {
        return new DisruptionBudget(name(budget), new LabelSelector(), 0, Set.of());
    }

    private static String name(PodDisruptionBudget budget) {
        return budget.getMetadata().getNamespace() + "/" + budget.getMetadata().getName();
    }

    /** Whether it guards a pod of its namespace with these labels. */
    boolean guards(Map<String, String> labels) {
        return LabelMatch.matches(selector, labels);
    }

    /** Whether such a pod's going would be counted against it. */
    public boolean counts(String pod, Map<String, String> labels) {
        return !disrupted.contains(pod) && guards(labels);
    }
}
