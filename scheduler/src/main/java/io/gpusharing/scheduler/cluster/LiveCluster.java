package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.PodPhase;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.kubernetes.StreamedList;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.pods.DisruptionBudget;
import io.gpusharing.scheduler.pods.DisruptionBudgets;
import io.gpusharing.scheduler.preemption.ClusterReader;
import io.gpusharing.scheduler.preemption.NodePods;
import io.gpusharing.scheduler.preemption.NodePods.Load;
import io.gpusharing.sharing.Amounts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/** Reads single nodes from the API server: pods without GPUs are not followed. */
@Component
final class LiveCluster implements ClusterReader {

    /** Three requests, begun half a second after we were asked at the latest. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private final KubernetesClient client;
    private final DisruptionBudgets budgets;
    private final RunningPodReader reader;
    private final UnreadableObjects unreadable;
    private final Duration patience;

    @Autowired
    LiveCluster(
            KubernetesClient client,
            DisruptionBudgets budgets,
            RunningPodReader reader,
            UnreadableObjects unreadable) {
        this(client, budgets, reader, unreadable, PATIENCE);
    }

    /**
     * @param patience for an answer of the API server
     */
    LiveCluster(
            KubernetesClient client,
            DisruptionBudgets budgets,
            RunningPodReader reader,
            UnreadableObjects unreadable,
            Duration patience) {
        this.client = PromptClient.of(client, patience);
        this.patience = patience;
        this.budgets = budgets;
        this.reader = reader;
        this.unreadable = unreadable;
    }

    @Override
    public Map<String, List<DisruptionBudget>> disruptionBudgets() {
        return budgets.byNamespace();
    }

    @Override
    public Optional<NodePods> read(String name) {
        Node node = client.nodes().withName(name).get();
        if (node == null || node.getStatus() == null) {
            return Optional.empty();
        }
        var pods = StreamedList.of(client, Pod.class).within(patience);
        Optional<Amounts> allocatable =
                unreadable.read(
                        node, it -> ResourceReader.amounts(it.getStatus().getAllocatable()));
        Optional<List<Load>> bound = loads(pods.withFields(NodeFields.bound(name)));
        Optional<List<Load>> nominated = loads(pods.withFields(NodeFields.nominated(name)));
        return allocatable.isPresent() && bound.isPresent() && nominated.isPresent()
                ? Optional.of(new NodePods(allocatable.get(), bound.get(), nominated.get()))
                : Optional.empty();
    }

    /**
     * Empty if one of them cannot be read: it may take all that the node has, so that whoever went
     * from there would go in vain.
     */
    private Optional<List<Load>> loads(StreamedList<Pod> pods) {
        var loads = new ArrayList<Optional<Load>>();
        long until = System.nanoTime() + patience.toNanos();
        pods.forEach(pod -> {
            if (System.nanoTime() - until > 0) {
                throw new KubernetesClientException("Its pods were not told within " + patience);
            }
            if (!PodPhase.hasEnded(pod)) {
                loads.add(unreadable.read(pod, this::load));
            }
        });
        return loads.stream().allMatch(Optional::isPresent)
                ? Optional.of(loads.stream().flatMap(Optional::stream).toList())
                : Optional.empty();
    }

    private Load load(Pod pod) {
        return new Load(reader.running(pod), RunningPodReader.requests(pod));
    }
}
