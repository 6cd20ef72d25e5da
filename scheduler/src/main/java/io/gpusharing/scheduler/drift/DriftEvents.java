package io.gpusharing.scheduler.drift;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.scheduler.cluster.PromptClient;
import io.gpusharing.scheduler.gpus.Drift;
import java.time.Clock;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * An Event on the {@code GpuNode}, which administrators see and tenants do not. Each replica finds
 * the same, and the second one's Event has the first one's name.
 */
@Component
final class DriftEvents implements DriftNotice {

    private static final Logger log = LoggerFactory.getLogger(DriftEvents.class);

    private final KubernetesClient client;
    private final Events events;
    private final Clock clock;

    DriftEvents(KubernetesClient client, Clock clock) {
        this.client = PromptClient.of(client);
        this.events = new Events(this.client, Names.SCHEDULER);
        this.clock = clock;
    }

    @Override
    public void tell(Drift drift) {
        try {
            GpuNode node = client.resources(GpuNode.class).withName(drift.node()).get();
            if (node != null) {
                events.write(reference(node), id(drift), text(drift), clock.instant());
            }
        } catch (KubernetesClientException e) {
            log.atWarn()
                    .addKeyValue("node", drift.node())
                    .addKeyValue("reason", e.getMessage())
                    .log("cannot write an Event about GPUs of which two things are said");
        }
    }

    private static ObjectReference reference(GpuNode node) {
        return new ObjectReferenceBuilder()
                .withApiVersion(node.getApiVersion())
                .withKind(node.getKind())
                .withName(node.getMetadata().getName())
                .withUid(node.getMetadata().getUid())
                .build();
    }

    /** The subject may be a GPU's UUID, whose letters are upper-case, too. */
    private static String id(Drift drift) {
        return "%s-%08x"
                .formatted(
                        drift.kind().name().toLowerCase(Locale.ROOT), drift.subject().hashCode());
    }

    private static Text text(Drift drift) {
        String message =
                switch (drift.kind()) {
                    case OVERBOOKED ->
                            "More is held of GPU %s than it has. Delete one of the pods that are placed on it";
                    case ELSEWHERE ->
                            "Pod %s was granted other GPUs than those of its binding. What was granted counts";
                    case UNPLACED ->
                            "Pod %s is bound, and nobody says on which GPUs: it keeps others from all on which it could be. Delete it if it does not start";
                    case GONE ->
                            "The device plugin counts pod %s, which is gone or was not seen by admission. Its GPUs stay taken until the device plugin gives them back";
                };
        return new Text(
                Events.Type.Warning,
                "GpusDisagree",
                "Counting",
                message.formatted(drift.subject()));
    }
}
