package io.gpusharing.scheduler.reclaiming.plan;

import static java.util.stream.Collectors.groupingBy;

import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.NodeView;
import io.gpusharing.scheduler.picture.Past.PastEviction;
import io.gpusharing.scheduler.victims.Room;
import io.gpusharing.scheduler.victims.Room.Part;
import io.gpusharing.sharing.Amounts;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;

/** What there is for one waiter on each node, beside those who stay there. */
final class FitCheck {

    /** In place of a gang: whoever is gone by then. */
    static final int GONE = -2;

    private static final BitSet NOBODY = new BitSet();

    private final Waiter waiter;
    private final RoundSnapshot round;
    private final Map<String, List<Waiter>> promised;

    FitCheck(RoundSnapshot round, Waiter waiter) {
        this.waiter = waiter;
        this.round = round;
        this.promised = promised(round.snapshot(), waiter);
    }

    /** Whether an empty node of this kind would do, and the waiter's scheduler could use it. */
    boolean couldEverFit(NodeView node) {
        return waiter.reach().admits(node)
                && waiter.constraints().admit(node)
                && room(node, List.of(), List.of()).fits(NOBODY);
    }

    /**
     * A node for this waiter.
     *
     * @param gangOf the number of the gang with which a pod goes, {@link Room#STAYS}, or {@link
     *     #GONE}
     */
    Room room(NodeView node, ToIntFunction<Holder> gangOf) {
        List<Holder> here = round.on(node.name());
        var parts = new ArrayList<Part>();
        for (Holder pod : here) {
            int gang = gangOf.applyAsInt(pod);
            if (gang != GONE) {
                parts.add(new Part(gang, pod.hold().requests(), () -> node.hold(pod).gpus()));
            }
        }
        parts.add(new Part(Room.STAYS, Amounts.NONE, () -> node.leftBehind(here).gpus()));
        List<KeptRoom> kept = node.keptFrom(waiter);
        for (KeptRoom room : kept) {
            parts.add(new Part(Room.STAYS, Amounts.NONE, room::held));
        }
        var unplaced = new ArrayList<PodAsk>();
        for (Waiter other : promised.getOrDefault(node.name(), List.of())) {
            parts.add(new Part(Room.STAYS, other.ask().requests(), List::of));
            if (kept.stream().noneMatch(it -> it.podUid().equals(other.pod().uid()))) {
                unplaced.add(other.ask());
            }
        }
        return room(node, parts, unplaced);
    }

    private Room room(NodeView node, List<Part> parts, List<PodAsk> unplaced) {
        return new Room(node.name(), waiter.ask(), node.empty(), parts, Amounts.NONE, unplaced);
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
