package io.gpusharing.scheduler.reservation;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuReservation;
import io.gpusharing.kubernetes.GpuReservation.Waiter;
import io.gpusharing.scheduler.cluster.PromptClient;
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
    private final Clock clock;

    ReservationSweep(KubernetesClient client, Clock clock) {
        this.client = PromptClient.of(client);
        this.clock = clock;
    }

    @Scheduled(fixedDelay = 5_000)
    void sweep() {
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

    private void sweep(GpuReservation reservation, Instant now) {
        try {
            if (!now.isBefore(reservation.until()) || !waits(reservation.getSpec().pod())) {
                // Unless it was written anew since.
                client.resource(reservation)
                        .lockResourceVersion(reservation.getMetadata().getResourceVersion())
                        .delete();
            }
        } catch (KubernetesClientException e) {
            failed(e);
        }
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
