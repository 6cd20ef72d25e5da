package io.gpusharing.scheduler.explaining;

import static java.util.stream.Collectors.groupingBy;

import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.NodeOccupancy;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.NodeView;
import io.gpusharing.scheduler.picture.Offers;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.wire.GpuHold;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The cluster at one instant, summed up once for all who ask about it. */
public final class Picture {

    private final ClusterSnapshot snapshot;
    private final Map<String, State> nodes = new LinkedHashMap<>();
    private final List<KeptRoom> kept;
    private final Offers offers;

    /**
     * A node.
     *
     * @param free what its pods leave of its sums
     * @param occupancy of its GPUs; null where our device plugin does not hand them out
     */
    record State(
            NodeView view, List<Holder> pods, Amounts free, @Nullable NodeOccupancy occupancy) {

        String name() {
            return view.name();
        }

        /** What others leave of its sums to a pod for which room is being made there. */
        Amounts freeFor(String podUid) {
            return pods.stream()
                    .filter(pod -> pod.pod().uid().equals(podUid))
                    .findFirst()
                    .map(pod -> free.plus(pod.hold().requests()))
                    .orElse(free);
        }
    }

    /**
     * @param isGpu whether a resource is GPUs or parts of them
     */
    public Picture(ClusterSnapshot snapshot, Predicate<String> isGpu) {
        this.snapshot = snapshot;
        this.kept = snapshot.nodes().stream().flatMap(node -> node.kept().stream()).toList();
        this.offers =
                Offers.of(
                        snapshot.nodes().stream(),
                        isGpu,
                        node -> node.shared() != null,
                        node -> node.empty().amounts());
        Map<String, List<Holder>> pods =
                snapshot.gpuPods().stream().collect(groupingBy(Holder::node));
        snapshot.nodes()
                .forEach(node ->
                        nodes.put(
                                node.name(),
                                state(node, pods.getOrDefault(node.name(), List.of()))));
    }

    private static State state(NodeView node, List<Holder> pods) {
        Amounts free = node.empty().amounts();
        for (Holder pod : pods) {
            free = free.minus(pod.hold().requests());
        }
        SharedNode shared = node.shared();
        return new State(node, pods, free, shared == null ? null : occupancy(shared, pods));
    }

    /** As our scheduler has it, without what it has reserved in this moment. */
    private static NodeOccupancy occupancy(SharedNode shared, List<Holder> pods) {
        var holds = new HashMap<String, List<GpuHold>>();
        var leaving = new HashMap<String, Instant>();
        for (Holder pod : pods) {
            String uid = pod.pod().uid();
            holds.put(uid, shared.held(uid, pod.hold().containers()));
            if (pod.end() != null) {
                leaving.put(uid, pod.end());
            }
        }
        Set<String> here = Set.copyOf(holds.keySet());
        holds.putAll(shared.granted());
        return new NodeOccupancy(shared, holds, here::contains, leaving);
    }

    /** When the cluster was so. */
    public Instant at() {
        return snapshot.now();
    }

    ClusterSnapshot snapshot() {
        return snapshot;
    }

    /** What its nodes offer. */
    Offers offers() {
        return offers;
    }

    /** By name. */
    Iterable<State> nodes() {
        return nodes.values();
    }

    Optional<State> node(String name) {
        return Optional.ofNullable(nodes.get(name));
    }

    /** What a pod has to leave to others, by node. */
    Map<String, List<KeptRoom>> keptFrom(String podUid, int priority) {
        return KeptRoom.against(podUid, priority, kept, uid -> false).stream()
                .collect(groupingBy(KeptRoom::node));
    }
}
