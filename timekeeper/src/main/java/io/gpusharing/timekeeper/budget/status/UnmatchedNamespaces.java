package io.gpusharing.timekeeper.budget.status;

import java.util.ArrayList;
import java.util.List;

/**
 * Names in a budget's list that bring it nothing.
 *
 * @param missing there is no namespace of that name
 * @param excluded the webhook leaves the namespace's pods alone
 */
record UnmatchedNamespaces(List<String> missing, List<String> excluded) {

    /** So many are named. */
    private static final int MAX_NAMES = 10;

    boolean none() {
        return missing.isEmpty() && excluded.isEmpty();
    }

    /** Whether a name is one of them. */
    boolean names(String namespace) {
        return missing.contains(namespace) || excluded.contains(namespace);
    }

    /** A sentence for who wrote the list. */
    String message() {
        if (none()) {
            return "All namespaces of the list are there";
        }
        var parts = new ArrayList<String>();
        if (!missing.isEmpty()) {
            parts.add("There is no namespace " + some(missing));
        }
        if (!excluded.isEmpty()) {
            parts.add("GPUSharing leaves alone the pods of " + some(excluded));
        }
        return String.join("; ", parts);
    }

    private static String some(List<String> names) {
        String first = String.join(", ", names.subList(0, Math.min(MAX_NAMES, names.size())));
        return names.size() > MAX_NAMES
                ? first + " and %d more".formatted(names.size() - MAX_NAMES)
                : first;
    }
}
