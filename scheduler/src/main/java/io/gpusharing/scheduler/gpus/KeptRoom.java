package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.GpuHold;
import java.time.Instant;
import java.util.List;

/**
 * Room that was made for a pod by ending others, and that it has not taken yet.
 *
 * @param priority of the pod: only those of a higher one may have the room
 * @param held what the pod will hold of which GPU
 * @param until when others get it
 */
public record KeptRoom(
        String podUid, int priority, String node, List<GpuHold> held, Instant until) {

    public KeptRoom {
        held = List.copyOf(held);
    }
}
