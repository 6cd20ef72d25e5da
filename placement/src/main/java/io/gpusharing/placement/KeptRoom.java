package io.gpusharing.placement;

import io.gpusharing.wire.GpuHold;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Room that was made for a pod by ending others, and that it has not taken yet.
 *
 * @param priority of the pod: only those of a higher one may have the room
 * @param held what the pod will hold of which GPU
 * @param victims UIDs of the pods that have to go for it
 * @param until when others get it
 */
public record KeptRoom(
        String podUid,
        int priority,
        String node,
        List<GpuHold> held,
        Set<String> victims,
        Instant until) {

    public KeptRoom {
        held = List.copyOf(held);
        victims = Set.copyOf(victims);
    }

    /**
     * Of these what a pod has to leave to others, of its priority or a higher one; the most
     * important first.
     *
     * @param rooms one for each pod at most
     * @param placed whether a pod has GPUs already, there or elsewhere
     */
    public static List<KeptRoom> against(
            String podUid, int priority, Collection<KeptRoom> rooms, Predicate<String> placed) {
        Optional<KeptRoom> own =
                rooms.stream().filter(room -> room.podUid().equals(podUid)).findFirst();
        return rooms.stream()
                .filter(room -> room.priority() >= priority)
                .filter(room -> !room.podUid().equals(podUid))
                .filter(room -> !placed.test(room.podUid()))
                // Made at the same moment by two services, they would wait for each other.
                .filter(room -> own.isEmpty() || !room.yields(own.get()))
                .sorted(Comparator.comparingInt(KeptRoom::priority).reversed())
                .toList();
    }

    private boolean yields(KeptRoom to) {
        return priority == to.priority
                && podUid.compareTo(to.podUid) > 0
                && node.equals(to.node)
                && held.stream()
                        .map(GpuHold::gpu)
                        .anyMatch(gpu -> to.held.stream().anyMatch(it -> it.gpu().equals(gpu)));
    }
}
