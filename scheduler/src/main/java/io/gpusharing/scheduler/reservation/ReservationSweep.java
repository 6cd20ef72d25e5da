package io.gpusharing.scheduler.reservation;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuReservation;
import io.gpusharing.kubernetes.GpuReservation.Waiter;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.cluster.PromptClient;
import io.gpusharing.web.Parts;
import java.time.Clock;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Deletes reservations whose pod is bound or gone, and those that are late. Every replica does, and
 * asks the API server about the pod before: what a watch does not show may only be late.
 */
@Component
class ReservationSweep {

    private static final Logger log = LoggerFactory.getLogger(ReservationSweep.class);

    private final KubernetesClient client;
    private final UnreadableObjects unreadable;
    private final Clock clock;
    private final Rounds sweeping;

    ReservationSweep(
            KubernetesClient client, UnreadableObjects unreadable, Parts parts, Clock clock) {
        this.client = PromptClient.of(client);
        this.unreadable = unreadable;
        this.sweeping = parts.part("sweeping");
        this.clock = clock;
    }

    @Scheduled(fixedDelay = 5_000)
    void sweep() {
        sweeping.run(this::sweepAll);
    }

    private void sweepAll() {
        Instant now = clock.instant();
        try {
            client.resources(GpuReservation.class)
                    .list()
                    .getItems()
                    .forEach(reservation -> sweep(reservation, now));
        } catch (KubernetesClientException e) {
            failed(e);
        }
    }

    /** One that cannot be read keeps nothing from anybody, and stays to be looked at. */
    private void sweep(GpuReservation reservation, Instant now) {
        try {
            if (unreadable.read(reservation, it -> isOver(it, now)).orElse(false)) {
                // Unless it was written anew since.
                client.resource(reservation)
                        .lockResourceVersion(reservation.getMetadata().getResourceVersion())
                        .delete();
            }
        } catch (KubernetesClientException e) {
            failed(e);
        }
    }

    private boolean isOver(GpuReservation reservation, Instant now) {
        return !now.isBefore(reservation.until()) || !waits(reservation.getSpec().pod());
    }

    private static void failed(KubernetesClientException problem) {
        log.atWarn()
                .addKeyValue("reason", problem.getMessage())
                .log("cannot delete reservations that are over; trying again");
    }

    private boolean waits(Waiter waiter) {
        Pod pod = client.pods().inNamespace(waiter.namespace()).withName(waiter.name()).get();
        return pod != null
                && pod.getMetadata().getUid().equals(waiter.uid())
                && pod.getMetadata().getDeletionTimestamp() == null
                && pod.getSpec().getNodeName() == null;
    }
}
