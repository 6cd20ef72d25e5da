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
     * @param estimated whether the end is told neither by the pod's containers nor by its removal
     */
    record Ended(Instant from, Instant to, boolean estimated) implements Stay {

        public Ended {
            // A container may fail in the second before the condition was written.
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
     * The stay of a pod that was removed.
     *
     * @param pod its final state
     * @param seen when we were told, for a final state that does not say when it was removed
     */
    static Stay ofRemoved(PodFacts pod, Instant seen) {
        return switch (of(pod)) {
            case None none -> none;
            case Ended ended -> ended;
            case Open open -> {
                Instant finished = pod.lifecycle().finished();
                Instant removal = pod.lifecycle().removal();
                yield removal == null
                        ? new Ended(open.from(), latest(seen, finished), true)
                        : new Ended(open.from(), latest(removal, finished), false);
            }
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
                Stream.of(life.disrupted(), life.notReady(), life.removal(), life.started())
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(from);
        return new Ended(from, latest(told, life.finished()), true);
    }

    private static Instant latest(Instant one, @Nullable Instant other) {
        return other == null || other.isBefore(one) ? one : other;
    }
}
