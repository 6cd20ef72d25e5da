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
import io.gpusharing.scheduler.evicting.EvictionWatch;
import io.gpusharing.scheduler.extender.RoomMaking;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.preemption.Preemption;
import io.gpusharing.scheduler.preemption.RunningPod;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Writes down for whom others are preempted and who they are, before they are. */
@Component
class RoomKeeper implements RoomMaking {

    private static final Logger log = LoggerFactory.getLogger(RoomKeeper.class);

    /** kube-scheduler waits for it. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    /** In which it deletes pods when it is answered. */
    private static final Duration PROMPTLY = Duration.ofSeconds(10);

    private final KubernetesClient client;
    private final ClusterGpus gpus;
    private final EvictionWatch evictions;
    private final Clock clock;

    /** Names of plans that are off, though the watch may not show it yet, and when each ends. */
    private final Map<String, Instant> off = new ConcurrentHashMap<>();

    RoomKeeper(KubernetesClient client, ClusterGpus gpus, EvictionWatch evictions, Clock clock) {
        this.client = PromptClient.of(client, PATIENCE);
        this.gpus = gpus;
        this.evictions = evictions;
        this.clock = clock;
    }

    @Override
    public void keep(GpuPod pod, Preemption chosen) {
        GpuReservation reservation = reservation(pod, chosen, chosen.keptUntil(clock.instant()));
        // Both at once: each may take as long as kube-scheduler waits.
        CompletableFuture<Void> kept =
                CompletableFuture.runAsync(
                        () -> reservation.write(client, Names.SCHEDULER),
                        Thread::startVirtualThread);
        CompletableFuture<Optional<GpuEviction>> planned =
                CompletableFuture.supplyAsync(
                        () -> plan(pod, chosen, reservation), Thread::startVirtualThread);
        try {
            CompletableFuture.allOf(kept, planned).join();
        } catch (CompletionException e) {
            takeBack(pod, chosen, kept, planned);
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
        // The next question may come before our own watch tells of it.
        gpus.keep(ReservationWatch.room(reservation));
    }

    /** Writes the plan; empty if nobody goes, or by one that is written already. */
    private Optional<GpuEviction> plan(GpuPod pod, Preemption chosen, GpuReservation reservation) {
        return chosen.victims().isEmpty() || isPlanned(pod, chosen)
                ? Optional.empty()
                : Optional.of(client.resource(eviction(pod, chosen, reservation)).create());
    }

    /**
     * Whether kube-scheduler asks again while the victims go. A plan that ends before it could
     * delete them is of no use.
     */
    private boolean isPlanned(GpuPod pod, Preemption chosen) {
        Set<String> going =
                chosen.victims().stream().map(RunningPod::uid).collect(Collectors.toSet());
        Instant soon = clock.instant().plus(PROMPTLY);
        return evictions.all().stream()
                .filter(it -> it.cause() == Cause.Preemption && it.phase() == Phase.Asked)
                .filter(it -> !it.isLate(soon) && !off.containsKey(it.name()))
                .filter(it ->
                        it.waiter().filter(waiter -> waiter.uid().equals(pod.uid())).isPresent())
                .anyMatch(it ->
                        it.victims().stream()
                                .map(Victim::uid)
                                .collect(Collectors.toSet())
                                .containsAll(going));
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
                                        name(it.payer()),
                                        it.payer() == null ? null : it.payer().standing().word(),
                                        it.gang().equals(it.uid()) ? null : it.gang(),
                                        why(pod, chosen, it),
                                        null,
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
                                        pod.namespace(),
                                        pod.name(),
                                        pod.uid(),
                                        name(chosen.payer()),
                                        null,
                                        null),
                                reservation.getSpec().until(),
                                null));
        eviction.getMetadata().setGenerateName("preemption-");
        return eviction;
    }

    private static @Nullable String name(@Nullable BudgetAccount payer) {
        return payer == null ? null : payer.name();
    }

    private static String why(GpuPod pod, Preemption chosen, RunningPod victim) {
        return "its priority counts for %d, the waiter's for %d; its budget is %s, the waiter's %s"
                .formatted(
                        victim.priority(),
                        pod.priority(),
                        standing(victim.payer()),
                        standing(chosen.payer()));
    }

    private static String standing(@Nullable BudgetAccount payer) {
        return payer == null ? "unlimited" : payer.standing().word();
    }

    /**
     * Says of what could be written that nobody goes, beside the answer that kube-scheduler waits
     * for. What cannot be taken back ends by itself: room after its time, and a plan whose victims
     * have remained, too.
     */
    private void takeBack(
            GpuPod pod,
            Preemption chosen,
            CompletableFuture<Void> kept,
            CompletableFuture<Optional<GpuEviction>> planned) {
        if (!kept.isCompletedExceptionally()) {
            Instant now = clock.instant();
            Thread.startVirtualThread(() ->
                    bestEffort(() -> reservation(pod, chosen, now).write(client, Names.SCHEDULER)));
        }
        if (!planned.isCompletedExceptionally()) {
            planned.join()
                    .ifPresent(it -> {
                        callOff(it.getMetadata().getName(), chosen);
                        Thread.startVirtualThread(() -> bestEffort(() -> close(it)));
                    });
        }
    }

    private void callOff(String plan, Preemption chosen) {
        Instant now = clock.instant();
        off.values().removeIf(now::isAfter);
        off.put(plan, chosen.keptUntil(now));
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
