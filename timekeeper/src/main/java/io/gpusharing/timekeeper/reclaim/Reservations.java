package io.gpusharing.timekeeper.reclaim;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuReservation;
import io.gpusharing.kubernetes.GpuReservation.Maker;
import io.gpusharing.kubernetes.GpuReservation.Waiter;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.snapshot.PodRef;
import java.time.Instant;
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
    private final ReclaimProperties properties;

    Reservations(KubernetesClient client, ReclaimProperties properties) {
        this.client = client;
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
        return client.resources(GpuReservation.class).list().getItems().stream()
                .filter(it -> now.isBefore(it.until()))
                .filter(it -> waiting.contains(it.getSpec().pod().uid()))
                .collect(
                        groupingBy(
                                it -> it.getSpec().node(),
                                mapping(
                                        it ->
                                                new KeptRoom(
                                                        it.getSpec().pod().uid(),
                                                        it.getSpec().priority(),
                                                        it.getSpec().node(),
                                                        it.held(),
                                                        it.victims(),
                                                        it.until()),
                                        toList())));
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
