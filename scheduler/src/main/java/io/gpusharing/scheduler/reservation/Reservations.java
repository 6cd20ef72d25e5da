package io.gpusharing.scheduler.reservation;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuReservation;
import io.gpusharing.kubernetes.GpuReservation.Maker;
import io.gpusharing.kubernetes.UnreadableObjects;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.springframework.stereotype.Component;

/** The room that is kept for pods that wait, as the API server has it. */
@Component
public class Reservations {

    private final KubernetesClient client;
    private final UnreadableObjects unreadable;

    public Reservations(KubernetesClient client, UnreadableObjects unreadable) {
        this.client = client;
        this.unreadable = unreadable;
    }

    /**
     * Keeps room, in place of what was kept for the same pod before.
     *
     * @throws KubernetesClientException if the API server does not take it, or cannot be asked
     */
    public void keep(GpuReservation reservation) {
        reservation.write(client, Names.SCHEDULER);
    }

    /**
     * Keeps no longer what reclaim kept for a plan. What was kept for the same waiter since, by
     * another plan or for preemption, has another end, and stays.
     *
     * @param waiter UID of the pod
     * @param until when that would have ended
     * @throws KubernetesClientException if the API server does not take it, or cannot be asked
     */
    public void release(String waiter, Instant until, Instant now) {
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
        keep(ended);
    }
}
