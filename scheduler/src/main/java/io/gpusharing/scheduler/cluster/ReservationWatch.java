package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.GpuReservation;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import java.time.Clock;

/** Follows the room that was made, by this replica or another. */
public final class ReservationWatch implements ObjectInformer.Handler<GpuReservation> {

    private final Clock clock;
    private final ClusterGpus gpus;
    private final ObjectInformer<GpuReservation> informer;

    ReservationWatch(
            KubernetesClient client, ClusterGpus gpus, UnreadableObjects unreadable, Clock clock) {
        this.clock = clock;
        this.gpus = gpus;
        this.informer =
                new ObjectInformer<>(
                        "gpureservations", client.resources(GpuReservation.class), unreadable);
    }

    /**
     * One that cannot be read keeps nothing: how much, of which GPU and until when nobody knows,
     * and a whole node would be kept for ever. What it kept before it keeps until the end of that.
     */
    @Override
    public void onUpdate(GpuReservation reservation) {
        if (!clock.instant().isBefore(reservation.until())) {
            // Nobody went for it after all.
            gpus.stopKeeping(reservation.getSpec().pod().uid());
            return;
        }
        gpus.keep(room(reservation));
    }

    /** What it keeps. */
    public static KeptRoom room(GpuReservation reservation) {
        return new KeptRoom(
                reservation.getSpec().pod().uid(),
                reservation.getSpec().priority(),
                reservation.getSpec().node(),
                reservation.held(),
                reservation.victims(),
                reservation.until());
    }

    @Override
    public void onDelete(GpuReservation reservation) {
        // Its pod's UID, also of one of which nothing else can be read.
        gpus.stopKeeping(reservation.getMetadata().getName());
    }

    ObjectInformer<GpuReservation> informer() {
        return informer;
    }

    void start(ObjectInformer.Handler<GpuReservation> follower) {
        informer.start(and(follower));
    }
}
