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
import java.time.temporal.ChronoUnit;
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

    /** Keeps the GPUs of a plan for the waiter. */
    void keep(Evict plan, Instant until) {
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

    /**
     * Keeps no longer what was kept for a plan. What was kept for the same waiter since, by another
     * plan or for preemption, has another end, and stays.
     *
     * @param waiter UID of the pod
     * @param until when that would have ended
     */
    void release(String waiter, Instant until, Instant now) {
        if (!properties.reserve()) {
            return;
        }
        GpuReservation kept = client.resources(GpuReservation.class).withName(waiter).get();
        if (kept != null) {
            unreadable.handOver(kept, it -> end(it, until, now));
        }
    }

    private void end(GpuReservation kept, Instant until, Instant now) {
        GpuReservation.Spec spec = kept.getSpec();
        if (!Maker.Reclaim.name().equals(spec.madeBy())
                || !kept.until().equals(until.truncatedTo(ChronoUnit.SECONDS))) {
            return;
        }
        GpuReservation ended =
                GpuReservation.of(
                        spec.pod(),
                        spec.priority(),
                        Maker.Reclaim,
                        spec.node(),
                        kept.held(),
                        kept.victims(),
                        now);
        // If somebody writes another one meanwhile, that one stays.
        ended.getMetadata().setResourceVersion(kept.getMetadata().getResourceVersion());
        ended.write(client, Names.TIMEKEEPER);
    }
}
