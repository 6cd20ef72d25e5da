package io.gpusharing.scheduler.gpus;

import io.gpusharing.sharing.Strategy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;

/** Chooses the nodes on which a pod would leave what its strategy prefers. */
final class BestNodes {

    private BestNodes() {}

    /**
     * The best nodes, the very best first; of equals who was named first comes first.
     *
     * @param left how much would be left on a node, see {@link io.gpusharing.placement.Leftover};
     *     empty if the pod does not fit there
     * @param most how many nodes are named at most
     */
    static List<String> of(
            Collection<String> candidates,
            Function<String, OptionalLong> left,
            Strategy strategy,
            int most) {
        var best = new ArrayList<String>();
        var lefts = new ArrayList<Long>();
        for (String name : candidates) {
            OptionalLong there = left.apply(name);
            if (there.isEmpty()) {
                continue;
            }
            int place = best.size();
            while (place > 0 && strategy.prefers(there.getAsLong(), lefts.get(place - 1))) {
                place--;
            }
            if (place < most) {
                best.add(place, name);
                lefts.add(place, there.getAsLong());
            }
            if (best.size() > most) {
                best.removeLast();
                lefts.removeLast();
            }
        }
        return best;
    }
}
