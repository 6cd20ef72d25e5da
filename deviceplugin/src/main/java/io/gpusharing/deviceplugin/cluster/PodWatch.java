package io.gpusharing.deviceplugin.cluster;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.MalformedJsonException;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.HashMap;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the pods of one node: lists them, and watches what changes from there on. A watch that
 * ends goes on where it was; if the API server no longer knows that version, the pods are listed
 * anew and the list replaces what was known.
 *
 * <p>A list is always of the present, never of an API server's cache that may be behind: a pod that
 * is missing in it is gone.
 */
public final class PodWatch implements NodePods, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PodWatch.class);

    /** The API server ends a watch after so long; by dice up to half longer. */
    private static final int WATCH_SECONDS = 240;

    /** A quiet watch has a bookmark each minute. Where there are none, watching anew is cheap. */
    private static final Duration SILENT_WATCH = Duration.ofSeconds(150);

    private static final Duration SILENT_LIST = Duration.ofSeconds(30);
    private static final Duration BETWEEN_CHECKS = Duration.ofSeconds(10);

    /** The kubelet has the pod already: if we do not by then, something is wrong with our watch. */
    private static final Duration BEFORE_DOUBT = Duration.ofSeconds(2);

    private final ApiServer api;
    private final String pods;
    private final Set<String> resources;
    private final Runnable changed;
    private final Backoff backoff;
    private final Duration beforeDoubt;
    private final OutageLog outage = new OutageLog(log, "pod watch");

    private final PodTable table = new PodTable();
    private final CurrentAnswer current;

    /** Threads of its own; absent before the start. */
    private @Nullable Thread following;

    private @Nullable Thread checking;

    /** Where the watch goes on; null if the pods must be listed. Belongs to the thread. */
    private @Nullable String version;

    /**
     * @param node whose pods
     * @param resources by which containers may ask for shares
     * @param changed told after each change, by the thread that follows the pods
     */
    public PodWatch(ApiServer api, String node, Set<String> resources, Runnable changed) {
        this(api, node, resources, changed, new Backoff(), System::nanoTime, BEFORE_DOUBT);
    }

    PodWatch(
            ApiServer api,
            String node,
            Set<String> resources,
            Runnable changed,
            Backoff backoff,
            LongSupplier nanoTime,
            Duration beforeDoubt) {
        this.api = api;
        this.pods = "/api/v1/pods?fieldSelector=spec.nodeName%3D" + node;
        this.resources = resources;
        this.changed = changed;
        this.backoff = backoff;
        this.current = new CurrentAnswer(nanoTime);
        this.beforeDoubt = beforeDoubt;
    }

    /** Starts; returns at once. */
    public void start() {
        following = Thread.ofVirtual().name("pod-watch").start(this::follow);
        checking = Thread.ofVirtual().name("pod-watch-watchdog").start(this::check);
    }

    @Override
    public Optional<NodePod> byUid(String uid) {
        return table.byUid(uid);
    }

    @Override
    public boolean isListed() {
        return table.isListed();
    }

    @Override
    public Optional<NodePod> await(String uid, Duration most) throws InterruptedException {
        Duration left = most;
        while (left.compareTo(beforeDoubt) > 0) {
            Optional<NodePod> pod = table.await(uid, beforeDoubt);
            if (pod.isPresent()) {
                return pod;
            }
            current.doubt();
            left = left.minus(beforeDoubt);
        }
        return table.await(uid, left);
    }

    private void follow() {
        while (!current.isClosed()) {
            try {
                if (version == null) {
                    version = list();
                }
                if (!watch(version)) {
                    backoff.pause();
                }
            } catch (InterruptedException e) {
                return;
            } catch (IOException | RuntimeException | Error e) {
                if (current.isClosed() || !pauseAfter(e)) {
                    return;
                }
            }
        }
    }

    private boolean pauseAfter(Throwable problem) {
        outage.failed(problem);
        try {
            backoff.pause();
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    private String list() throws IOException, InterruptedException {
        var listed = new HashMap<String, NodePod>();
        String from;
        try (TimedStream answer = current.begin(api.open(pods), SILENT_LIST, false)) {
            from =
                    PodReader.list(
                            ApiServer.json(answer),
                            resources::contains,
                            pod -> listed.put(pod.uid(), pod));
        } finally {
            current.over();
        }
        outage.over();
        if (table.replace(listed)) {
            changed.run();
        }
        return from;
    }

    /**
     * Watches until it ends.
     *
     * @return whether anything was heard
     */
    private boolean watch(String from) throws IOException, InterruptedException {
        String path =
                "%s&watch=true&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=%s"
                        .formatted(
                                pods,
                                ThreadLocalRandom.current()
                                        .nextInt(WATCH_SECONDS, WATCH_SECONDS * 3 / 2),
                                from);
        boolean heard = false;
        try (TimedStream answer = current.begin(api.open(path), SILENT_WATCH, true)) {
            outage.over();
            JsonReader events = ApiServer.json(answer);
            for (WatchEvent event = next(events); event != null; event = next(events)) {
                take(event);
                heard = true;
                backoff.reset();
            }
        } catch (ApiException e) {
            version = null;
            if (e.status() != HttpURLConnection.HTTP_GONE) {
                throw e;
            }
        } catch (MalformedJsonException | RuntimeException e) {
            version = null;
            throw e;
        } finally {
            current.over();
        }
        if (current.isDoubted()) {
            version = null;
            return true;
        }
        return heard;
    }

    /** The next event; null at the end. However a watch ends, the next goes on where it was. */
    private @Nullable WatchEvent next(JsonReader events) throws MalformedJsonException {
        try {
            return events.peek() == JsonToken.END_DOCUMENT
                    ? null
                    : PodReader.event(events, resources::contains);
        } catch (MalformedJsonException e) {
            throw e;
        } catch (IOException e) {
            return null;
        }
    }

    private void take(WatchEvent event) throws IOException {
        if (event.type().equals("ERROR")) {
            throw new ApiException(
                    event.code(), "The API server ended the watch of pods: " + event.message());
        }
        if (event.resourceVersion().isEmpty()) {
            throw new IllegalStateException("The API server's answer is no watch of pods");
        }
        NodePod pod = event.pod();
        boolean different = pod != null && take(event.type(), pod);
        version = event.resourceVersion();
        if (different) {
            changed.run();
        }
    }

    private boolean take(String type, NodePod pod) {
        return switch (type) {
            case "BOOKMARK" -> false;
            case "DELETED" -> table.remove(pod);
            default -> table.put(pod);
        };
    }

    private void check() {
        try {
            while (!current.isClosed()) {
                Thread.sleep(BETWEEN_CHECKS);
                endIfSilent();
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    /** Ends what was not heard of for too long. */
    void endIfSilent() {
        current.endIfSilent();
    }

    @Override
    public void close() {
        current.close();
        if (following != null) {
            following.interrupt();
        }
        if (checking != null) {
            checking.interrupt();
        }
    }
}
