package io.gpusharing.scheduler.cluster;

import static java.net.HttpURLConnection.HTTP_FORBIDDEN;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.pods.DisruptionBudgets;
import io.gpusharing.scheduler.preemption.RunningPods;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Follows the cluster, in every mode and on every replica. Before all its GPUs, pods and
 * reservations have been read once nobody is placed; an API server that is away later changes
 * nothing.
 *
 * <p>Where we may not see PodDisruptionBudgets or {@code GpuNode}s, or the cluster knows none of
 * the latter, they are taken for none by those who plan: the Eviction API honours the former, and
 * the latter are then another provider's nodes.
 */
@Component
class ClusterWatch implements ClusterKnowledge, ClusterSight, SmartLifecycle, HealthIndicator {

    /** The API server speaks every minute. */
    private static final Duration SILENT = Duration.ofMinutes(3);

    private final Clock clock;
    private final GpuNodeWatch gpuNodes;
    private final PodWatch pods;
    private final ReservationWatch reservations;
    private final DisruptionBudgets disruptions;
    private final ObjectInformer<PodDisruptionBudget> budgets;
    private final ObjectInformer<Node> nodes;
    private final ObjectInformer<Namespace> namespaces;
    private final ClusterFollower follower;
    private final List<ObjectInformer<?>> needed;
    private volatile boolean running;

    ClusterWatch(
            KubernetesClient client,
            GpuPodReader reader,
            RunningPodReader runningReader,
            ClusterGpus gpus,
            RefusedStarts refused,
            RunningPods running,
            PreemptedPods preempted,
            ClusterFollower follower,
            DisruptionBudgets disruptions,
            SchedulerName schedulerName,
            UnreadableObjects unreadable,
            Clock clock) {
        this.clock = clock;
        this.follower = follower;
        this.gpuNodes = new GpuNodeWatch(client, gpus, refused, unreadable);
        this.pods =
                new PodWatch(
                        client,
                        reader,
                        runningReader,
                        gpus,
                        running,
                        follower.pods().and(preempted),
                        schedulerName,
                        unreadable,
                        clock);
        this.reservations = new ReservationWatch(client, gpus, unreadable, clock);
        this.disruptions = disruptions;
        this.budgets =
                new ObjectInformer<>(
                        "poddisruptionbudgets",
                        client.policy().v1().podDisruptionBudget().inAnyNamespace(),
                        unreadable);
        this.nodes = new ObjectInformer<>("nodes", client.nodes(), unreadable);
        this.namespaces = new ObjectInformer<>("namespaces", client.namespaces(), unreadable);
        this.needed =
                Stream.concat(
                                Stream.of(gpuNodes.informer(), reservations.informer()),
                                pods.informers().stream())
                        .toList();
    }

    /** Whatever is followed. */
    List<ObjectInformer<?>> informers() {
        return Stream.concat(needed.stream(), Stream.of(budgets, nodes, namespaces)).toList();
    }

    @Override
    public boolean isKnown() {
        return needed.stream().allMatch(ObjectInformer::hasSynced);
    }

    @Override
    public Optional<String> whyUnseen() {
        Instant now = clock.instant();
        return informers().stream().flatMap(it -> whyUnseen(it, now).stream()).findFirst();
    }

    private Optional<String> whyUnseen(ObjectInformer<?> informer, Instant now) {
        if (!informer.hasSynced()) {
            return isNone(informer)
                    ? Optional.empty()
                    : Optional.of(informer.plural() + " have not been listed yet");
        }
        return informer.silence(now).compareTo(SILENT) > 0
                ? Optional.of(
                        "the API server has said nothing of %s for minutes"
                                .formatted(informer.plural()))
                : Optional.empty();
    }

    private boolean isNone(ObjectInformer<?> informer) {
        return (informer == budgets && informer.isRefused(HTTP_FORBIDDEN))
                || (informer == gpuNodes.informer()
                        && informer.isRefused(HTTP_FORBIDDEN, HTTP_NOT_FOUND));
    }

    @Override
    public void start() {
        running = true;
        gpuNodes.start(follower.gpuNodes());
        pods.start();
        reservations.start(follower.reservations());
        budgets.start(disruptions);
        nodes.start(new Stripping());
        namespaces.start(follower.namespaces());
    }

    /** Has a node read, and remembers no more of it than who it is. */
    private final class Stripping implements ObjectInformer.Handler<Node> {

        @Override
        public void onUpdate(Node node) {
            // One that was listed anew and has not changed was read before.
            if (node.getSpec() == null && node.getStatus() == null) {
                return;
            }
            follower.nodes().onUpdate(node);
            node.setMetadata(LeanObjects.identity(node.getMetadata()));
            node.setSpec(null);
            node.setStatus(null);
        }

        @Override
        public void onDelete(Node node) {
            follower.nodes().onDelete(node);
        }
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
