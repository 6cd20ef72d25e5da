package io.gpusharing.timekeeper.reclaim;

import io.fabric8.kubernetes.api.model.Taint;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A node, as the scheduler sees it.
 *
 * @param gpus its physical GPUs, all free; null if nothing tells
 */
record NodeView(
        String name,
        Map<String, String> labels,
        List<Taint> taints,
        boolean unschedulable,
        Amounts allocatable,
        @Nullable GpuLayout gpus) {

    NodeView {
        labels = Map.copyOf(labels);
        taints = List.copyOf(taints);
    }
}
