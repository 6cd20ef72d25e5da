package io.gpusharing.scheduler.evicting;

import static java.net.HttpURLConnection.HTTP_FORBIDDEN;
import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.LeaseSettings;
import io.gpusharing.scheduler.cluster.PodLookup;
import io.gpusharing.scheduler.cluster.PreemptedPods.Preempted;
import io.gpusharing.scheduler.cluster.PromptClient;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds the pod for which a kube-scheduler has preempted another, by the Event that it writes on
 * that one. Whoever may edit a namespace can write such an Event there as well, so it is a hint and
 * no more: the pod that it names counts if it has a higher priority, and the scheduler wants it on
 * the same node, or has bound it there since.
 */
final class Preemptors {

    /** Somebody may have written thousands. */
    private static final long MOST = 10;

    private final KubernetesClient client;
    private final PodLookup pods;

    Preemptors(KubernetesClient client, PodLookup pods) {
        this.client = PromptClient.of(client);
        this.pods = pods;
    }

    /**
     * The pod for which this one went; empty if nothing tells of it.
     *
     * @throws KubernetesClientException if the API server is away
     */
    Optional<Pod> of(Preempted one) {
        return events(one).stream()
                .flatMap(event -> Stream.ofNullable(event.getRelated()))
                .flatMap(related -> find(related).stream())
                .filter(pod -> isWantedThere(pod, one))
                .findFirst();
    }

    private List<Event> events(Preempted one) {
        try {
            return client.v1()
                    .events()
                    .inNamespace(one.pod().namespace())
                    .withField("involvedObject.uid", one.pod().uid())
                    .withField("reason", "Preempted")
                    .list(new ListOptionsBuilder().withLimit(MOST).build())
                    .getItems();
        } catch (KubernetesClientException e) {
            if (e.getCode() == HTTP_FORBIDDEN) {
                return List.of();
            }
            throw e;
        }
    }

    private Optional<Pod> find(ObjectReference related) {
        if (!"Pod".equals(related.getKind()) || related.getUid() == null) {
            return Optional.empty();
        }
        try {
            return pods.find(related.getNamespace(), related.getName(), related.getUid());
        } catch (KubernetesClientException e) {
            throw e;
        } catch (RuntimeException e) {
            // What is no name is no pod's.
            return Optional.empty();
        }
    }

    private static boolean isWantedThere(Pod pod, Preempted one) {
        if (requireNonNullElse(pod.getSpec().getPriority(), 0) <= one.priority()
                || pod.getStatus() == null) {
            return false;
        }
        return pod.getSpec().getNodeName() == null
                ? one.node().equals(pod.getStatus().getNominatedNodeName())
                : one.node().equals(pod.getSpec().getNodeName()) && isBoundSince(pod, one.at());
    }

    private static boolean isBoundSince(Pod pod, Instant then) {
        // Two programs' clocks, which write whole seconds.
        Instant earliest = then.minus(LeaseSettings.SKEW);
        return requireNonNullElse(pod.getStatus().getConditions(), List.<PodCondition>of()).stream()
                .filter(it -> "PodScheduled".equals(it.getType()) && "True".equals(it.getStatus()))
                .map(it -> ApiTime.readPresent(it.getLastTransitionTime()))
                .anyMatch(at -> at != null && !at.isBefore(earliest));
    }
}
