package io.gpusharing.timekeeper.reclaim.snapshot;

import io.fabric8.kubernetes.api.model.Taint;
import io.gpusharing.placement.FreeCapacity;
import java.util.List;
import java.util.Map;

/**
 * A node, as the scheduler sees it.
 *
 * @param empty what it has while nobody runs there
 */
public record NodeView(
        String name,
        Map<String, String> labels,
        List<Taint> taints,
        boolean unschedulable,
        FreeCapacity empty) {

    public NodeView {
        labels = Map.copyOf(labels);
        taints = List.copyOf(taints);
    }
}
