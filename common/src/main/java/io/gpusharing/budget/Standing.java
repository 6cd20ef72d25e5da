package io.gpusharing.budget;

import io.gpusharing.Names;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a budget's line says at an instant. */
public sealed interface Standing {

    /** The word that status, annotations and metrics carry. */
    default String word() {
        return getClass().getSimpleName();
    }

    /**
     * Whether a pod's budget was used up when it was admitted, as admission writes on the pod and
     * nobody else may.
     *
     * @param annotations of the pod; null if it has none
     */
    static boolean wasOver(@Nullable Map<String, String> annotations) {
        return annotations != null
                && OverBudget.class
                        .getSimpleName()
                        .equals(annotations.get(Names.STANDING_ANNOTATION));
    }

    /**
     * There is time left.
     *
     * @param remaining more than none
     * @param exhaustedAt when it ends at the present rate; null if it does not in this period
     */
    record InBudget(GpuTime remaining, @Nullable Instant exhaustedAt) implements Standing {}

    /**
     * All time is used.
     *
     * @param overrun how much more was used, possibly none
     */
    record OverBudget(GpuTime overrun) implements Standing {}

    /** No budget applies. */
    record Unlimited() implements Standing {}
}
