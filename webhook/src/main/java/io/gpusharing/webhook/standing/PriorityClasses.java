package io.gpusharing.webhook.standing;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The cluster's priority classes.
 *
 * @param values value of each class, by name
 * @param globalDefault the class that the API server writes into pods without one; null if there is
 *     none
 */
public record PriorityClasses(Map<String, Integer> values, @Nullable String globalDefault) {

    /** None are known. */
    public static final PriorityClasses NONE = new PriorityClasses(Map.of(), null);

    public PriorityClasses {
        values = Map.copyOf(values);
    }
}
