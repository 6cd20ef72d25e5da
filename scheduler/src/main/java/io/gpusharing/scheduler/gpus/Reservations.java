package io.gpusharing.scheduler.gpus;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Who has GPUs and is not bound yet, as far as is known. Belongs to one thread at a time. */
final class Reservations {

    private final Map<String, Reservation> byPod = new HashMap<>();

    /**
     * GPUs that are kept for a pod between the choice of its node and its binding.
     *
     * @param claimed whether a request to bind it with them may be under way: then it gets no
     *     others
     * @param until when they are given to others; null as long as that request takes
     */
    private record Reservation(Placement placement, boolean claimed, @Nullable Instant until) {}

    void put(String podUid, Placement placement, boolean claimed, @Nullable Instant until) {
        byPod.put(podUid, new Reservation(placement, claimed, until));
    }

    boolean has(String podUid) {
        return byPod.containsKey(podUid);
    }

    /** What was reserved for a pod. */
    Optional<Placement> remove(String podUid) {
        return Optional.ofNullable(byPod.remove(podUid)).map(Reservation::placement);
    }

    /** What is reserved for it on this node. */
    Optional<Placement> on(String podUid, String node) {
        return Optional.ofNullable(byPod.get(podUid))
                .map(Reservation::placement)
                .filter(placement -> placement.node().equals(node));
    }

    /** Where anything is reserved for it; null if nothing is. */
    @Nullable String node(String podUid) {
        Reservation reservation = byPod.get(podUid);
        return reservation == null ? null : reservation.placement().node();
    }

    /** The node to which it may be bound at this moment. */
    Optional<String> claimedOn(String podUid) {
        return Optional.ofNullable(byPod.get(podUid))
                .filter(Reservation::claimed)
                .map(reservation -> reservation.placement().node());
    }

    /** Whether it was bound is not known. */
    void doubt(String podUid, Instant until) {
        byPod.computeIfPresent(
                podUid,
                (uid, reservation) -> new Reservation(reservation.placement(), true, until));
    }

    /** Pods that were not bound in time. */
    List<String> late(Instant now) {
        return byPod.entrySet().stream()
                .filter(entry -> {
                    Instant until = entry.getValue().until();
                    return until != null && !now.isBefore(until);
                })
                .map(Map.Entry::getKey)
                .toList();
    }
}
