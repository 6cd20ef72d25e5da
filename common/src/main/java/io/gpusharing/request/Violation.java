package io.gpusharing.request;

/**
 * One broken rule, with what would be legal instead.
 *
 * @param container name of the container
 * @param field where in the container, for instance {@code resources.limits}
 * @param resource the extended resource
 * @param found the amount as the user wrote it, or {@code not set}
 * @param rule the rule that is broken
 * @param legal what to write instead
 */
public record Violation(
        String container, String field, String resource, String found, Rule rule, String legal) {

    /** {@code container "cuda": resources.limits[tencent.com/vcuda-core] is 150: rule; use 200}. */
    public String message() {
        return "container \"%s\": %s[%s] is %s: %s; use %s"
                .formatted(container, field, resource, found, rule.text(), legal);
    }
}
