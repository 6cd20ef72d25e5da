package io.gpusharing.request;

import java.util.Map;
import java.util.OptionalLong;

/**
 * What is known of a node's GPUs.
 *
 * @param capacity the node's {@code status.capacity}, by resource name
 * @param labels the node's labels; NVIDIA's gpu-feature-discovery describes the GPUs here
 * @param annotations the node's annotations; HAMi describes the GPUs here
 */
public record NodeFacts(
        Map<String, Quantity> capacity,
        Map<String, String> labels,
        Map<String, String> annotations) {

    /**
     * Where HAMi's device plugin describes a node's GPUs: the one annotation of nodes that counts.
     */
    public static final String HAMI_REGISTER = "hami.io/node-nvidia-register";

    /** Nothing is known. */
    public static final NodeFacts UNKNOWN = new NodeFacts(Map.of(), Map.of(), Map.of());

    public NodeFacts {
        capacity = Map.copyOf(capacity);
        labels = Map.copyOf(labels);
        String register = annotations.get(HAMI_REGISTER);
        annotations = register == null ? Map.of() : Map.of(HAMI_REGISTER, register);
    }

    /** A node without annotations of interest. */
    public NodeFacts(Map<String, Quantity> capacity, Map<String, String> labels) {
        this(capacity, labels, Map.of());
    }

    /** Units of a resource that the node has, or empty if none or not a positive whole number. */
    public OptionalLong units(String resource) {
        Quantity amount = capacity.get(resource);
        OptionalLong units = amount == null ? OptionalLong.empty() : amount.wholeNumber();
        return units.isPresent() && units.getAsLong() > 0 ? units : OptionalLong.empty();
    }

    /** The number a label gives, or empty if there is none or no plain decimal one. */
    public OptionalLong number(String label) {
        return decimal(labels.getOrDefault(label, ""));
    }

    /** A plain decimal number of at most nine digits; anything else a node says is no number. */
    public static OptionalLong decimal(String text) {
        if (text.isEmpty() || text.length() > 9) {
            return OptionalLong.empty();
        }
        long number = 0;
        for (int i = 0; i < text.length(); i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return OptionalLong.empty();
            }
            number = number * 10 + digit;
        }
        return OptionalLong.of(number);
    }
}
