package io.gpusharing.webhook.cluster;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The cluster's priority classes.
 *
 * @param values value of each class, by name
 * @param neverPreempting names of those with {@code preemptionPolicy: Never}
 * @param globalDefault the class that the API server writes into pods without one; null if there is
 *     none
 */
public record PriorityClasses(
        Map<String, Integer> values, Set<String> neverPreempting, @Nullable String globalDefault) {

    /** None are known. */
    public static final PriorityClasses NONE = new PriorityClasses(Map.of(), Set.of(), null);

    public PriorityClasses {
        values = Map.copyOf(values);
        neverPreempting = Set.copyOf(neverPreempting);
    }

    /** Whether a class is known to give its pods this number and this policy. */
    public boolean gives(
            String name, @Nullable Integer priority, @Nullable String preemptionPolicy) {
        Integer value = values.get(name);
        String policy = neverPreempting.contains(name) ? "Never" : "PreemptLowerPriority";
        return value != null && value.equals(priority) && policy.equals(preemptionPolicy);
    }
}
