package io.gpusharing.scheduler.reclaiming.plan;

import static java.util.stream.Collectors.groupingBy;

import io.gpusharing.placement.FreeCapacity;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.PodHold;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.Holder;
import io.gpusharing.scheduler.picture.NodeView;
import io.gpusharing.scheduler.picture.PastEviction;
import io.gpusharing.scheduler.picture.Waiter;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.wire.GpuHold;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Whether one waiter would fit on a node if certain pods were gone: by the node's resources as the
 * scheduler counts them, and by its physical GPUs where it is known who holds which.
 */
final class FitCheck {

    private final Waiter waiter;
    private final Map<String, List<Holder>> gpuPods;
    private final Map<String, List<Waiter>> promised;

    FitCheck(ClusterSnapshot snapshot, Waiter waiter) {
        this.waiter = waiter;
        this.gpuPods = snapshot.gpuPods().stream().collect(groupingBy(Holder::node));
        this.promised = promised(snapshot, waiter);
    }

    /** Whether an empty node of this kind would do. */
    boolean couldEverFit(NodeView node) {
        return waiter.constraints().admit(node) && node.empty().fits(waiter.ask());
    }

    /** Whether it fits without the pods that are {@code gone}. */
    boolean fits(NodeView node, Predicate<Holder> gone) {
        return fitsByTotals(node, gone) && fits(node, node.empty(), gone);
    }

    /** What the scheduler's own filters see: the node's sums, not who holds which GPU. */
    boolean fitsByTotals(NodeView node, Predicate<Holder> gone) {
        return fits(node, node.empty().totals(), gone);
    }

    /** Which GPUs it would get; empty where others hand them out. */
    List<GpuHold> placement(NodeView node, Predicate<Holder> gone) {
        return node.shared() == null
                ? List.of()
                : free(node, node.empty(), gone).place(waiter.ask()).orElse(List.of());
    }

    private boolean fits(NodeView node, FreeCapacity empty, Predicate<Holder> gone) {
        return free(node, empty, gone).fits(waiter.ask());
    }

    private FreeCapacity free(NodeView node, FreeCapacity empty, Predicate<Holder> gone) {
        List<Holder> here = gpuPods.getOrDefault(node.name(), List.of());
        FreeCapacity free = empty.beside(node.leftBehind(here));
        for (Holder gpuPod : here) {
            if (!gone.test(gpuPod)) {
                free = free.beside(node.hold(gpuPod));
            }
        }
        List<KeptRoom> kept = node.keptFrom(waiter);
        for (Waiter other : promised.getOrDefault(node.name(), List.of())) {
            boolean reserved = kept.stream().anyMatch(it -> it.podUid().equals(other.pod().uid()));
            free =
                    reserved
                            ? free.beside(new PodHold(other.ask().requests(), List.of(), List.of()))
                            : free.after(other.ask());
        }
        for (KeptRoom room : kept) {
            free = free.beside(new PodHold(Amounts.NONE, room.held(), List.of()));
        }
        return free;
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
