package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorRequirement;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Which labels a PodDisruptionBudget selects. */
public final class LabelMatch {

    /** Labels and values in one selector: several times as many as anybody needs. */
    private static final int MOST = 100;

    private LabelMatch() {}

    /**
     * The selector to keep for a selector of somebody else. One of more than a hundred labels and
     * values, which may be a megabyte and a half of them, becomes one that selects everything: a
     * PodDisruptionBudget then guards more pods than it says, and lets no more of them go.
     */
    public static @Nullable LabelSelector bounded(@Nullable LabelSelector selector) {
        return selector == null || size(selector) <= MOST ? selector : new LabelSelector();
    }

    private static int size(LabelSelector selector) {
        return Objects.requireNonNullElse(selector.getMatchLabels(), Map.of()).size()
                + Objects.requireNonNullElse(
                                selector.getMatchExpressions(), List.<LabelSelectorRequirement>of())
                        .stream()
                        .mapToInt(it ->
                                1 + Objects.requireNonNullElse(it.getValues(), List.of()).size())
                        .sum();
    }

    /**
     * Whether it selects an object with these labels. No selector selects nothing, an empty one
     * everything.
     */
    public static boolean matches(
            @Nullable LabelSelector selector, @Nullable Map<String, String> labels) {
        if (selector == null) {
            return false;
        }
        Map<String, String> given = Objects.requireNonNullElse(labels, Map.of());
        Map<String, String> wanted =
                Objects.requireNonNullElse(selector.getMatchLabels(), Map.of());
        return given.entrySet().containsAll(wanted.entrySet())
                && selector.getMatchExpressions().stream().allMatch(it -> holds(it, given));
    }

    private static boolean holds(LabelSelectorRequirement it, Map<String, String> labels) {
        String found = labels.get(it.getKey());
        return switch (it.getOperator()) {
            case "In" -> found != null && it.getValues().contains(found);
            case "NotIn" -> found == null || !it.getValues().contains(found);
            case "Exists" -> found != null;
            case "DoesNotExist" -> found == null;
            // What is not understood may guard the pod.
            case null, default -> true;
        };
    }
}
