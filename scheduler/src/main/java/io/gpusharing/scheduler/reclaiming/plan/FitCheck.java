package io.gpusharing.scheduler.reclaiming.plan;

import static java.util.stream.Collectors.groupingBy;

import io.gpusharing.placement.FreeCapacity;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.Past.PastEviction;
import io.gpusharing.scheduler.reclaiming.plan.RoundSnapshot.Held;
import io.gpusharing.scheduler.reclaiming.plan.RoundSnapshot.Node;
import io.gpusharing.scheduler.victims.Room;
import io.gpusharing.scheduler.victims.Room.Part;
import io.gpusharing.sharing.Amounts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;

/** What there is for one waiter on each node, beside those who stay there. */
final class FitCheck {

    /** In place of a gang: whoever is gone by then. */
    static final int GONE = -2;

    private final Waiter waiter;
    private final Map<String, List<Waiter>> promised;

    FitCheck(ClusterSnapshot snapshot, Waiter waiter) {
        this.waiter = waiter;
        this.promised = promised(snapshot, waiter);
    }

    /** Whether an empty node of this kind would do, and the waiter's scheduler could use it. */
    boolean couldEverFit(Node node) {
        return waiter.reach().admits(node.view())
                && waiter.constraints().admit(node.view())
                && node.view().empty().fits(waiter.ask());
    }

    /**
     * Whether there is hope that it fits beside those who stay whatever is done: they are the same
     * for all waiters.
     *
     * @param weaker whether those of a lower priority may go, too; the scheduler, which preempts
     *     them, is trusted where sums do
     */
    boolean couldFit(Node node, boolean weaker) {
        FreeCapacity most = node.most(weaker ? waiter.priority() : Integer.MIN_VALUE);
        PodAsk ask = waiter.ask();
        return ask.requests().fitInto(most.amounts())
                && (weaker || !most.isMonotone(ask) || most.fitsOnGpus(ask));
    }

    /**
     * A node for this waiter.
     *
     * @param gangOf the number of the gang with which a pod goes, {@link Room#STAYS}, or {@link
     *     #GONE}
     */
    Room room(Node node, ToIntFunction<Holder> gangOf) {
        var parts = new ArrayList<Part>();
        for (Held held : node.held()) {
            int gang = gangOf.applyAsInt(held.pod());
            if (gang != GONE) {
                parts.add(new Part(gang, held.pod().hold().requests(), held::gpus));
            }
        }
        parts.add(new Part(Room.STAYS, Amounts.NONE, node::leftBehind));
        List<KeptRoom> kept = node.view().keptFrom(waiter);
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
        return new Room(
                node.name(), waiter.ask(), node.view().empty(), parts, Amounts.NONE, unplaced);
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
