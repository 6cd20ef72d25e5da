package io.gpusharing.scheduler.reservation;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Spec;
import io.gpusharing.kubernetes.GpuEviction.Status;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuEvictions;
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
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Writes down for whom others are preempted and who they are, before they are. */
@Component
class RoomKeeper implements RoomMaking {

    private static final Logger log = LoggerFactory.getLogger(RoomKeeper.class);

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
        GpuReservation reservation = reservation(pod, chosen, chosen.keptUntil(clock.instant()));
        // Both at once: each may take as long as kube-scheduler waits.
        CompletableFuture<Boolean> kept =
                beside(() -> {
                    reservation.write(client, Names.SCHEDULER);
                    return true;
                });
        CompletableFuture<Optional<GpuEviction>> planned =
                chosen.victims().isEmpty()
                        ? CompletableFuture.completedFuture(Optional.empty())
                        : beside(() ->
                                Optional.of(
                                        client.resource(eviction(pod, chosen, reservation))
                                                .create()));
        try {
            CompletableFuture.allOf(kept, planned).join();
        } catch (CompletionException e) {
            takeBack(pod, chosen, kept, planned);
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
        // The next question may come before our own watch tells of it.
        gpus.keep(ReservationWatch.room(reservation));
    }

    private static <T> CompletableFuture<T> beside(Supplier<T> work) {
        return CompletableFuture.supplyAsync(work, Thread::startVirtualThread);
    }

    private static GpuReservation reservation(GpuPod pod, Preemption chosen, Instant until) {
        return GpuReservation.of(
                new Waiter(pod.namespace(), pod.name(), pod.uid()),
                pod.priority(),
                Maker.Preemption,
                chosen.node(),
                chosen.placement().held(),
                chosen.victims().stream().map(RunningPod::uid).toList(),
                until);
    }

    private static GpuEviction eviction(GpuPod pod, Preemption chosen, GpuReservation reservation) {
        List<Victim> victims =
                chosen.victims().stream()
                        .map(it ->
                                new Victim(
                                        it.namespace(),
                                        it.name(),
                                        it.uid(),
                                        chosen.node(),
                                        null,
                                        null,
                                        it.gang().equals(it.uid()) ? null : it.gang(),
                                        "its priority is %d, the waiter's %d"
                                                .formatted(it.priority(), pod.priority()),
                                        null,
                                        null))
                        .toList();
        GpuEviction eviction =
                GpuEvictions.of(
                        null,
                        new Spec(
                                Cause.Preemption.name(),
                                chosen.node(),
                                victims,
                                new GpuEviction.Waiter(
                                        pod.namespace(), pod.name(), pod.uid(), null, null, null),
                                reservation.getSpec().until(),
                                null));
        eviction.getMetadata().setGenerateName("preemption-");
        return eviction;
    }

    /**
     * Says of what could be written that nobody goes, beside the answer that kube-scheduler waits
     * for. What cannot be taken back ends by itself: room after its time, and a plan whose victims
     * have remained, too.
     */
    private void takeBack(
            GpuPod pod,
            Preemption chosen,
            CompletableFuture<Boolean> kept,
            CompletableFuture<Optional<GpuEviction>> planned) {
        if (!kept.isCompletedExceptionally()) {
            Instant now = clock.instant();
            Thread.startVirtualThread(() ->
                    bestEffort(() -> reservation(pod, chosen, now).write(client, Names.SCHEDULER)));
        }
        if (!planned.isCompletedExceptionally()) {
            Thread.startVirtualThread(
                    () -> bestEffort(() -> planned.join().ifPresent(this::close)));
        }
    }

    private void close(GpuEviction eviction) {
        eviction.setStatus(
                new Status(
                        Phase.NotDone.name(),
                        null,
                        null,
                        null,
                        "room could not be kept for whom it was",
                        null));
        client.resource(eviction).updateStatus();
    }

    private static void bestEffort(Runnable work) {
        try {
            work.run();
        } catch (KubernetesClientException e) {
            log.atInfo()
                    .addKeyValue("reason", e.getMessage())
                    .log("what was written of a preemption that is off ends by itself");
        }
    }
}
