package io.gpusharing.scheduler.pods;

import static java.util.stream.Collectors.toUnmodifiableMap;
import static java.util.stream.Collectors.toUnmodifiableSet;

import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.gpusharing.kubernetes.ObjectInformer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/**
 * The PodDisruptionBudgets of all namespaces, as a watch shows them. One that cannot be read guards
 * its whole namespace, and lets nobody go. Safe for any thread.
 */
@Component
public final class DisruptionBudgets implements ObjectInformer.Handler<PodDisruptionBudget> {

    /** By namespace, then by name. */
    private final Map<String, Map<String, DisruptionBudget>> known = new ConcurrentHashMap<>();

    private volatile boolean listed;

    @Override
    public void onListed() {
        listed = true;
    }

    @Override
    public void onUpdate(PodDisruptionBudget budget) {
        try {
            put(budget, DisruptionBudget.of(budget));
        } catch (RuntimeException | StackOverflowError e) {
            put(budget, DisruptionBudget.unreadable(budget));
            throw e;
        }
    }

    private void put(PodDisruptionBudget budget, DisruptionBudget read) {
        known.computeIfAbsent(budget.getMetadata().getNamespace(), _ -> new ConcurrentHashMap<>())
                .put(budget.getMetadata().getName(), read);
    }

    @Override
    public void onDelete(PodDisruptionBudget budget) {
        known.computeIfPresent(
                budget.getMetadata().getNamespace(),
                (_, budgets) -> {
                    budgets.remove(budget.getMetadata().getName());
                    return budgets.isEmpty() ? null : budgets;
                });
    }

    /**
     * All of them by namespace, as they are known now.
     *
     * @throws IllegalStateException if they have not been listed yet
     */
    public Map<String, List<DisruptionBudget>> byNamespace() {
        if (!listed) {
            throw new IllegalStateException("PodDisruptionBudgets have not been listed yet");
        }
        return known.entrySet().stream()
                .collect(
                        toUnmodifiableMap(
                                Map.Entry::getKey, it -> List.copyOf(it.getValue().values())));
    }

    /** How many pods each lets go now, by {@code namespace/name}. */
    public Map<String, Integer> allowed() {
        return known.values().stream()
                .flatMap(budgets -> budgets.values().stream())
                .collect(toUnmodifiableMap(DisruptionBudget::name, DisruptionBudget::allowed));
    }

    /** Names of those that guard a pod of this namespace with these labels. */
    public Set<String> guarding(String namespace, Map<String, String> labels) {
        Map<String, DisruptionBudget> there = known.get(namespace);
        // Most namespaces have none, and it is asked for each pod in turn.
        return there == null
                ? Set.of()
                : there.values().stream()
                        .filter(budget -> budget.guards(labels))
                        .map(DisruptionBudget::name)
                        .collect(toUnmodifiableSet());
    }
}
