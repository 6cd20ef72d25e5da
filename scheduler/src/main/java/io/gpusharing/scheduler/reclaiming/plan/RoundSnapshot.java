package io.gpusharing.scheduler.reclaiming.plan;

import static java.util.stream.Collectors.groupingBy;

import io.gpusharing.placement.FreeCapacity;
import io.gpusharing.placement.GpuLayout;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.NodeView;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.wire.GpuHold;
import java.math.BigDecimal;
import java.util.HashMap;
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
    private final List<Node> nodes;
    private @Nullable VictimFilter victims;

    RoundSnapshot(ClusterSnapshot snapshot, Rules rules) {
        this.snapshot = snapshot;
        this.rules = rules;
        this.byNode = snapshot.gpuPods().stream().collect(groupingBy(Holder::node));
        this.nodes = snapshot.nodes().stream().map(Node::new).toList();
    }

    ClusterSnapshot snapshot() {
        return snapshot;
    }

    /** All nodes, by name. */
    List<Node> nodes() {
        return nodes;
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

    /**
     * A pod, and what it holds of its node's GPUs.
     *
     * @param gpus null if nobody knows
     */
    record Held(Holder pod, @Nullable List<GpuHold> gpus) {}

    /** A node, and who is there. */
    final class Node {

        private final NodeView view;

        /** What is free there at most, by the least priority of those who stay. */
        private final Map<Integer, FreeCapacity> most = new HashMap<>();

        private @Nullable List<Held> held;
        private @Nullable List<GpuHold> leftBehind;

        private Node(NodeView view) {
            this.view = view;
        }

        NodeView view() {
            return view;
        }

        String name() {
            return view.name();
        }

        List<Held> held() {
            if (held == null) {
                held = on(name()).stream().map(pod -> new Held(pod, view.gpus(pod))).toList();
            }
            return held;
        }

        /** What pods hold that are here no more. */
        List<GpuHold> leftBehind() {
            if (leftBehind == null) {
                leftBehind = view.leftBehind(on(name()));
            }
            return leftBehind;
        }

        /**
         * What is free there once all have ended who are leaving, who may be evicted for anybody,
         * or whose priority is less than this. Whoever goes of these, no more will be. GPUs are not
         * counted where it is not known who holds which.
         */
        FreeCapacity most(int priority) {
            return most.computeIfAbsent(priority, this::beside);
        }

        private FreeCapacity beside(int priority) {
            FreeCapacity empty = view.empty();
            var sums = new HashMap<>(empty.amounts().byResource());
            GpuLayout gpus = empty.gpus();
            for (Held it : held()) {
                boolean stays =
                        !it.pod().leaving()
                                && it.pod().priority() >= priority
                                && !victims().mayGo(it.pod().gang());
                if (stays) {
                    it.pod()
                            .hold()
                            .requests()
                            .byResource()
                            .forEach((resource, amount) ->
                                    sums.merge(resource, amount.negate(), BigDecimal::add));
                }
                List<GpuHold> own = it.gpus();
                if (own == null) {
                    gpus = null;
                } else if (gpus != null && stays) {
                    gpus = gpus.without(own);
                }
            }
            return new FreeCapacity(new Amounts(sums), gpus, empty.shared());
        }
    }
}
