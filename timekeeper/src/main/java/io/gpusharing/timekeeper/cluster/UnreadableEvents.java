package io.gpusharing.timekeeper.cluster;

import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.OutageLog;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.web.LeaderTask;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Writes an Event about each object that cannot be read, with what is wrong with it. A tenant may
 * make thousands of them a minute: two a second are written, of all namespaces in turn, and none is
 * queued. An object that goes before its turn needs no Event.
 */
@Component
class UnreadableEvents extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(UnreadableEvents.class);
    private static final Duration EVERY = Duration.ofSeconds(10);
    private static final int MOST = 20;

    /** The API server keeps an Event for an hour by default; while it does, nothing is written. */
    private static final Duration AGAIN = Duration.ofMinutes(30);

    private final UnreadableObjects objects;
    private final Events events;

    /** When those that are there still were told, by UID. */
    private final Map<String, Instant> told = new HashMap<>();

    UnreadableEvents(
            KubernetesClient client,
            UnreadableObjects objects,
            Leadership leadership,
            Clock clock) {
        super("unreadable-events", leadership, clock);
        this.objects = objects;
        this.events = new Events(client, Names.TIMEKEEPER);
    }

    @Override
    protected void takeOver() {
        told.clear();
    }

    @Override
    protected Instant work(Instant now) {
        Collection<Unreadable> present = objects.present();
        told.keySet().retainAll(present.stream().map(Unreadable::uid).collect(toSet()));
        told.values().removeIf(at -> !now.isBefore(at.plus(AGAIN)));
        for (Unreadable object : next(present)) {
            if (leads()) {
                tell(object, now);
                told.put(object.uid(), now);
            }
        }
        return now.plus(EVERY);
    }

    /** Of each namespace one, then of each the second. */
    private List<Unreadable> next(Collection<Unreadable> present) {
        Map<String, Integer> turns = new HashMap<>();
        Map<Unreadable, Integer> turn = new HashMap<>();
        present.stream()
                .filter(it -> !told.containsKey(it.uid()))
                .forEach(it -> turn.put(it, turns.merge(it.namespace(), 1, Integer::sum)));
        return turn.keySet().stream().sorted(Comparator.comparing(turn::get)).limit(MOST).toList();
    }

    private void tell(Unreadable object, Instant now) {
        try {
            events.write(
                    reference(object),
                    "unreadable-%x".formatted(object.uid().hashCode()),
                    new Text(
                            Events.Type.Warning,
                            "Unreadable",
                            "Read",
                            "GPUSharing cannot read this object: " + object.why()),
                    now);
        } catch (KubernetesClientException e) {
            if (OutageLog.isOutage(e)) {
                throw e;
            }
            // A quota on Events, or whatever else its namespace has against it, stops no other.
            log.atWarn()
                    .addKeyValue("kind", object.kind())
                    .addKeyValue("namespace", object.namespace())
                    .addKeyValue("name", object.name())
                    .addKeyValue("problem", e.getMessage())
                    .log("cannot write an Event about an object that cannot be read");
        }
    }

    private static ObjectReference reference(Unreadable object) {
        return new ObjectReferenceBuilder()
                .withApiVersion(object.apiVersion())
                .withKind(object.kind())
                .withNamespace(object.namespace().isEmpty() ? null : object.namespace())
                .withName(object.name())
                .withUid(object.uid())
                .build();
    }
}
