package io.gpusharing.scheduler.waiting;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.scheduler.cluster.ClusterKnowledge;
import io.gpusharing.scheduler.cluster.PromptClient;
import io.gpusharing.scheduler.picture.PodRef;
import java.time.Clock;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;

/** Looks at the pods that wait, and tells those of which something holds, by one Event each. */
abstract class ToldOnce {

    private static final Logger log = LoggerFactory.getLogger(ToldOnce.class);

    /** At once; the others' turn comes at the next look. */
    private static final int MOST = 20;

    private final Events events;
    private final String id;
    private final ClusterKnowledge cluster;
    private final Rounds looking;
    private final Clock clock;
    private final Set<PodRef> told = new HashSet<>();

    /**
     * @param id begins the Events' names; lower-case letters and hyphens
     */
    ToldOnce(
            KubernetesClient client,
            String id,
            ClusterKnowledge cluster,
            Rounds looking,
            Clock clock) {
        this.events = new Events(PromptClient.of(client), Names.SCHEDULER);
        this.id = id;
        this.cluster = cluster;
        this.looking = looking;
        this.clock = clock;
    }

    /** What is to be said of each pod of which it holds now. */
    abstract Map<PodRef, Text> texts(Instant now);

    @Scheduled(fixedDelay = 10_000)
    void look() {
        looking.run(() -> {
            if (cluster.isKnown()) {
                Instant now = clock.instant();
                tell(texts(now), now);
            }
        });
    }

    /** Tells those that were not told yet; of others it does not hold any more. */
    private void tell(Map<PodRef, Text> texts, Instant now) {
        told.retainAll(texts.keySet());
        texts.entrySet().stream()
                .filter(it -> !told.contains(it.getKey()))
                .limit(MOST)
                .forEach(it -> tell(it.getKey(), it.getValue(), now));
    }

    private void tell(PodRef pod, Text text, Instant now) {
        told.add(pod);
        try {
            // One that was made anew has the same name.
            events.write(
                    Events.pod(pod.namespace(), pod.name(), pod.uid()),
                    "%s-%08x".formatted(id, pod.uid().hashCode()),
                    text,
                    now);
        } catch (KubernetesClientException e) {
            log.atWarn()
                    .addKeyValue("pod", pod)
                    .addKeyValue("about", text.reason())
                    .addKeyValue("reason", e.getMessage())
                    .log("cannot write an Event about a pod that waits");
        }
    }
}
