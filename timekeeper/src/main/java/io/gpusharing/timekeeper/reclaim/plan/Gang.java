package io.gpusharing.timekeeper.reclaim.plan;

import io.gpusharing.timekeeper.reclaim.snapshot.BudgetAccount;
import io.gpusharing.timekeeper.reclaim.snapshot.GpuPod;
import io.gpusharing.timekeeper.reclaim.snapshot.NodeView;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/**
 * Pods that are evicted together or not at all.
 *
 * @param budget the budget of all of them
 */
record Gang(String key, BudgetAccount budget, List<GpuPod> pods) {

    /** The most overdrawn budget first, in it the newest pods. */
    static final Comparator<Gang> EVICTION_ORDER =
            Comparator.comparing((Gang gang) -> gang.budget().overrun())
                    .reversed()
                    .thenComparing(gang -> gang.budget().name())
                    .thenComparing(Gang::newest, Comparator.reverseOrder())
                    .thenComparing(Gang::key);

    private Instant newest() {
        return pods.stream().map(GpuPod::since).max(Comparator.naturalOrder()).orElseThrow();
    }

    boolean standsOn(NodeView node) {
        return pods.stream().anyMatch(pod -> pod.node().equals(node.name()));
    }
}
