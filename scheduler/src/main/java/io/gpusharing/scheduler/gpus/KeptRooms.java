package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.GpuHold;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** The room that is kept for all pods. Belongs to one thread at a time. */
final class KeptRooms {

    private final Map<String, KeptRoom> byPod = new HashMap<>();

    /** In place of what was kept for the same pod. */
    void put(KeptRoom room) {
        byPod.put(room.podUid(), room);
    }

    /** Whether there was any. */
    boolean remove(String podUid) {
        return byPod.remove(podUid) != null;
    }

    /** Whether any was late. */
    boolean expire(Instant now) {
        return byPod.values().removeIf(room -> !now.isBefore(room.until()));
    }

    /**
     * What others of its priority or a higher one will hold, by node and then by their UID.
     *
     * @param placed whether a pod has GPUs already, there or elsewhere
     */
    Map<String, Map<String, List<GpuHold>>> against(
            String podUid, int priority, Predicate<String> placed) {
        var byNode = new HashMap<String, Map<String, List<GpuHold>>>();
        for (KeptRoom room : byPod.values()) {
            if (room.priority() >= priority
                    && !room.podUid().equals(podUid)
                    && !placed.test(room.podUid())) {
                byNode.computeIfAbsent(room.node(), node -> new HashMap<>())
                        .put(room.podUid(), room.held());
            }
        }
        return byNode;
    }
}
