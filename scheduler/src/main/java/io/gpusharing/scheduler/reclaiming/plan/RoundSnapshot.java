package io.gpusharing.scheduler.reclaiming.plan;

import static java.util.stream.Collectors.groupingBy;

import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot with what is the same for all waiters for whom it is searched: tens of them look at
 * ten thousand pods. For one thread.
 */
final class RoundSnapshot {

    private final ClusterSnapshot snapshot;
    private final Rules rules;
    private final Map<String, List<Holder>> byNode;
    private @Nullable VictimFilter victims;

    RoundSnapshot(ClusterSnapshot snapshot, Rules rules) {
        this.snapshot = snapshot;
        this.rules = rules;
        this.byNode = snapshot.gpuPods().stream().collect(groupingBy(Holder::node));
    }

    ClusterSnapshot snapshot() {
        return snapshot;
    }

    List<Holder> on(String node) {
        return byNode.getOrDefault(node, List.of());
    }

    /** Who may be evicted: judged once somebody may have to be. */
    VictimFilter victims() {
        if (victims == null) {
            victims = new VictimFilter(snapshot, rules);
        }
        return victims;
    }
}
