package io.gpusharing.timekeeper.reclaim;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuReservation;
import io.gpusharing.kubernetes.GpuReservation.Maker;
import io.gpusharing.kubernetes.GpuReservation.Waiter;
import io.gpusharing.kubernetes.StreamedList;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.snapshot.PodRef;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.stereotype.Component;

/**
 * Has our scheduler keep the room for whom others are evicted: it would give it to whoever comes
 * first.
 */
@Component
class Reservations {

    private final KubernetesClient client;
    private final UnreadableObjects unreadable;
    private final ReclaimProperties properties;

    Reservations(
            KubernetesClient client, UnreadableObjects unreadable, ReclaimProperties properties) {
        this.client = client;
        this.unreadable = unreadable;
        this.properties = properties;
    }

    /**
     * All that are kept for these pods, by node. Of others the scheduler has not deleted them yet.
     *
     * @param waiting UIDs of all pods that wait
     */
    Map<String, List<KeptRoom>> kept(Set<String> waiting, Instant now) {
        if (!properties.reserve()) {
            return Map.of();
        }
        var kept = new HashMap<String, List<KeptRoom>>();
        // One that cannot be read keeps nothing: nobody knows what, where and for whom.
        StreamedList.of(client, GpuReservation.class)
                .forEach(reservation ->
                        unreadable
                                .read(reservation, Reservations::room)
                                .filter(room -> now.isBefore(room.until()))
                                .filter(room -> waiting.contains(room.podUid()))
                                .ifPresent(room ->
                                        kept.computeIfAbsent(room.node(), node -> new ArrayList<>())
                                                .add(room)));
        return kept;
    }

    private static KeptRoom room(GpuReservation reservation) {
        GpuReservation.Spec spec = reservation.getSpec();
        return new KeptRoom(
                spec.pod().uid(),
                spec.priority(),
                spec.node(),
                reservation.held(),
                reservation.victims(),
                reservation.until());
    }

    /** Keeps the GPUs of a plan, until the waiter should have been bound. */
    void keep(Evict plan, Instant now) {
        write(plan, now.plus(plan.grace(properties.maxGrace())).plus(properties.settle()));
    }

    /** Keeps them no longer. */
    void release(Evict plan, Instant now) {
        write(plan, now);
    }

    private void write(Evict plan, Instant until) {
        if (!properties.reserve() || plan.gpus().isEmpty()) {
            return;
        }
        PodRef pod = plan.waiter().pod();
        GpuReservation.of(
                        new Waiter(pod.namespace(), pod.name(), pod.uid()),
                        plan.waiter().priority(),
                        Maker.Reclaim,
                        plan.node(),
                        plan.gpus(),
                        plan.victimUids(),
                        until)
                .write(client, Names.TIMEKEEPER);
    }
}
