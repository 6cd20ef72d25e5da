package io.gpusharing.timekeeper.metering;

import io.gpusharing.timekeeper.metering.PodFacts.Lifecycle;
import java.time.Instant;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A pod's stay on a GPU, as far as the API server has told it. Its edges are the API server's own
 * timestamps, so that whoever sees the same objects, whenever, gets the same stay.
 */
public sealed interface Stay {

    /** The pod holds nothing yet, or ended without ever having held anything. */
    record None() implements Stay {}

    /** The pod holds its share from {@code from} on. */
    record Open(Instant from) implements Stay {}

    /**
     * The pod held its share for [from, to).
     *
     * @param estimated whether the end is not told by the pod's own containers or its deletion
     */
    record Ended(Instant from, Instant to, boolean estimated) implements Stay {

        public Ended {
            // A container that failed before the condition was written ends no earlier than it
            // began.
            to = to.isBefore(from) ? from : to;
        }
    }

    /** The stay of a pod that is still there. */
    static Stay of(PodFacts pod) {
        Lifecycle life = pod.lifecycle();
        Instant from = start(pod);
        if (from == null) {
            return new None();
        }
        return life.terminal() ? terminal(life, from) : new Open(from);
    }

    /**
     * The stay of a pod that was removed, by its final object.
     *
     * @param lastKnown the last instant at which it certainly existed, for a final object without a
     *     deletion timestamp
     */
    static Stay ofRemoved(PodFacts pod, Instant lastKnown) {
        Lifecycle life = pod.lifecycle();
        Instant from = start(pod);
        if (from == null) {
            return new None();
        }
        if (life.terminal()) {
            return terminal(life, from);
        }
        Instant end = latest(life.finished(), life.deletion());
        return life.deletion() == null || end == null
                ? new Ended(from, latest(end, lastKnown, from), true)
                : new Ended(from, end, false);
    }

    /**
     * The stay of a pod that vanished while nobody watched.
     *
     * @param pod how it was seen last
     * @param lastKnown the last instant at which it certainly existed
     */
    static Stay ofVanished(PodFacts pod, Instant lastKnown) {
        return switch (of(pod)) {
            case None none -> none;
            // Never up to a deletion timestamp, which lay in the future when we saw it.
            case Open open ->
                    new Ended(
                            open.from(),
                            latest(lastKnown, pod.lifecycle().finished(), open.from()),
                            true);
            case Ended ended -> ended;
        };
    }

    private static @Nullable Instant start(PodFacts pod) {
        if (pod.placement().node() == null) {
            return null;
        }
        Lifecycle life = pod.lifecycle();
        return life.scheduled() != null ? life.scheduled() : life.started();
    }

    private static Ended terminal(Lifecycle life, Instant from) {
        if (life.finished() != null && !life.containerRunning()) {
            return new Ended(from, life.finished(), false);
        }
        // A lost node: nobody was left to say when the containers ended.
        Instant told =
                Stream.of(life.disrupted(), life.notReady(), life.deletion(), life.started())
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(from);
        return new Ended(from, latest(life.finished(), told), true);
    }

    private static Instant latest(@Nullable Instant... instants) {
        return Stream.of(instants)
                .filter(Objects::nonNull)
                .max(Instant::compareTo)
                .orElse(Instant.EPOCH);
    }
}
