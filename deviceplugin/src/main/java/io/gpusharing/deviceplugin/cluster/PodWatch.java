package io.gpusharing.deviceplugin.cluster;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.MalformedJsonException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
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

    private static final Duration BETWEEN_DOUBTS = Duration.ofSeconds(30);

    private final ApiServer api;
    private final String pods;
    private final Runnable changed;
    private final Backoff backoff;
    private final LongSupplier nanoTime;
    private final Duration beforeDoubt;
    private final OutageLog outage = new OutageLog(log, "pod watch");

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();

    /** Guarded by the lock, as all below. */
    private Map<String, NodePod> byUid = new HashMap<>();

    private @Nullable Listening listening;
    private boolean current;
    private boolean closed;
    private boolean doubted;
    private long lastDoubt;

    /** Threads of its own; absent before the start. */
    private @Nullable Thread following;

    private @Nullable Thread checking;

    /** Where the watch goes on; null if the pods must be listed. Belongs to the thread. */
    private @Nullable String version;

    /**
     * @param node whose pods
     * @param changed told after each change, by the thread that follows the pods
     */
    public PodWatch(ApiServer api, String node, Runnable changed) {
        this(api, node, changed, new Backoff(), System::nanoTime, BEFORE_DOUBT);
    }

    PodWatch(
            ApiServer api,
            String node,
            Runnable changed,
            Backoff backoff,
            LongSupplier nanoTime,
            Duration beforeDoubt) {
        this.api = api;
        this.pods = "/api/v1/pods?fieldSelector=spec.nodeName%3D" + node;
        this.changed = changed;
        this.backoff = backoff;
        this.nanoTime = nanoTime;
        this.beforeDoubt = beforeDoubt;
        this.lastDoubt = nanoTime.getAsLong() - BETWEEN_DOUBTS.toNanos();
    }

    /** Starts; returns at once. */
    public void start() {
        following = Thread.ofVirtual().name("pod-watch").start(this::follow);
        checking = Thread.ofVirtual().name("pod-watch-watchdog").start(this::check);
    }

    @Override
    public Optional<NodePod> byUid(String uid) {
        lock.lock();
        try {
            return Optional.ofNullable(byUid.get(uid));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean isCurrent() {
        lock.lock();
        try {
            return current;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Optional<NodePod> await(String uid, Duration most) throws InterruptedException {
        long left = most.toNanos();
        long patience = beforeDoubt.toNanos();
        lock.lock();
        try {
            while (!byUid.containsKey(uid) && left > 0) {
                if (patience <= 0) {
                    doubt();
                    patience = beforeDoubt.toNanos();
                }
                long slice = Math.min(left, patience);
                long waited = slice - arrived.awaitNanos(slice);
                left -= waited;
                patience -= waited;
            }
            return Optional.ofNullable(byUid.get(uid));
        } finally {
            lock.unlock();
        }
    }

    /** Lists anew, unless that was just done: a connection may be dead and not look it. */
    private void doubt() {
        long now = nanoTime.getAsLong();
        if (listening != null && listening.isWatch && now - lastDoubt >= BETWEEN_DOUBTS.toNanos()) {
            lastDoubt = now;
            doubted = true;
            listening.end();
        }
    }

    private void follow() {
        while (!isClosed()) {
            try {
                if (version == null) {
                    version = list();
                }
                if (!watch(version)) {
                    backoff.pause();
                }
            } catch (InterruptedException e) {
                return;
            } catch (IOException | RuntimeException e) {
                if (isClosed() || !pauseAfter(e)) {
                    return;
                }
            }
        }
    }

    private boolean pauseAfter(Exception problem) {
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
        try (Listening answer = listen(pods, SILENT_LIST, false)) {
            from = PodReader.list(ApiServer.json(answer), pod -> listed.put(pod.uid(), pod));
        }
        outage.over();
        boolean different;
        lock.lock();
        try {
            different = !current || !listed.equals(byUid);
            byUid = listed;
            current = true;
            doubted = false;
            arrived.signalAll();
        } finally {
            lock.unlock();
        }
        if (different) {
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
        try (Listening answer = listen(path, SILENT_WATCH, true)) {
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
        }
        if (isDoubted()) {
            version = null;
            return true;
        }
        return heard;
    }

    /** The next event; null at the end. However a watch ends, the next goes on where it was. */
    private static @Nullable WatchEvent next(JsonReader events) throws MalformedJsonException {
        try {
            return events.peek() == JsonToken.END_DOCUMENT ? null : PodReader.event(events);
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
        boolean different = pod != null && !event.type().equals("BOOKMARK") && take(event, pod);
        version = event.resourceVersion();
        if (different) {
            changed.run();
        }
    }

    private boolean take(WatchEvent event, NodePod pod) {
        lock.lock();
        try {
            if (event.type().equals("DELETED")) {
                return byUid.remove(pod.uid()) != null;
            }
            NodePod before = byUid.put(pod.uid(), pod);
            if (before == null) {
                // A name is free only when the pod that had it is gone.
                byUid.values().removeIf(other -> isSuccessor(pod, other));
            }
            arrived.signalAll();
            return !pod.equals(before);
        } finally {
            lock.unlock();
        }
    }

    private static boolean isSuccessor(NodePod pod, NodePod of) {
        return pod.name().equals(of.name())
                && pod.namespace().equals(of.namespace())
                && !pod.uid().equals(of.uid());
    }

    private boolean isDoubted() {
        lock.lock();
        try {
            return doubted;
        } finally {
            lock.unlock();
        }
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    private Listening listen(String path, Duration silence, boolean isWatch)
            throws IOException, InterruptedException {
        var stream = new Listening(api.open(path), silence, isWatch);
        lock.lock();
        try {
            listening = stream;
        } finally {
            lock.unlock();
        }
        return stream;
    }

    private void check() {
        try {
            while (!isClosed()) {
                Thread.sleep(BETWEEN_CHECKS);
                endIfSilent();
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    /** Ends what was not heard of for too long. */
    void endIfSilent() {
        lock.lock();
        try {
            if (listening != null && listening.isSilent()) {
                listening.end();
            }
        } finally {
            lock.unlock();
        }
    }

    /** An answer, and when something was last heard of it. */
    private final class Listening extends FilterInputStream {

        private final Duration silence;
        private final boolean isWatch;
        private volatile long last = nanoTime.getAsLong();

        private Listening(InputStream answer, Duration silence, boolean isWatch) {
            super(answer);
            this.silence = silence;
            this.isWatch = isWatch;
        }

        private boolean isSilent() {
            return nanoTime.getAsLong() - last > silence.toNanos();
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            int read = super.read(bytes, from, length);
            last = nanoTime.getAsLong();
            return read;
        }

        @Override
        public void close() throws IOException {
            lock.lock();
            try {
                listening = null;
            } finally {
                lock.unlock();
            }
            super.close();
        }

        /** From another thread: whoever reads is told that it ends here. */
        private void end() {
            try {
                in.close();
            } catch (IOException e) {
                // It ends all the same.
            }
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            if (listening != null) {
                listening.end();
            }
        } finally {
            lock.unlock();
        }
        if (following != null) {
            following.interrupt();
        }
        if (checking != null) {
            checking.interrupt();
        }
    }
}
