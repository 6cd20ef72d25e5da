package io.gpusharing.scheduler.gpus;

import static java.util.stream.Collectors.groupingBy;

import io.gpusharing.placement.KeptRoom;
import io.gpusharing.wire.GpuHold;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The room that is kept for all pods. Belongs to one thread at a time. */
final class KeptRooms {

    private final Map<String, KeptRoom> byPod = new TreeMap<>();
    private final Map<RoomEnd, Long> ended = new EnumMap<>(RoomEnd.class);

    /** In place of what was kept for the same pod. */
    void put(KeptRoom room) {
        byPod.put(room.podUid(), room);
    }

    Optional<KeptRoom> of(String podUid) {
        return Optional.ofNullable(byPod.get(podUid));
    }

    /** The first GPU that is kept for the first of these pods; null if none is. */
    @Nullable String firstGpu(List<String> pods) {
        return pods.stream()
                .flatMap(uid -> of(uid).stream())
                .flatMap(room -> room.held().stream())
                .map(GpuHold::gpu)
                .findFirst()
                .orElse(null);
    }

    /** Whether there was any. */
    boolean remove(String podUid, RoomEnd how) {
        boolean found = byPod.remove(podUid) != null;
        if (found) {
            ended.merge(how, 1L, Long::sum);
        }
        return found;
    }

    /** Whether any was late. */
    boolean expire(Instant now) {
        int before = byPod.size();
        byPod.values().removeIf(room -> !now.isBefore(room.until()));
        ended.merge(RoomEnd.Late, (long) before - byPod.size(), Long::sum);
        return byPod.size() < before;
    }

    int size() {
        return byPod.size();
    }

    /** How many have ended so. */
    long ended(RoomEnd how) {
        return ended.getOrDefault(how, 0L);
    }

    /**
     * What others of its priority or a higher one will hold, by node, the most important first.
     *
     * @param placed whether a pod has GPUs already, there or elsewhere
     */
    Map<String, List<KeptRoom>> against(String podUid, int priority, Predicate<String> placed) {
        return KeptRoom.against(podUid, priority, byPod.values(), placed).stream()
                .collect(groupingBy(KeptRoom::node));
    }
}
