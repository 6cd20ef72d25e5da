package io.gpusharing.scheduler.preemption;

import io.gpusharing.scheduler.pods.DisruptionBudget;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What is not remembered of the cluster. */
public interface ClusterReader {

    /**
     * A node and all pods on it, at this moment; empty if it is gone, or any cannot be read.
     *
     * @throws RuntimeException if the API server does not tell in time
     */
    Optional<NodePods> read(String node);

    /**
     * All PodDisruptionBudgets by namespace.
     *
     * @throws RuntimeException if they are not known yet
     */
    Map<String, List<DisruptionBudget>> disruptionBudgets();
}
