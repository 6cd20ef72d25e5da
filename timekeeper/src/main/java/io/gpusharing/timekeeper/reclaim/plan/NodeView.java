package io.gpusharing.timekeeper.reclaim.plan;

import io.fabric8.kubernetes.api.model.Taint;
import io.gpusharing.placement.GpuLayout;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A node, as the scheduler sees it.
 *
 * @param gpus its physical GPUs, all free; null if that is unknown
 */
public record NodeView(
        String name,
        Map<String, String> labels,
        List<Taint> taints,
        boolean unschedulable,
        Amounts allocatable,
        @Nullable GpuLayout gpus) {

    public NodeView {
        labels = Map.copyOf(labels);
        taints = List.copyOf(taints);
    }
}
