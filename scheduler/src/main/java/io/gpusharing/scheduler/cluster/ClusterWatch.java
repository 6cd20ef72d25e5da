package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.preemption.RunningPods;
import java.time.Clock;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Follows the cluster. Before all its GPUs, pods and reservations have been read once nobody is
 * placed; an API server that is away later changes nothing.
 */
@Component
class ClusterWatch implements ClusterKnowledge, SmartLifecycle, HealthIndicator {

    private final GpuNodeWatch nodes;
    private final PodWatch pods;
    private final ReservationWatch reservations;
    private final DisruptionBudgetWatch budgets;
    private final List<ObjectInformer<?>> needed;
    private volatile boolean running;

    ClusterWatch(
            KubernetesClient client,
            GpuPodReader reader,
            RunningPodReader runningReader,
            ClusterGpus gpus,
            RefusedStarts refused,
            RunningPods running,
            UnschedulablePods waiting,
            DisruptionBudgetWatch budgets,
            SchedulerName schedulerName,
            UnreadableObjects unreadable,
            Clock clock) {
        this.nodes = new GpuNodeWatch(client, gpus, refused, unreadable);
        this.pods =
                new PodWatch(
                        client,
                        reader,
                        runningReader,
                        gpus,
                        running,
                        waiting,
                        schedulerName,
                        unreadable,
                        clock);
        this.reservations = new ReservationWatch(client, gpus, unreadable, clock);
        this.budgets = budgets;
        this.needed =
                Stream.concat(
                                Stream.of(nodes.informer(), reservations.informer()),
                                pods.informers().stream())
                        .toList();
    }

    /** Whatever is followed. */
    List<ObjectInformer<?>> informers() {
        return Stream.concat(needed.stream(), Stream.of(budgets.informer())).toList();
    }

    @Override
    public boolean isKnown() {
        return needed.stream().allMatch(ObjectInformer::hasSynced);
    }

    @Override
    public void start() {
        running = true;
        nodes.start();
        pods.start();
        reservations.start();
        budgets.start();
    }

    @Override
    public void stop() {
        running = false;
        informers().forEach(ObjectInformer::close);
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public Health health() {
        return isKnown()
                ? Health.up().build()
                : Health.down()
                        .withDetail(
                                "reason", "GPUs, pods and reservations have not been listed yet")
                        .build();
    }
}
