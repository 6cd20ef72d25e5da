package io.gpusharing.scheduler.reservation;

import static java.net.HttpURLConnection.HTTP_CONFLICT;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuReservation;
import io.gpusharing.kubernetes.GpuReservation.Maker;
import io.gpusharing.kubernetes.UnreadableObjects;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
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
     * Keeps room, in place of what is kept for the same pod now. A leader may stand still before
     * this, or in the middle of it, while another one takes over: what that one keeps then is not
     * overwritten.
     *
     * @param leads whether the caller still leads; asked once it is known what is kept now, so that
     *     this was written before another one led
     * @return false if the caller leads no more, or somebody has written for that pod meanwhile
     * @throws KubernetesClientException if the API server does not take it, or cannot be asked
     */
    public boolean keep(GpuReservation reservation, BooleanSupplier leads) {
        GpuReservation kept = find(reservation.getMetadata().getName());
        return leads.getAsBoolean() && replace(kept, reservation);
    }

    private @Nullable GpuReservation find(String pod) {
        return client.resources(GpuReservation.class).withName(pod).get();
    }

    /** Returns false if that is not what is kept any more. */
    private boolean replace(@Nullable GpuReservation kept, GpuReservation reservation) {
        try {
            if (kept == null) {
                client.resource(reservation).create();
            } else {
                String version = kept.getMetadata().getResourceVersion();
                reservation.getMetadata().setResourceVersion(version);
                reservation.write(client, Names.SCHEDULER);
            }
            return true;
        } catch (KubernetesClientException e) {
            if (e.getCode() == HTTP_CONFLICT) {
                return false;
            }
            throw e;
        }
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
        GpuReservation kept = find(waiter);
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
        var _ = replace(kept, ended);
    }
}
