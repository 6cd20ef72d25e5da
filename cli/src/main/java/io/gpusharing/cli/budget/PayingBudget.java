package io.gpusharing.cli.budget;

import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.Kind;
import io.gpusharing.kubernetes.GpuBudget;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Which budget pays for a namespace. */
public final class PayingBudget {

    private PayingBudget() {}

    /** By what is there now; empty if none names the namespace. */
    public static Optional<PublishedBudget> of(Cluster cluster, String namespace) {
        return of(all(cluster), namespace);
    }

    static Optional<PublishedBudget> of(List<PublishedBudget> budgets, String namespace) {
        return budgets.stream()
                .filter(it -> it.spec().namespaces().contains(namespace))
                .min(PublishedBudget.OLDER_FIRST);
    }

    /** Names of all budgets. */
    public static List<String> names(Cluster cluster) {
        return all(cluster).stream().map(PublishedBudget::name).toList();
    }

    /** All budgets, by name. */
    static List<PublishedBudget> all(Cluster cluster) {
        return cluster
                .ask(
                        "list",
                        Kind.GPUBUDGETS,
                        client -> client.resources(GpuBudget.class).list().getItems())
                .stream()
                .map(GpuBudget::published)
                .sorted(Comparator.comparing(PublishedBudget::name))
                .toList();
    }
}
