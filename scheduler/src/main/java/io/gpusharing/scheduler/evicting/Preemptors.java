package io.gpusharing.scheduler.evicting;

import static java.net.HttpURLConnection.HTTP_FORBIDDEN;
import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.LeaseSettings;
import io.gpusharing.scheduler.cluster.NodeFields;
import io.gpusharing.scheduler.cluster.PreemptedPods.Preempted;
import io.gpusharing.scheduler.cluster.PromptClient;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds the pod for which a kube-scheduler has preempted another, by the Event that it writes on
 * that one, whose message has the pod's UID. Whoever may edit a namespace can write such an Event
 * there as well, so it is a hint and no more: the pod that it names counts if it has a higher
 * priority, and the scheduler wants it on the same node, or has bound it there since.
 */
final class Preemptors {

    /** Somebody may have written thousands. */
    private static final long MOST = 10;

    /** "Preempted by pod UID on node NODE", as of Kubernetes 1.36. */
    private static final Pattern UID =
            Pattern.compile("\\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\\b");

    private final KubernetesClient client;

    Preemptors(KubernetesClient client) {
        this.client = PromptClient.of(client);
    }

    /**
     * The pod for which this one went; empty if nothing tells of it.
     *
     * @throws KubernetesClientException if the API server is away
     */
    Optional<Pod> of(Preempted one) {
        Set<String> named =
                events(one).stream()
                        .flatMap(it -> Stream.ofNullable(it.getMessage()))
                        .flatMap(it -> UID.matcher(it).results().map(MatchResult::group))
                        .collect(toSet());
        if (named.isEmpty()) {
            return Optional.empty();
        }
        var found = new ArrayList<Pod>();
        NodeFields.forEach(
                client,
                one.node(),
                pod -> {
                    if (named.contains(pod.getMetadata().getUid()) && isWantedThere(pod, one)) {
                        found.add(pod);
                    }
                });
        return found.stream().findFirst();
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
