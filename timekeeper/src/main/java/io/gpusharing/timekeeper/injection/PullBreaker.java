package io.gpusharing.timekeeper.injection;

import io.gpusharing.timekeeper.injection.Injection.Off;
import io.gpusharing.timekeeper.injection.Injection.On;
import io.gpusharing.timekeeper.injection.Pull.Done;
import io.gpusharing.timekeeper.injection.Pull.Failing;
import io.gpusharing.timekeeper.injection.Pull.Place;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * Opens for a namespace when an image could not be pulled in a number of its pods one after the
 * other, and closes when one of them pulled it after that: the pods that wait go on trying. May be
 * given the same pod as often as one likes.
 *
 * <p>What keeps one namespace from an image may be its own: credentials, or nodes that it chose. So
 * it opens for all only when those of several budgets cannot pull it on several nodes, and nobody
 * has meanwhile.
 */
final class PullBreaker {

    /** Of so many budgets; namespaces without one count as one together. */
    private static final int BUDGETS = 3;

    private static final int NODES = 2;

    /** An image's failures at one place since it was pulled there last. */
    private record Series(Instant since, String budget, Set<UUID> pods, Set<String> nodes) {}

    private final int pods;
    private final Map<String, Map<Place, Series>> failing = new HashMap<>();

    /** When each image was pulled last, wherever. */
    private final Map<String, Instant> pulled = new HashMap<>();

    /** Pods that were created earlier do not count, */
    private Instant from = Instant.EPOCH;

    /** nor those of a namespace that were created before it resumed by itself. */
    private final Map<String, Instant> resumed = new HashMap<>();

    private Injection injection = new On(Instant.EPOCH);

    /**
     * @param pods how many pods of a namespace have to wait for it; 0 never opens
     */
    PullBreaker(int pods) {
        this.pods = pods;
    }

    /** What holds now. */
    synchronized Injection injection() {
        return injection;
    }

    /** What was seen of one pod. */
    synchronized void onPod(Pull pull, Instant now) {
        switch (pull) {
            case Failing fails -> failed(fails, now);
            case Done done -> succeeded(done, now);
        }
    }

    private void failed(Failing pull, Instant now) {
        boolean decided =
                injection instanceof Off off
                        && (off.everywhere() || !off.image().equals(pull.image()));
        Instant begin = resumed.getOrDefault(pull.place().namespace(), from);
        if (decided || pods == 0 || pull.created().isBefore(begin)) {
            return;
        }
        Map<Place, Series> places = failing.computeIfAbsent(pull.image(), _ -> new HashMap<>());
        Series series =
                places.computeIfAbsent(
                        pull.place(),
                        _ -> new Series(now, pull.budget(), new HashSet<>(), new HashSet<>()));
        series.pods().add(pull.pod());
        series.nodes().add(pull.node());
        if (series.pods().size() >= pods) {
            open(pull.image(), places);
        }
    }

    private void open(String image, Map<Place, Series> places) {
        List<Map.Entry<Place, Series>> given =
                places.entrySet().stream().filter(it -> isGivenUp(it.getValue())).toList();
        Instant first =
                given.stream()
                        .map(it -> it.getValue().since())
                        .min(Instant::compareTo)
                        .orElseThrow();
        var namespaces = new TreeSet<String>();
        given.forEach(it -> namespaces.add(it.getKey().namespace()));
        if (injection instanceof Off off) {
            namespaces.addAll(off.namespaces());
        }
        int waiting = namespaces.size() * pods;
        if (isEverywhere(given.stream().map(Map.Entry::getValue).toList())
                && !pulled.getOrDefault(image, Instant.EPOCH).isAfter(first)) {
            namespaces.clear();
        }
        injection =
                new Off(
                        image,
                        namespaces,
                        injection instanceof Off off ? off.since() : first,
                        waiting);
    }

    private boolean isGivenUp(Series series) {
        return series.pods().size() >= pods;
    }

    private static boolean isEverywhere(List<Series> given) {
        return given.stream().map(Series::budget).distinct().count() >= BUDGETS
                && given.stream().flatMap(it -> it.nodes().stream()).distinct().count() >= NODES;
    }

    private void succeeded(Done pull, Instant now) {
        pulled.merge(pull.image(), pull.started(), (one, two) -> one.isAfter(two) ? one : two);
        Map<Place, Series> places = failing.getOrDefault(pull.image(), new HashMap<>());
        Series series = places.get(pull.place());
        if (series != null && pull.started().isAfter(series.since())) {
            places.remove(pull.place());
        }
        if (injection instanceof Off off
                && off.image().equals(pull.image())
                && pull.started().isAfter(off.since())) {
            resume(off, pull.place().namespace(), places, now);
        }
    }

    /** Where it could be pulled now; elsewhere its pods go on waiting. */
    private void resume(Off off, String namespace, Map<Place, Series> places, Instant now) {
        boolean stillFails =
                places.entrySet().stream()
                        .anyMatch(it ->
                                it.getKey().namespace().equals(namespace)
                                        && isGivenUp(it.getValue()));
        var rest = new TreeSet<>(off.namespaces());
        if (!stillFails && rest.remove(namespace)) {
            resumed.put(namespace, now);
        }
        if (off.everywhere() || rest.isEmpty()) {
            closed(now);
        } else {
            injection = new Off(off.image(), rest, off.since(), rest.size() * pods);
        }
    }

    /** Takes over what held before a restart. */
    synchronized void restore(Injection before) {
        failing.clear();
        injection = before;
        // What failed before an administrator switched it on is not known to anybody any more.
        from = before.since();
    }

    /** Begins again; earlier failures no longer count. */
    synchronized void closed(Instant now) {
        failing.clear();
        resumed.clear();
        from = now;
        injection = new On(now);
    }
}
