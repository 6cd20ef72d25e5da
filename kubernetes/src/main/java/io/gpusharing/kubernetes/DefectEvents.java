package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.Events.Text;
import java.time.Clock;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes an Event about our own pod when a part of it begins to fail. There is one for each part
 * for as long as the API server keeps Events, an hour by default.
 */
public final class DefectEvents {

    private static final Logger log = LoggerFactory.getLogger(DefectEvents.class);

    private final KubernetesClient client;
    private final Events events;
    private final String namespace;
    private final String pod;
    private final Executor executor;
    private final Clock clock;

    /**
     * @param component who writes them, for instance {@code gpusharing-timekeeper}
     * @param namespace our own
     * @param pod our own; where we run outside of the cluster there is none of that name
     * @param executor writes them: who fails has no time to wait for the API server
     */
    public DefectEvents(
            KubernetesClient client,
            String component,
            String namespace,
            String pod,
            Executor executor,
            Clock clock) {
        this.client = client;
        this.events = new Events(client, component);
        this.namespace = namespace;
        this.pod = pod;
        this.executor = executor;
        this.clock = clock;
    }

    /** Writes one whenever a part begins to fail. */
    public void follow(Rounds rounds) {
        rounds.onDefect(() -> executor.execute(() -> write(rounds.part())));
    }

    private void write(String part) {
        try {
            Pod own = client.pods().inNamespace(namespace).withName(pod).get();
            if (own != null) {
                events.write(
                        Events.pod(namespace, pod, own.getMetadata().getUid()),
                        "failing-" + part,
                        new Text(
                                Events.Type.Warning,
                                "PartFailing",
                                "Work",
                                "Two rounds of %s in a row have failed; the log says why"
                                        .formatted(part)),
                        clock.instant());
            }
        } catch (KubernetesClientException e) {
            log.atWarn()
                    .addKeyValue("part", part)
                    .addKeyValue("problem", e.getMessage())
                    .log("cannot write an Event about our own pod");
        }
    }
}
