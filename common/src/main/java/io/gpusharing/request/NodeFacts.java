package io.gpusharing.request;

import java.util.Map;
import java.util.OptionalLong;

/**
 * What is known of a node's GPUs.
 *
 * @param capacity the node's {@code status.capacity}, by resource name
 * @param labels the node's labels
 */
public record NodeFacts(Map<String, Quantity> capacity, Map<String, String> labels) {

    /** Nothing is known. */
    public static final NodeFacts UNKNOWN = new NodeFacts(Map.of(), Map.of());

    public NodeFacts {
        capacity = Map.copyOf(capacity);
        labels = Map.copyOf(labels);
    }

    /** Units of a resource that the node has, or empty if none or not a positive whole number. */
    public OptionalLong units(String resource) {
        Quantity amount = capacity.get(resource);
        OptionalLong units = amount == null ? OptionalLong.empty() : amount.wholeNumber();
        return units.isPresent() && units.getAsLong() > 0 ? units : OptionalLong.empty();
    }
}
