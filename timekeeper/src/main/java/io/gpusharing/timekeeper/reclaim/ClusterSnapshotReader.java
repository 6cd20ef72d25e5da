package io.gpusharing.timekeeper.reclaim;

import static java.util.stream.Collectors.toMap;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorRequirement;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.cluster.ClusterProperties;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.cluster.PodPages;
import io.gpusharing.timekeeper.reclaim.plan.BudgetAccount;
import io.gpusharing.timekeeper.reclaim.plan.ClusterSnapshot;
import io.gpusharing.timekeeper.reclaim.plan.GpuPod;
import io.gpusharing.timekeeper.reclaim.plan.PastEviction;
import io.gpusharing.timekeeper.reclaim.plan.Planner;
import io.gpusharing.timekeeper.reclaim.plan.Refusal;
import io.gpusharing.timekeeper.reclaim.plan.Waiter;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a {@link ClusterSnapshot} from the API server, when there is a reason to. The timekeeper's
 * own watch keeps too little of a pod to say where it fits, and nothing of pods without GPUs.
 */
final class ClusterSnapshotReader {

    private static final Logger log = LoggerFactory.getLogger(ClusterSnapshotReader.class);
    static final String PAUSED = Names.PREFIX + "reclaim-paused";

    private final KubernetesClient client;
    private final Budgets budgets;
    private final ClusterView view;
    private final PodTranslation translation;
    private final String ownNamespace;
    private final Duration maxGrace;
    private final Duration settle;
    private boolean blindToDisruptionBudgets;

    ClusterSnapshotReader(
            KubernetesClient client,
            Budgets budgets,
            ClusterView view,
            PodTranslation translation,
            ClusterProperties cluster,
            Duration maxGrace,
            Duration settle) {
        this.client = client;
        this.budgets = budgets;
        this.view = view;
        this.translation = translation;
        this.ownNamespace = cluster.namespace();
        this.maxGrace = maxGrace;
        this.settle = settle;
    }

    /**
     * A scene that knows only pods with GPUs, and how to read all pods of a node.
     *
     * @param paused whether an administrator has stopped everything
     */
    record Reading(ClusterSnapshot snapshot, Planner.NodePods nodePods, boolean paused) {}

    /**
     * @throws KubernetesClientException if the API server cannot be asked
     */
    Reading read(Instant now, List<PastEviction> past, List<Refusal> refusals) {
        List<Node> nodes = client.nodes().list().getItems();
        Map<String, Map<String, String>> namespaces =
                client.namespaces().list().getItems().stream()
                        .collect(
                                toMap(
                                        it -> it.getMetadata().getName(),
                                        ClusterSnapshotReader::annotations));
        List<PodDisruptionBudget> disruptions = disruptionBudgets();
        var ending = new PodTranslation.Ending(now.minus(settle), now.plus(maxGrace));
        Function<Pod, GpuPod> gpuPod =
                pod ->
                        translation.gpuPod(
                                pod,
                                namespace -> namespaces.getOrDefault(namespace, Map.of()),
                                guarding(pod, disruptions),
                                facts(pod),
                                ending);
        var waiters = new ArrayList<Waiter>();
        var gpuPods = new ArrayList<GpuPod>();
        PodPages.forEach(
                client.pods().inAnyNamespace().withLabel(Names.METERED_LABEL, "true"),
                pod -> {
                    // Devices of claims are neither preempted nor made room for.
                    if (!translation.asksForGpus(pod)) {
                        return;
                    }
                    if (PodTranslation.waits(pod)) {
                        waiters.add(translation.waiter(pod));
                    }
                    if (PodTranslation.holds(pod)) {
                        gpuPods.add(gpuPod.apply(pod));
                    }
                });
        ClusterSnapshot snapshot =
                new ClusterSnapshot(
                        now,
                        List.copyOf(waiters),
                        nodes.stream().map(translation::node).toList(),
                        List.copyOf(gpuPods),
                        budgets(namespaces.keySet(), now),
                        allowed(disruptions),
                        past,
                        refusals,
                        Set.of());
        boolean paused = "true".equals(namespaces.getOrDefault(ownNamespace, Map.of()).get(PAUSED));
        return new Reading(snapshot, node -> podsOn(node, gpuPod), paused);
    }

    private List<GpuPod> podsOn(String node, Function<Pod, GpuPod> gpuPod) {
        return client
                .pods()
                .inAnyNamespace()
                .withField("spec.nodeName", node)
                .list()
                .getItems()
                .stream()
                .filter(PodTranslation::holds)
                .map(gpuPod)
                .toList();
    }

    private Map<String, BudgetAccount> budgets(Set<String> namespaces, Instant now) {
        Set<String> paused = new HashSet<>();
        client.resources(GpuBudget.class).list().getItems().stream()
                .filter(it -> "true".equals(annotations(it.getMetadata()).get(PAUSED)))
                .forEach(it -> paused.add(it.getMetadata().getName()));
        Map<String, BudgetAccount> byNamespace = new HashMap<>();
        for (String namespace : namespaces) {
            budgets.ofNamespace(namespace)
                    .ifPresent(state -> byNamespace.put(namespace, view(state, paused, now)));
        }
        return byNamespace;
    }

    private static BudgetAccount view(BudgetState state, Set<String> paused, Instant now) {
        return new BudgetAccount(
                state.name(),
                state.standing(now),
                state.spec().onExhausted(),
                state.spec().minimumRun(),
                paused.contains(state.name()));
    }

    /** Without the right to see them, the Eviction API still honours them. */
    private List<PodDisruptionBudget> disruptionBudgets() {
        try {
            return client.policy().v1().podDisruptionBudget().inAnyNamespace().list().getItems();
        } catch (KubernetesClientException e) {
            if (e.getCode() != HttpURLConnection.HTTP_FORBIDDEN) {
                throw e;
            }
            if (!blindToDisruptionBudgets) {
                log.warn(
                        "Cannot list poddisruptionbudgets.policy: the API server answered 403. Reclaim"
                                + " learns of them only when it is refused. The service account"
                                + " gpusharing-timekeeper needs get, list, watch on them");
            }
            blindToDisruptionBudgets = true;
            return List.of();
        }
    }

    private static Map<String, Integer> allowed(List<PodDisruptionBudget> disruptions) {
        Map<String, Integer> allowed = new HashMap<>();
        for (PodDisruptionBudget guard : disruptions) {
            Integer still =
                    guard.getStatus() == null ? null : guard.getStatus().getDisruptionsAllowed();
            allowed.put(name(guard), still == null ? 0 : still);
        }
        return allowed;
    }

    private static Set<String> guarding(Pod pod, List<PodDisruptionBudget> disruptions) {
        Set<String> names = new HashSet<>();
        for (PodDisruptionBudget guard : disruptions) {
            if (guard.getMetadata().getNamespace().equals(pod.getMetadata().getNamespace())
                    && selects(guard.getSpec().getSelector(), pod)) {
                names.add(name(guard));
            }
        }
        return names;
    }

    /** No selector selects nothing, an empty one everything. */
    private static boolean selects(@Nullable LabelSelector selector, Pod pod) {
        if (selector == null) {
            return false;
        }
        Map<String, String> labels =
                Objects.requireNonNullElse(pod.getMetadata().getLabels(), Map.of());
        Map<String, String> wanted =
                Objects.requireNonNullElse(selector.getMatchLabels(), Map.of());
        return labels.entrySet().containsAll(wanted.entrySet())
                && selector.getMatchExpressions().stream().allMatch(it -> holds(it, labels));
    }

    private static boolean holds(LabelSelectorRequirement it, Map<String, String> labels) {
        String found = labels.get(it.getKey());
        return switch (it.getOperator()) {
            case "In" -> found != null && it.getValues().contains(found);
            case "NotIn" -> found == null || !it.getValues().contains(found);
            case "Exists" -> found != null;
            case "DoesNotExist" -> found == null;
            // What is not understood may guard the pod.
            default -> true;
        };
    }

    private NodeFacts facts(Pod pod) {
        String node = pod.getSpec().getNodeName();
        return node == null ? NodeFacts.UNKNOWN : view.node(node).orElse(NodeFacts.UNKNOWN);
    }

    private static String name(PodDisruptionBudget guard) {
        return guard.getMetadata().getNamespace() + "/" + guard.getMetadata().getName();
    }

    private static Map<String, String> annotations(Namespace namespace) {
        return annotations(namespace.getMetadata());
    }

    private static Map<String, String> annotations(
            io.fabric8.kubernetes.api.model.ObjectMeta meta) {
        return Objects.requireNonNullElse(meta.getAnnotations(), Map.of());
    }
}
