package io.gpusharing.timekeeper.injection;

import io.gpusharing.timekeeper.injection.Injection.Off;
import io.gpusharing.timekeeper.injection.Injection.On;
import io.gpusharing.timekeeper.injection.Pull.Done;
import io.gpusharing.timekeeper.injection.Pull.Failing;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Opens when an image could not be pulled in a number of pods one after the other, and closes when
 * one pulled it after that: the pods that wait go on trying. May be given the same pod as often as
 * one likes.
 */
final class PullBreaker {

    /** An image's failures since it was pulled last. */
    private record Series(Instant since, Set<UUID> pods) {}

    private final int pods;
    private final Map<String, Series> failing = new HashMap<>();
    private Injection injection = new On(Instant.EPOCH);

    /**
     * @param pods how many pods have to wait for it; 0 never opens
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
        if (!(injection instanceof On on) || pods == 0 || pull.created().isBefore(on.since())) {
            return;
        }
        Series series =
                failing.computeIfAbsent(pull.image(), image -> new Series(now, new HashSet<>()));
        series.pods().add(pull.pod());
        if (series.pods().size() >= pods) {
            injection = new Off(pull.image(), series.since(), series.pods().size());
        }
    }

    private void succeeded(Done pull, Instant now) {
        Series series = failing.get(pull.image());
        if (series != null && pull.started().isAfter(series.since())) {
            failing.remove(pull.image());
        }
        if (injection instanceof Off off
                && off.image().equals(pull.image())
                && pull.started().isAfter(off.since())) {
            closed(now);
        }
    }

    /** Takes over what held before a restart. */
    synchronized void restore(Injection before) {
        failing.clear();
        injection = before;
    }

    /** Begins again; earlier failures no longer count. */
    synchronized void closed(Instant now) {
        failing.clear();
        injection = new On(now);
    }
}
