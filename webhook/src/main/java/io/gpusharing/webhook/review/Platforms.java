package io.gpusharing.webhook.review;

import java.util.List;
import java.util.Set;

/**
 * On which nodes a pod may run, as far as the platform of a node decides. The kubelet labels its
 * node with both.
 *
 * @param all what every node has to have
 * @param anyOf what a node has to have besides, each of them enough; empty if nothing
 */
public record Platforms(List<Requirement> all, List<List<Requirement>> anyOf) {

    /** Label with a node's operating system, for instance {@code linux}. */
    public static final String OS = "kubernetes.io/os";

    /** Label with a node's architecture, for instance {@code amd64}. */
    public static final String ARCHITECTURE = "kubernetes.io/arch";

    /** Every node. */
    public static final Platforms ANY = new Platforms(List.of(), List.of());

    private static final String LINUX = "linux";

    /**
     * What a label of a node has to be, in the words of node affinity.
     *
     * @param label {@link #OS} or {@link #ARCHITECTURE}
     * @param operator for instance {@code In}
     * @param values what it compares with
     */
    public record Requirement(String label, String operator, Set<String> values) {

        private boolean permits(String ofLabel, String value) {
            return !label.equals(ofLabel)
                    || switch (operator) {
                        case "In" -> values.contains(value);
                        case "NotIn" -> !values.contains(value);
                        // Every node has both labels.
                        case "DoesNotExist" -> false;
                        default -> true;
                    };
        }
    }

    public Platforms {
        all = List.copyOf(all);
        anyOf = List.copyOf(anyOf);
    }

    /** Whether the pod may run on a node that runs Linux. */
    public boolean mayBeLinux() {
        return mayBe(OS, LINUX);
    }

    private boolean mayBe(String label, String value) {
        return all.stream().allMatch(it -> it.permits(label, value))
                && (anyOf.isEmpty()
                        || anyOf.stream()
                                .anyMatch(term ->
                                        term.stream().allMatch(it -> it.permits(label, value))));
    }
}
