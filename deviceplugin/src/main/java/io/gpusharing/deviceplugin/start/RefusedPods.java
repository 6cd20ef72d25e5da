package io.gpusharing.deviceplugin.start;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.cluster.NodePods;
import io.gpusharing.deviceplugin.cluster.RefusedPod;
import io.gpusharing.deviceplugin.disk.StateFile;
import io.gpusharing.deviceplugin.grant.Grants;
import io.gpusharing.deviceplugin.kubelet.DeviceResource.StartRefused;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers which pods were refused, so that the scheduler evicts those that would wait for ever,
 * and gives back what a pod was charged while it could not start. Two kinds:
 *
 * <ul>
 *   <li>a pod of which no container with GPUs was let start yet, from its first refusal on;
 *   <li>one that has run, only if it can never be restarted here: other refusals pass, and tries
 *       may be minutes apart.
 * </ul>
 *
 * <p>They are on disk, for this program may end while a pod waits. A disk that takes nothing
 * refuses nobody: memory has it, and the next change is written with it.
 */
public final class RefusedPods {

    private static final Logger log = LoggerFactory.getLogger(RefusedPods.class);

    /** As many as a {@code GpuNode} may name. */
    static final int MOST = 100;

    /** For a timekeeper that is away when a pod starts after all, or goes. */
    static final Duration KEPT = Duration.ofDays(1);

    /**
     * A pod that is to end may still wait for so long at most, as Kubernetes' own default is:
     * nobody holds units for nothing by a long grace.
     */
    static final Duration GRACE = Duration.ofSeconds(30);

    private final StateFile file;
    private final InstantSource clock;
    private final Runnable changed;
    private final Map<Key, RefusedPod> refused = new LinkedHashMap<>();

    /**
     * Pods without GPUs when they were first seen here, of which no container was let start since.
     * One that had its GPUs when this program started counts as one that has run.
     */
    private final Set<String> unstarted = new HashSet<>();

    private record Key(String uid, boolean ran) {
        static Key of(RefusedPod pod) {
            return new Key(pod.uid(), pod.ran());
        }
    }

    /**
     * Starts with what the file says.
     *
     * @param changed told after every change
     */
    public RefusedPods(Path file, InstantSource clock, Runnable changed) {
        this.file = new StateFile(file, 1);
        this.clock = clock;
        this.changed = changed;
        read();
    }

    /** All of them. */
    public synchronized List<RefusedPod> all() {
        return List.copyOf(refused.values());
    }

    /**
     * The start of a container is asked for.
     *
     * @param hasGpus whether its pod was given GPUs before
     */
    synchronized void tried(NodePod pod, boolean hasGpus) {
        if (!hasGpus) {
            unstarted.add(pod.uid());
        }
    }

    /**
     * A container was not let start.
     *
     * @param begun when the try began
     */
    void refused(NodePod pod, Instant begun, StartRefused why) {
        synchronized (this) {
            boolean ran = !unstarted.contains(pod.uid());
            var key = new Key(pod.uid(), ran);
            RefusedPod before = refused.get(key);
            if (before == null ? ran && !why.isFinal() : isSame(before, why)) {
                return;
            }
            if (before == null && !makeRoom()) {
                return;
            }
            String reason = String.valueOf(why.getMessage());
            refused.put(
                    key,
                    before == null
                            ? new RefusedPod(
                                    pod.uid(),
                                    pod.namespace(),
                                    pod.name(),
                                    begun.truncatedTo(ChronoUnit.MILLIS),
                                    null,
                                    why.isFinal(),
                                    ran,
                                    reason)
                            : before.because(why.isFinal(), reason));
            write();
        }
        changed.run();
    }

    /** What follows the colon, how much is free for instance, may be another at every try. */
    private static boolean isSame(RefusedPod before, StartRefused why) {
        return before.until() != null
                || (before.isFinal() == why.isFinal()
                        && kind(before.reason()).equals(kind(String.valueOf(why.getMessage()))));
    }

    private static String kind(String reason) {
        int colon = reason.indexOf(':');
        return colon < 0 ? reason : reason.substring(0, colon);
    }

    /** Those that do not wait any more make room, where one namespace has most of them first. */
    private boolean makeRoom() {
        if (refused.size() < MOST) {
            return true;
        }
        Map<String, Long> inNamespace =
                refused.values().stream()
                        .collect(
                                Collectors.groupingBy(
                                        RefusedPod::namespace, Collectors.counting()));
        return refused.values().stream()
                .filter(pod -> pod.until() != null)
                .max(
                        Comparator.comparing((RefusedPod pod) -> inNamespace.get(pod.namespace()))
                                .thenComparing(RefusedPod::since, Comparator.reverseOrder()))
                .map(pod -> refused.remove(Key.of(pod)))
                .isPresent();
    }

    /** A container was let start. */
    void prepared(NodePod pod) {
        boolean any;
        synchronized (this) {
            unstarted.remove(pod.uid());
            any = end(pod.uid(), clock.instant());
            if (any) {
                write();
            }
        }
        if (any) {
            changed.run();
        }
    }

    /** Whether one of its entries was open. */
    private boolean end(String uid, Instant until) {
        boolean any = refused.remove(new Key(uid, true)) != null;
        RefusedPod waiting = refused.get(new Key(uid, false));
        if (waiting != null && waiting.until() == null) {
            refused.put(Key.of(waiting), waiting.ended(until.truncatedTo(ChronoUnit.MILLIS)));
            any = true;
        }
        return any;
    }

    /** Looks which pods wait no more. */
    void tidyUp(NodePods pods, Grants grants) {
        if (!pods.isListed()) {
            return;
        }
        boolean any = false;
        synchronized (this) {
            unstarted.removeIf(uid -> pods.byUid(uid).isEmpty());
            for (RefusedPod pod : all()) {
                NodePod now = pods.byUid(pod.uid()).orElse(null);
                if (now == null || now.ended() || (!pod.ran() && runs(now, grants))) {
                    any |= end(pod.uid(), clock.instant());
                } else if (now.deleting()) {
                    any |= end(pod.uid(), clock.instant().plus(GRACE));
                }
            }
            Instant old = clock.instant().minus(KEPT);
            any |=
                    refused.values()
                            .removeIf(pod -> pod.until() != null && pod.until().isBefore(old));
            if (any) {
                write();
            }
        }
        if (any) {
            changed.run();
        }
    }

    /** This program may have ended before it noted that it let a container start. */
    private static boolean runs(NodePod pod, Grants grants) {
        return grants.of(pod.uid()).stream()
                .flatMap(grant -> grant.containers().stream())
                .anyMatch(container -> pod.running().containsKey(container.container()));
    }

    private void read() {
        try {
            file.read(content ->
                            content.getAsJsonArray("refused").asList().stream()
                                    .map(each -> RefusedPod.of(each.getAsJsonObject()))
                                    .toList())
                    .orElse(List.of())
                    .forEach(pod -> refused.put(Key.of(pod), pod));
        } catch (IOException e) {
            // They are refused again if they still wait, and are charged for the time before.
            log.atError()
                    .addKeyValue("file", file.path())
                    .addKeyValue("reason", e.getMessage())
                    .log("cannot read which pods were refused");
        }
    }

    private void write() {
        var list = new JsonArray();
        refused.values().forEach(pod -> list.add(pod.json()));
        var all = new JsonObject();
        all.add("refused", list);
        try {
            file.write(all, "rw-------");
        } catch (IOException e) {
            log.atError()
                    .addKeyValue("file", file.path())
                    .addKeyValue("reason", e.getMessage())
                    .log("cannot write which pods were refused");
        }
    }
}
