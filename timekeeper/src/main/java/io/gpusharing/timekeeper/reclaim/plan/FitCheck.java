package io.gpusharing.timekeeper.reclaim.plan;

import static java.util.stream.Collectors.groupingBy;

import io.gpusharing.placement.GpuLayout;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Whether one waiter would fit on a node if certain pods were gone: by the node's resources as the
 * scheduler counts them, and by its physical GPUs where it is known who holds which.
 */
final class FitCheck {

    private final Waiter waiter;
    private final Map<String, List<GpuPod>> gpuPods;
    private final Map<String, List<Waiter>> promised;

    FitCheck(ClusterSnapshot snapshot, Waiter waiter) {
        this.waiter = waiter;
        this.gpuPods = snapshot.gpuPods().stream().collect(groupingBy(GpuPod::node));
        this.promised = promised(snapshot, waiter);
    }

    Collection<GpuPod> on(NodeView node) {
        return gpuPods.getOrDefault(node.name(), List.of());
    }

    /** Whether an empty node of this kind would do. */
    boolean couldEverFit(NodeView node) {
        return waiter.constraints().admit(node)
                && waiter.requests().fitInto(node.allocatable())
                && (node.gpus() == null || node.gpus().place(waiter.asks()).isPresent());
    }

    /** Whether it fits without the pods that are {@code gone}. */
    boolean fits(NodeView node, Predicate<GpuPod> gone) {
        if (!fitsByTotals(node, gone)) {
            return false;
        }
        GpuLayout left = layout(node, gone);
        return left == null || left.place(waiter.asks()).isPresent();
    }

    /** What the scheduler's own filters see: the node's sums, not who holds which GPU. */
    boolean fitsByTotals(NodeView node, Predicate<GpuPod> gone) {
        Amounts free = node.allocatable();
        for (GpuPod gpuPod : on(node)) {
            if (!gone.test(gpuPod)) {
                free = free.minus(gpuPod.requests());
            }
        }
        for (Waiter other : promised.getOrDefault(node.name(), List.of())) {
            free = free.minus(other.requests());
        }
        return waiter.requests().fitInto(free);
    }

    /** Null where a pod with a GPU does not say which. */
    private @Nullable GpuLayout layout(NodeView node, Predicate<GpuPod> gone) {
        GpuLayout left = node.gpus();
        for (GpuPod gpuPod : on(node)) {
            if (left == null || gone.test(gpuPod) || !gpuPod.hasGpu()) {
                continue;
            }
            left = gpuPod.gpus() == null ? null : left.without(gpuPod.gpus());
        }
        for (Waiter other : promised.getOrDefault(node.name(), List.of())) {
            if (left != null) {
                left = left.without(left.place(other.asks()).orElse(List.of()));
            }
        }
        return left;
    }

    /** Others for whom room was made and who have not taken it yet. */
    private static Map<String, List<Waiter>> promised(ClusterSnapshot snapshot, Waiter waiter) {
        Map<String, String> nodeByPod = new LinkedHashMap<>();
        for (PastEviction eviction : snapshot.past()) {
            if (!eviction.helped() && snapshot.now().isBefore(eviction.settlesAt())) {
                nodeByPod.put(eviction.waiter().uid(), eviction.node());
            }
        }
        Set<String> uids = nodeByPod.keySet();
        return snapshot.waiters().stream()
                .filter(it -> uids.contains(it.pod().uid()))
                .filter(it -> !it.pod().uid().equals(waiter.pod().uid()))
                .collect(groupingBy(it -> nodeByPod.getOrDefault(it.pod().uid(), "")));
    }
}
