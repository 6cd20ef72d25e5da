package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * Writes Events about pods, budgets and other objects, as {@code kubectl describe} shows them. An
 * Event about a cluster-scoped object goes to the namespace {@code default}, as Kubernetes demands.
 */
public final class Events {

    private static final DateTimeFormatter MICROS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    /** Characters of a name, by the API server. */
    private static final int MAX_NAME = 253;

    /** With these no part of a name may end. */
    private static final Pattern NO_END = Pattern.compile("[-.]+$");

    private final KubernetesClient client;
    private final String component;

    /**
     * @param client whose requests these are, with its own timeouts and retries
     * @param component who writes them, for instance {@code gpusharing-timekeeper}
     */
    public Events(KubernetesClient client, String component) {
        this.client = client;
        this.component = component;
    }

    /** How serious an Event is; Kubernetes knows these two. */
    public enum Type {
        Normal,
        Warning
    }

    /**
     * What an Event says.
     *
     * @param reason one word in camel case that programs can filter by
     * @param action what the component was doing
     * @param message a sentence for people
     */
    public record Text(Type type, String reason, String action, String message) {}

    /** Names a pod as the object of an Event. */
    public static ObjectReference pod(String namespace, String name, String uid) {
        return new ObjectReferenceBuilder()
                .withApiVersion("v1")
                .withKind("Pod")
                .withNamespace(namespace)
                .withName(name)
                .withUid(uid)
                .build();
    }

    /**
     * Writes an Event. Nothing happens if one with the same id was written about the object before,
     * or if the object's namespace is gone or being deleted.
     *
     * @param id makes the Event's name; lower-case letters, digits and hyphens
     * @param at when it happened
     * @return whether it was written
     * @throws KubernetesClientException if the API server is away or refuses for another reason
     */
    public boolean write(ObjectReference about, String id, Text text, Instant at) {
        try {
            client.resource(event(about, id, text, at)).create();
            return true;
        } catch (KubernetesClientException e) {
            boolean known = e.getCode() == HttpURLConnection.HTTP_CONFLICT;
            if (!known && !isGone(e)) {
                throw e;
            }
            return false;
        }
    }

    /**
     * Says of an Event that what it is about happened again.
     *
     * @param count how often in all
     * @param at when it happened last
     * @throws KubernetesClientException if the API server is away, refuses or has no such Event
     */
    public void repeat(ObjectReference about, String id, int count, Instant at) {
        client.v1()
                .events()
                .inNamespace(namespace(about))
                .withName(name(about, id))
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"count\":%d,\"lastTimestamp\":\"%s\"}"
                                .formatted(count, at.truncatedTo(ChronoUnit.SECONDS)));
    }

    /** An object's name may be as long as an Event's: then its end is left out. */
    private static String name(ObjectReference about, String id) {
        String name = about.getName();
        int most = MAX_NAME - id.length() - 1;
        return name.length() <= most
                ? name + "." + id
                : NO_END.matcher(name.substring(0, most)).replaceFirst("") + "." + id;
    }

    private static String namespace(ObjectReference about) {
        return Objects.requireNonNullElse(about.getNamespace(), "default");
    }

    private Event event(ObjectReference about, String id, Text text, Instant at) {
        // The older fields count in seconds, eventTime in microseconds.
        String second = at.truncatedTo(ChronoUnit.SECONDS).toString();
        return new EventBuilder()
                .withNewMetadata()
                .withName(name(about, id))
                .withNamespace(namespace(about))
                .endMetadata()
                .withInvolvedObject(about)
                .withType(text.type().name())
                .withReason(text.reason())
                .withMessage(text.message())
                .withAction(text.action())
                .withFirstTimestamp(second)
                .withLastTimestamp(second)
                .withEventTime(new MicroTime(MICROS.format(at)))
                .withCount(1)
                .withNewSource()
                .withComponent(component)
                .endSource()
                .withReportingComponent(component)
                .withReportingInstance(component)
                .build();
    }

    /** A namespace that is being deleted takes nothing new, and says so by 403. */
    private static boolean isGone(KubernetesClientException e) {
        return e.getCode() == HttpURLConnection.HTTP_NOT_FOUND
                || (e.getStatus() != null
                        && e.getStatus().getDetails() != null
                        && e.getStatus().getDetails().getCauses().stream()
                                .anyMatch(it -> "NamespaceTerminating".equals(it.getReason())));
    }
}
