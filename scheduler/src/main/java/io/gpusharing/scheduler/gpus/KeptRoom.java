package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.GpuHold;
import java.time.Instant;
import java.util.List;
import java.util.Set;

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
}
