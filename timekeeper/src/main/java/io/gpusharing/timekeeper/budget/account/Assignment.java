package io.gpusharing.timekeeper.budget.account;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which budget each namespace belongs to. Of several that name it, the oldest keeps it; of those
 * created in the same second, the first by name.
 *
 * @param owners budget by namespace
 * @param conflicts by budget, the namespaces that it names and another keeps
 */
public record Assignment(Map<String, Budget> owners, Map<String, List<Conflict>> conflicts) {

    public static final Assignment NONE = new Assignment(Map.of(), Map.of());

    /** A namespace that another budget keeps. */
    public record Conflict(String namespace, String keeper) {}

    public static Assignment of(Collection<Budget> budgets) {
        var owners = new HashMap<String, Budget>();
        var conflicts = new HashMap<String, List<Conflict>>();
        budgets.stream()
                .sorted(Budget.SENIORITY)
                .forEach(budget -> {
                    for (String namespace : budget.spec().namespaces()) {
                        Budget keeper = owners.putIfAbsent(namespace, budget);
                        if (keeper != null && !keeper.name().equals(budget.name())) {
                            conflicts
                                    .computeIfAbsent(budget.name(), name -> new ArrayList<>())
                                    .add(new Conflict(namespace, keeper.name()));
                        }
                    }
                });
        return new Assignment(Map.copyOf(owners), Map.copyOf(conflicts));
    }
}
