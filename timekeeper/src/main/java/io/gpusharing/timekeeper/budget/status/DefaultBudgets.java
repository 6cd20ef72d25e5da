package io.gpusharing.timekeeper.budget.status;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.timekeeper.budget.BudgetProperties;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.web.LeaderTask;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Looks after namespaces that use GPUs and that no budget names. As the installation is configured,
 * each gets a visible {@code GpuBudget} of its own, or a place in one that they share, or nothing.
 */
@Component
class DefaultBudgets extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(DefaultBudgets.class);
    private static final Duration LOOK = Duration.ofSeconds(2);

    private final KubernetesClient client;
    private final ClusterView view;
    private final BudgetWatch watch;
    private final BudgetProperties properties;

    DefaultBudgets(
            KubernetesClient client,
            ClusterView view,
            BudgetWatch watch,
            BudgetProperties properties,
            Leadership leadership,
            Clock clock) {
        super("default-budgets", leadership, clock);
        this.client = client;
        this.view = view;
        this.watch = watch;
        this.properties = properties;
    }

    @Override
    protected @Nullable Instant work(Instant now) {
        return switch (properties.unnamedNamespaces()) {
            case Unlimited -> null;
            case PerNamespace -> {
                unnamed().forEach(namespace -> create(namespace, Set.of(namespace)));
                yield now.plus(LOOK);
            }
            case Shared -> {
                share(unnamed());
                yield now.plus(LOOK);
            }
        };
    }

    private Set<String> unnamed() {
        if (!watch.isKnown()) {
            return Set.of();
        }
        Set<String> named = watch.namedNamespaces();
        return view.pods().stream()
                .map(PodFacts::namespace)
                .filter(namespace -> !named.contains(namespace))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private void share(Set<String> namespaces) {
        if (namespaces.isEmpty()) {
            return;
        }
        Budget present = watch.get(GpuBudget.OF_UNNAMED_NAMESPACES);
        if (present == null) {
            create(GpuBudget.OF_UNNAMED_NAMESPACES, namespaces);
            return;
        }
        if (!present.byDefault()) {
            // An administrator's own budget, which only happens to bear that name.
            return;
        }
        client.resources(GpuBudget.class)
                .withName(GpuBudget.OF_UNNAMED_NAMESPACES)
                .edit(budget -> {
                    budget.setSpec(withNamespaces(budget.getSpec(), namespaces));
                    return budget;
                });
    }

    private void create(String name, Set<String> namespaces) {
        var budget = new GpuBudget();
        budget.setMetadata(
                new ObjectMetaBuilder()
                        .withName(name)
                        .addToLabels(GpuBudget.MADE_BY_DEFAULT, "true")
                        .build());
        budget.setSpec(spec(List.copyOf(namespaces)));
        try {
            client.resource(budget).create();
            log.atInfo()
                    .addKeyValue("budget", name)
                    .addKeyValue("namespaces", namespaces)
                    .log("made a default budget");
        } catch (KubernetesClientException e) {
            // Just made, and not yet seen by the watch; or a budget of that name that names others.
            if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
                throw e;
            }
        }
    }

    /** What an administrator has changed in it meanwhile stays. */
    private static GpuBudgetSpec withNamespaces(GpuBudgetSpec spec, Set<String> more) {
        var namespaces = new TreeSet<>(spec.namespaces());
        namespaces.addAll(more);
        return new GpuBudgetSpec(
                List.copyOf(namespaces),
                spec.gpuMinutes(),
                spec.period(),
                spec.rollover(),
                spec.debt(),
                spec.onExhausted(),
                spec.chargeBy(),
                spec.share(),
                spec.warnAtPercent(),
                spec.minimumRunTime());
    }

    private GpuBudgetSpec spec(List<String> namespaces) {
        return GpuBudgetSpec.monthly(namespaces, properties.gpuMinutes());
    }
}
