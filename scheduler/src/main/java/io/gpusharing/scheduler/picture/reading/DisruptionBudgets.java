package io.gpusharing.scheduler.picture.reading;

import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.toUnmodifiableSet;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.gpusharing.kubernetes.LabelMatch;
import io.gpusharing.kubernetes.ObjectInformer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The PodDisruptionBudgets, of which little is kept however much they say. One that cannot be read
 * guards its whole namespace, and lets nobody go.
 */
final class DisruptionBudgets implements ObjectInformer.Handler<PodDisruptionBudget> {

    /** By namespace, then by name. */
    private final Map<String, Map<String, Guard>> byNamespace = new ConcurrentHashMap<>();

    /**
     * @param name with its namespace
     * @param selector the pods of its namespace that it guards
     * @param allowed how many of them may go now
     */
    private record Guard(String name, @Nullable LabelSelector selector, int allowed) {}

    @Override
    public void onUpdate(PodDisruptionBudget budget) {
        try {
            put(budget, guard(budget));
        } catch (RuntimeException | StackOverflowError e) {
            put(budget, new Guard(name(budget), new LabelSelector(), 0));
            throw e;
        }
    }

    private void put(PodDisruptionBudget budget, Guard guard) {
        byNamespace
                .computeIfAbsent(
                        budget.getMetadata().getNamespace(), _ -> new ConcurrentHashMap<>())
                .put(budget.getMetadata().getName(), guard);
    }

    @Override
    public void onDelete(PodDisruptionBudget budget) {
        byNamespace.computeIfPresent(
                budget.getMetadata().getNamespace(),
                (_, guards) -> {
                    guards.remove(budget.getMetadata().getName());
                    return guards.isEmpty() ? null : guards;
                });
    }

    private static Guard guard(PodDisruptionBudget budget) {
        // One without a spec is stored, and selects nothing.
        LabelSelector selector = budget.getSpec() == null ? null : budget.getSpec().getSelector();
        Integer allowed =
                budget.getStatus() == null ? null : budget.getStatus().getDisruptionsAllowed();
        return new Guard(
                name(budget), LabelMatch.bounded(selector), requireNonNullElse(allowed, 0));
    }

    private static String name(PodDisruptionBudget budget) {
        return budget.getMetadata().getNamespace() + "/" + budget.getMetadata().getName();
    }

    /** How many pods each lets go now, by {@code namespace/name}. */
    Map<String, Integer> allowed() {
        Map<String, Integer> allowed = new HashMap<>();
        byNamespace.values().stream()
                .flatMap(guards -> guards.values().stream())
                .forEach(guard -> allowed.put(guard.name(), guard.allowed()));
        return allowed;
    }

    /** Names of those that guard a pod of this namespace with these labels. */
    Set<String> guarding(String namespace, Map<String, String> labels) {
        return byNamespace.getOrDefault(namespace, Map.of()).values().stream()
                .filter(guard -> LabelMatch.matches(guard.selector(), labels))
                .map(Guard::name)
                .collect(toUnmodifiableSet());
    }
}
