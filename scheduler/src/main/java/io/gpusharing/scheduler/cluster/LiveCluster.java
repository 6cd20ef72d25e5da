package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.scheduler.preemption.ClusterReader;
import io.gpusharing.scheduler.preemption.DisruptionBudget;
import io.gpusharing.scheduler.preemption.NodePods;
import io.gpusharing.scheduler.preemption.NodePods.Load;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.springframework.stereotype.Component;

/** Reads single nodes from the API server: pods without GPUs are not followed. */
@Component
final class LiveCluster implements ClusterReader {

    /** Three requests, begun half a second after we were asked at the latest. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private static final String NODE = "spec.nodeName";

    private final KubernetesClient client;
    private final DisruptionBudgetWatch budgets;
    private final RunningPodReader reader;

    LiveCluster(KubernetesClient client, DisruptionBudgetWatch budgets, RunningPodReader reader) {
        this.client = PromptClient.of(client, PATIENCE);
        this.budgets = budgets;
        this.reader = reader;
    }

    @Override
    public List<DisruptionBudget> disruptionBudgets() {
        return budgets.now();
    }

    @Override
    public Optional<NodePods> read(String name) {
        Node node = client.nodes().withName(name).get();
        if (node == null || node.getStatus() == null) {
            return Optional.empty();
        }
        return Optional.of(
                new NodePods(
                        ResourceReader.amounts(node.getStatus().getAllocatable()),
                        loads(
                                client.pods()
                                        .inAnyNamespace()
                                        .withField(NODE, name)
                                        .list()
                                        .getItems()),
                        // The API server has an index of nodes, and pods without one are in it.
                        loads(
                                client.pods()
                                        .inAnyNamespace()
                                        .withField(NODE, "")
                                        .withField("status.nominatedNodeName", name)
                                        .list()
                                        .getItems())));
    }

    private List<Load> loads(List<Pod> pods) {
        return pods.stream()
                .filter(pod -> !PodWatch.hasEnded(pod))
                .map(pod -> new Load(reader.running(pod), RunningPodReader.requests(pod)))
                .toList();
    }
}
