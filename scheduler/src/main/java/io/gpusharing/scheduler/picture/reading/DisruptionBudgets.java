package io.gpusharing.scheduler.picture.reading;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.LabelMatch;
import io.gpusharing.kubernetes.StreamedList;
import io.gpusharing.kubernetes.UnreadableObjects;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The PodDisruptionBudgets of one snapshot, of which little is kept however much they say. */
final class DisruptionBudgets {

    private final Map<String, List<Guard>> byNamespace = new HashMap<>();

    /**
     * @param name with its namespace
     * @param selector the pods of its namespace that it guards
     * @param allowed how many of them may go now
     */
    private record Guard(String name, @Nullable LabelSelector selector, int allowed) {}

    /**
     * Reads them. One that cannot be read guards its whole namespace, and lets nobody go.
     *
     * @throws KubernetesClientException if the API server does not answer, or refuses to
     */
    static DisruptionBudgets read(
            StreamedList<PodDisruptionBudget> all, UnreadableObjects unreadable) {
        var read = new DisruptionBudgets();
        all.forEach(budget ->
                read.byNamespace
                        .computeIfAbsent(
                                budget.getMetadata().getNamespace(), _ -> new ArrayList<>())
                        .add(
                                unreadable
                                        .read(budget, DisruptionBudgets::guard)
                                        .orElseGet(() ->
                                                new Guard(name(budget), new LabelSelector(), 0))));
        return read;
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
                .flatMap(List::stream)
                .forEach(guard -> allowed.put(guard.name(), guard.allowed()));
        return allowed;
    }

    /** Names of those that guard a pod. */
    Set<String> guarding(Pod pod) {
        ObjectMeta meta = pod.getMetadata();
        Set<String> names = new HashSet<>();
        for (Guard guard : byNamespace.getOrDefault(meta.getNamespace(), List.of())) {
            if (LabelMatch.matches(guard.selector(), meta.getLabels())) {
                names.add(guard.name());
            }
        }
        return names;
    }
}
