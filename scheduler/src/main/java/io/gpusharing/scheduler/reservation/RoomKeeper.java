package io.gpusharing.scheduler.reservation;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuReservation;
import io.gpusharing.kubernetes.GpuReservation.Maker;
import io.gpusharing.kubernetes.GpuReservation.Waiter;
import io.gpusharing.scheduler.cluster.PromptClient;
import io.gpusharing.scheduler.cluster.ReservationWatch;
import io.gpusharing.scheduler.extender.RoomMaking;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.preemption.Preemption;
import io.gpusharing.scheduler.preemption.RunningPod;
import java.time.Clock;
import java.time.Duration;
import org.springframework.stereotype.Component;

/** Writes down for whom others are preempted, before they are. */
@Component
class RoomKeeper implements RoomMaking {

    /** kube-scheduler waits for it. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private final KubernetesClient client;
    private final ClusterGpus gpus;
    private final Clock clock;

    RoomKeeper(KubernetesClient client, ClusterGpus gpus, Clock clock) {
        this.client = PromptClient.of(client, PATIENCE);
        this.gpus = gpus;
        this.clock = clock;
    }

    @Override
    public void keep(GpuPod pod, Preemption chosen) {
        GpuReservation reservation =
                GpuReservation.of(
                        new Waiter(pod.namespace(), pod.name(), pod.uid()),
                        pod.priority(),
                        Maker.Preemption,
                        chosen.node(),
                        chosen.placement().held(),
                        chosen.victims().stream().map(RunningPod::uid).toList(),
                        chosen.keptUntil(clock.instant()));
        reservation.write(client, Names.SCHEDULER);
        // The next question may come before our own watch tells of it.
        gpus.keep(ReservationWatch.room(reservation));
    }
}
