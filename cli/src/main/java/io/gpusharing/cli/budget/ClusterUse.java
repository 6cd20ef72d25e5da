package io.gpusharing.cli.budget;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.Names;
import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.InvalidSpec;
import io.gpusharing.budget.Period;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.Kind;
import io.gpusharing.cli.cluster.NotAllowed;
import io.gpusharing.cli.cluster.NotInstalled;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.PodPhase;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.request.GpuShare;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What all budgets together leave out: who has GPUs without any of them, and whether they promise
 * more than there is. Who may not see pods or nodes is not told of it.
 */
final class ClusterUse {

    private static final String WHOLE_GPUS = "nvidia.com/gpu";

    /** So many namespaces are named. */
    private static final int MOST = 10;

    private final Cluster cluster;

    ClusterUse(Cluster cluster) {
        this.cluster = cluster;
    }

    /** Sentences; none where there is nothing to say. */
    List<String> besides(List<PublishedBudget> budgets, Instant now) {
        var sentences = new ArrayList<String>();
        String unpaid = unpaid(budgets);
        if (!unpaid.isEmpty()) {
            sentences.add("No budget pays for pods with GPUs in " + unpaid);
        }
        double promised = budgets.stream().mapToDouble(it -> promised(it, now)).sum();
        Long physical = physical();
        if (physical != null && promised > 0) {
            sentences.add(
                    "The budgets promise what %s GPUs give in their periods; there are %d"
                            .formatted(
                                    promised < 0.05
                                            ? "less than 0.1"
                                            : String.format(Locale.ROOT, "%.1f", promised),
                                    physical));
        }
        return sentences;
    }

    private String unpaid(List<PublishedBudget> budgets) {
        Set<String> paid = PublishedBudget.owners(budgets.stream()).keySet();
        Map<String, Long> pods;
        try {
            pods =
                    cluster
                            .ask(
                                    "list",
                                    Kind.PODS,
                                    client ->
                                            client.pods()
                                                    .inAnyNamespace()
                                                    .withLabel(Names.METERED_LABEL)
                                                    .list()
                                                    .getItems())
                            .stream()
                            .filter(ClusterUse::holds)
                            .map(pod -> pod.getMetadata().getNamespace())
                            .filter(namespace -> !paid.contains(namespace))
                            .collect(groupingBy(it -> it, TreeMap::new, counting()));
        } catch (NotAllowed | NotInstalled e) {
            return "";
        }
        String named =
                pods.entrySet().stream()
                        .limit(MOST)
                        .map(it -> "%s (%d)".formatted(it.getKey(), it.getValue()))
                        .collect(joining(", "));
        return pods.size() > MOST ? named + " and %d more".formatted(pods.size() - MOST) : named;
    }

    private static boolean holds(Pod pod) {
        return pod.getSpec().getNodeName() != null && !PodPhase.hasEnded(pod);
    }

    /** GPUs that a budget's time of this period keeps busy from its begin to its end. */
    private static double promised(PublishedBudget budget, Instant now) {
        if (InvalidSpec.of(budget.spec()).isPresent()) {
            return 0;
        }
        return budget.line()
                .map(line -> {
                    BudgetLine present = line.at(now);
                    Period period = present.terms().periods().at(now);
                    if (period.end() == null) {
                        return 0.0;
                    }
                    GpuTime granted = present.remaining().plus(budget.usedAt(now));
                    long seconds = Duration.between(period.start(), period.end()).toSeconds();
                    return granted.microGpuSeconds() / (double) GpuShare.WHOLE / seconds;
                })
                .orElse(0.0);
    }

    /** GPUs of our nodes, and whole ones of others; null if they are not shown to us. */
    private @Nullable Long physical() {
        try {
            List<GpuNode> ours =
                    cluster.ask(
                            "list",
                            Kind.GPUNODES,
                            client -> client.resources(GpuNode.class).list().getItems());
            var names = new HashSet<String>();
            long count = 0;
            for (GpuNode node : ours) {
                if (node.getStatus() != null && node.getStatus().gpus() != null) {
                    names.add(node.getMetadata().getName());
                    count += node.getStatus().gpus().size();
                }
            }
            List<Node> nodes =
                    cluster.ask("list", Kind.NODES, client -> client.nodes().list().getItems());
            return count
                    + nodes.stream()
                            .filter(node -> !names.contains(node.getMetadata().getName()))
                            .filter(node -> node.getStatus() != null)
                            .map(node -> ResourceReader.amounts(node.getStatus().getAllocatable()))
                            .mapToLong(it -> it.of(WHOLE_GPUS).longValue())
                            .sum();
        } catch (NotAllowed | NotInstalled e) {
            return null;
        }
    }
}
