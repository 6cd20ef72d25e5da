package io.gpusharing.webhook.events;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesResourceUtil;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.webhook.review.PodView.Owner;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Writes an Event about a refused pod on the object that a person wrote: the Deployment of a
 * ReplicaSet, the CronJob of a Job, else the controller's own. The refusal itself reaches only the
 * controller.
 *
 * <p>Nobody waits for it: refusals queue up to a bound, in all and for each namespace, what does
 * not fit is left out, and the same refusal again counts up the same Event.
 */
public final class RefusalEvents implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(RefusalEvents.class);
    private static final int WAITING = 256;

    /** Of one namespace: whoever is refused all the time leaves room for others. */
    private static final int OF_ONE = 16;

    private static final int REMEMBERED = 1000;
    private static final int MAX_MESSAGE = 1024;

    /** Whose own controller is what a person wrote. */
    private static final Set<String> MADE_BY_CONTROLLERS = Set.of("ReplicaSet", "Job");

    private final KubernetesClient client;
    private final Events events;
    private final Clock clock;
    private final BlockingQueue<Refusal> waiting = new ArrayBlockingQueue<>(WAITING);
    private final Map<String, Integer> counts =
            new LinkedHashMap<>() {
                @Override
                protected boolean removeEldestEntry(Map.Entry<String, Integer> eldest) {
                    return size() > REMEMBERED;
                }
            };
    private volatile boolean running;
    private Thread writer = Thread.ofVirtual().unstarted(() -> {});

    /** Writes Events as our own service account. */
    public RefusalEvents(KubernetesClient client, Clock clock) {
        this.client = client;
        this.events = new Events(client, "gpusharing-webhook");
        this.clock = clock;
    }

    /** Writes an Event of a refusal, when there is time. */
    public void submit(Refusal refusal) {
        long ofOne =
                waiting.stream()
                        .filter(it -> it.namespace().equals(refusal.namespace()))
                        .limit(OF_ONE)
                        .count();
        if (ofOne == OF_ONE || !waiting.offer(refusal)) {
            log.atDebug().log("too many refusals for an Event each");
        }
    }

    @Override
    public void start() {
        running = true;
        writer = Thread.ofVirtual().name("refusal-events").start(this::writeAll);
    }

    @Override
    public void stop() {
        running = false;
        writer.interrupt();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    private void writeAll() {
        while (running) {
            try {
                write(waiting.take());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } catch (RuntimeException e) {
                // A review that somebody made up may name anything as its owner.
                log.atDebug().setCause(e).log("cannot write an Event about a refusal");
            }
        }
    }

    private void write(Refusal refusal) {
        writtenByAPerson(refusal).ifPresent(owner -> write(refusal, owner));
    }

    private void write(Refusal refusal, ObjectReference owner) {
        String id = "%08x".formatted((owner.getUid() + refusal.message()).hashCode());
        int count =
                counts.merge(
                        "%s/%s.%s".formatted(refusal.namespace(), owner.getName(), id),
                        1,
                        Integer::sum);
        String message = refusal.message();
        var text =
                new Text(
                        Events.Type.Warning,
                        "GpuRequestRefused",
                        "Admission",
                        message.length() > MAX_MESSAGE
                                ? message.substring(0, MAX_MESSAGE - 1) + "…"
                                : message);
        // Another replica may have written it, or this one before a restart.
        if (count > 1 || !events.write(owner, id, text, clock.instant())) {
            events.repeat(owner, id, count, clock.instant());
        }
    }

    /**
     * What a person wrote, found from the pod's controller; empty if there is no such controller.
     * Anybody who reaches our port can post a review: what is not in the cluster gets no Event.
     */
    private Optional<ObjectReference> writtenByAPerson(Refusal refusal) {
        Owner direct = refusal.owner();
        GenericKubernetesResource found =
                client.genericKubernetesResources(direct.apiVersion(), direct.kind())
                        .inNamespace(refusal.namespace())
                        .withName(direct.name())
                        .get();
        if (found == null || !direct.uid().equals(found.getMetadata().getUid())) {
            return Optional.empty();
        }
        OwnerReference above =
                MADE_BY_CONTROLLERS.contains(direct.kind())
                        ? KubernetesResourceUtil.getControllerUid(found)
                        : null;
        return Optional.of(
                above == null
                        ? reference(
                                refusal.namespace(),
                                direct.apiVersion(),
                                direct.kind(),
                                direct.name(),
                                direct.uid())
                        : reference(
                                refusal.namespace(),
                                above.getApiVersion(),
                                above.getKind(),
                                above.getName(),
                                above.getUid()));
    }

    private static ObjectReference reference(
            String namespace, String apiVersion, String kind, String name, String uid) {
        return new ObjectReferenceBuilder()
                .withApiVersion(apiVersion)
                .withKind(kind)
                .withNamespace(namespace)
                .withName(name)
                .withUid(uid)
                .build();
    }
}
