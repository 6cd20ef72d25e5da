package io.gpusharing.deviceplugin.cluster;

import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.grant.PodGrant;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a pod's owner what happens to it, by Events as {@code kubectl describe pod} shows them, and
 * administrators what concerns the node, by Events on the Node. One reason is told of one object
 * once in five minutes: kubelet tries again and again what was refused. Nobody waits for an Event;
 * those that cannot be written for two minutes are dropped.
 */
public final class PodEvents implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PodEvents.class);

    private static final String COMPONENT = "gpusharing-device-plugin";

    private static final Duration BETWEEN_SAME = Duration.ofMinutes(5);
    private static final int MOST_WAITING = 256;
    private static final int MOST_ATTEMPTS = 9;

    /** As Kubernetes' own recorders cut them. */
    private static final int LONGEST_MESSAGE = 1024;

    /** A pod's name may be as long as an Event's, which has a suffix. */
    private static final int LONGEST_NAME = 230;

    private static final DateTimeFormatter MICROS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    /** How serious an Event is; Kubernetes knows these two. */
    public enum Type {
        Normal,
        Warning
    }

    /** A pod that Events are about. */
    public record PodName(String uid, String namespace, String name) {

        /** A pod of this node. */
        public static PodName of(NodePod pod) {
            return new PodName(pod.uid(), pod.namespace(), pod.name());
        }

        /** The pod that was given something. */
        public static PodName of(PodGrant grant) {
            return new PodName(grant.uid(), grant.namespace(), grant.pod());
        }
    }

    /** What an Event is about, and where it lies; an Event on a Node lies in {@code default}. */
    private record About(String kind, String uid, @Nullable String namespace, String name) {

        String folder() {
            return namespace == null ? "default" : namespace;
        }
    }

    private record Told(About about, String reason) {}

    private record Waiting(About about, Type type, String reason, String message, Instant at) {}

    private final ApiServer api;
    private final String node;
    private final Backoff backoff;
    private final InstantSource clock;
    private final OutageLog outage = new OutageLog(log, "pod events");
    private final Map<Told, Instant> told = new HashMap<>();
    private final BlockingQueue<Waiting> waiting = new ArrayBlockingQueue<>(MOST_WAITING);
    private @Nullable Thread writing;

    /**
     * @param node this plugin's
     */
    public PodEvents(ApiServer api, String node) {
        this(api, node, new Backoff(), InstantSource.system());
    }

    PodEvents(ApiServer api, String node, Backoff backoff, InstantSource clock) {
        this.api = api;
        this.node = node;
        this.backoff = backoff;
        this.clock = clock;
    }

    /**
     * Tells of something, unless that was just done. Returns at once.
     *
     * @param reason one word in camel case that programs can filter by
     * @param message a sentence for people
     */
    public void tell(PodName pod, Type type, String reason, String message) {
        tell(new About("Pod", pod.uid(), pod.namespace(), pod.name()), type, reason, message);
    }

    /** The same of the node. */
    public void tellNode(Type type, String reason, String message) {
        // As the kubelet names it: kubectl describe looks for that, too.
        tell(new About("Node", node, null, node), type, reason, message);
    }

    private synchronized void tell(About about, Type type, String reason, String message) {
        Instant now = clock.instant();
        told.values().removeIf(at -> !at.plus(BETWEEN_SAME).isAfter(now));
        var key = new Told(about, reason);
        if (!told.containsKey(key)
                && waiting.offer(new Waiting(about, type, reason, message, now))) {
            told.put(key, now);
        }
        if (writing == null) {
            writing = Thread.ofVirtual().name("pod-events").start(this::write);
        }
    }

    private void write() {
        try {
            while (true) {
                write(waiting.take());
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    private void write(Waiting event) throws InterruptedException {
        JsonObject json = json(event);
        for (int attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
            try {
                api.post("/api/v1/namespaces/%s/events".formatted(event.about().folder()), json);
                outage.over();
                backoff.reset();
                return;
            } catch (ApiException e) {
                if (isWrittenOrPodless(e)) {
                    return;
                }
                outage.failed(e);
                if (isFinal(e)) {
                    return;
                }
            } catch (IOException | RuntimeException e) {
                outage.failed(e);
            }
            backoff.pause();
        }
    }

    /** An earlier attempt succeeded unseen, or the pod's namespace is gone or going. */
    private static boolean isWrittenOrPodless(ApiException e) {
        return e.status() == HttpURLConnection.HTTP_CONFLICT
                || e.status() == HttpURLConnection.HTTP_NOT_FOUND
                || String.valueOf(e.getMessage()).contains("because it is being terminated");
    }

    private static boolean isFinal(ApiException e) {
        return e.status() < 500 && e.status() != 429;
    }

    private JsonObject json(Waiting event) {
        About object = event.about();
        var metadata = new JsonObject();
        metadata.addProperty(
                "name",
                "%s.%016x"
                        .formatted(
                                cut(object.name(), LONGEST_NAME),
                                ThreadLocalRandom.current().nextLong()));
        metadata.addProperty("namespace", object.folder());
        var about = new JsonObject();
        about.addProperty("apiVersion", "v1");
        about.addProperty("kind", object.kind());
        if (object.namespace() != null) {
            about.addProperty("namespace", object.namespace());
        }
        about.addProperty("name", object.name());
        about.addProperty("uid", object.uid());
        var source = new JsonObject();
        source.addProperty("component", COMPONENT);
        source.addProperty("host", node);
        // The older fields count in seconds, eventTime in microseconds.
        String second = event.at().truncatedTo(ChronoUnit.SECONDS).toString();
        var json = new JsonObject();
        json.addProperty("apiVersion", "v1");
        json.addProperty("kind", "Event");
        json.add("metadata", metadata);
        json.add("involvedObject", about);
        json.addProperty("type", event.type().name());
        json.addProperty("reason", event.reason());
        json.addProperty("action", event.reason());
        json.addProperty("message", cut(event.message(), LONGEST_MESSAGE));
        json.add("source", source);
        json.addProperty("firstTimestamp", second);
        json.addProperty("lastTimestamp", second);
        json.addProperty("eventTime", MICROS.format(event.at()));
        json.addProperty("count", 1);
        json.addProperty("reportingComponent", COMPONENT);
        json.addProperty("reportingInstance", node);
        return json;
    }

    private static String cut(String text, int longest) {
        return text.length() > longest ? text.substring(0, longest) : text;
    }

    @Override
    public synchronized void close() {
        if (writing != null) {
            writing.interrupt();
        }
    }
}
