package io.gpusharing.scheduler.waiting;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.scheduler.cluster.ClusterKnowledge;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.picture.reading.KnownCluster;
import io.gpusharing.web.Parts;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.springframework.stereotype.Component;

/**
 * Tells pods that wait for GPUs of ours, and for a scheduler that knows of these no more than their
 * sum: they were admitted before our scheduler was given such pods, and cannot change to it.
 */
@Component
final class MisdirectedPods extends ToldOnce {

    /** Most pods that are not placed at once are placed by then. */
    static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final Text TEXT =
            new Text(
                    Events.Type.Warning,
                    "WaitsForAnotherScheduler",
                    "Placing",
                    "It was admitted before GPUSharing's scheduler was given such pods, and waits for the cluster's own, which sees the GPUs of a node as one sum: that one may bind it where no single GPU has room, and then it cannot start and is evicted. A pod keeps its scheduler: delete it, and its controller makes one anew that ours places; create one without a controller again yourself");

    private final KnownCluster known;

    MisdirectedPods(
            KubernetesClient client,
            ClusterKnowledge cluster,
            KnownCluster known,
            Parts parts,
            Clock clock) {
        super(client, "another-scheduler", cluster, parts.part("misdirected"), clock);
        this.known = known;
    }

    @Override
    Map<PodRef, Text> texts(Instant now) {
        Map<PodRef, Text> texts = new HashMap<>();
        known.misdirected(now.minus(PATIENCE)).forEach(pod -> texts.put(pod, TEXT));
        return texts;
    }
}
