package io.gpusharing.timekeeper.allocation;

import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodFacts.Lifecycle;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The interval in which a pod holds its share, computed from its object alone. Whoever sees the
 * same object computes the same interval, whenever that is.
 *
 * <p>Some instants in it were taken from the node's clock. They count only if they agree with the
 * API server's: nothing in a status happened after that status was written, and no pod ended before
 * it began.
 */
public sealed interface AllocationInterval {

    /** How far the clocks of nodes, API server and timekeeper may differ. */
    Duration SKEW = Duration.ofSeconds(10);

    /** How far a time of writing may lie ahead of our clock before it is taken for forged. */
    Duration LAG = Duration.ofDays(1);

    /** The pod holds nothing yet, or ended without ever having held anything. */
    record None() implements AllocationInterval {}

    /** The pod holds its share from {@code from} on. */
    record Open(Begin begin) implements AllocationInterval {

        public Open(Instant from) {
            this(new Begin(from, false));
        }

        public Instant from() {
            return begin.at();
        }
    }

    /**
     * When a pod began to hold its share.
     *
     * @param estimated whether nobody whose clock can be right has reported it
     */
    record Begin(Instant at, boolean estimated) {}

    /**
     * The pod held its share from its begin until {@code to}.
     *
     * @param estimated whether the end is reported neither by the pod's containers nor by its
     *     removal, or by a clock that is wrong
     * @param bound it did not end later than that; null if {@code to} is all that is known
     */
    record Ended(Begin begin, Instant to, boolean estimated, @Nullable Instant bound)
            implements AllocationInterval {

        public Ended {
            // A container may fail in the second before the condition was written.
            to = to.isBefore(begin.at()) ? begin.at() : to;
        }

        Ended(Begin begin, Instant to, boolean estimated) {
            this(begin, to, estimated, null);
        }

        public Ended(Instant from, Instant to, boolean estimated) {
            this(from, to, estimated, null);
        }

        public Ended(Instant from, Instant to, boolean estimated, @Nullable Instant bound) {
            this(new Begin(from, false), to, estimated, bound);
        }

        public Instant from() {
            return begin.at();
        }
    }

    /** The interval of a pod that is still there, as of the last write of its status. */
    static AllocationInterval of(PodFacts pod) {
        return of(pod, null);
    }

    /**
     * The interval of a pod that is still there.
     *
     * @param observed when the event reached us; null if that is not known
     */
    static AllocationInterval of(PodFacts pod, @Nullable Instant observed) {
        Lifecycle life = pod.lifecycle();
        Instant limit = limit(life, observed);
        Begin begin = begin(pod, limit, observed);
        if (begin == null) {
            return new None();
        }
        return life.terminal() ? terminal(life, begin, limit) : new Open(begin);
    }

    /**
     * The interval of a pod that was removed.
     *
     * @param pod its final state
     * @param seen when the event reached us, for a final state that does not say when it was
     *     removed
     */
    static AllocationInterval ofRemoved(PodFacts pod, Instant seen) {
        return switch (of(pod, seen)) {
            case None none -> none;
            case Ended ended -> ended;
            case Open open -> {
                Instant observed = pod.lifecycle().finished();
                Instant finished =
                        observed == null || isAhead(observed, limit(pod.lifecycle(), seen))
                                ? null
                                : observed;
                Instant removal = pod.lifecycle().removal();
                yield removal == null
                        ? new Ended(open.begin(), latest(seen, finished), true)
                        : new Ended(open.begin(), latest(removal, finished), false);
            }
        };
    }

    /** Nothing that this status reports happened later; null if nobody says when it was written. */
    private static @Nullable Instant limit(Lifecycle life, @Nullable Instant observed) {
        // Who may write a pod may write what is noted of its writes, but not when it reaches us.
        // Our
        // clock decides only where that is far off: charges shall not move with it.
        Instant written = life.written();
        return written != null && (observed == null || !written.isAfter(observed.plus(LAG)))
                ? written
                : observed;
    }

    private static boolean isAhead(Instant instant, @Nullable Instant limit) {
        return limit != null && instant.isAfter(limit.plus(SKEW));
    }

    private static @Nullable Begin begin(
            PodFacts pod, @Nullable Instant limit, @Nullable Instant observed) {
        if (pod.placement().node() == null) {
            return null;
        }
        Lifecycle life = pod.lifecycle();
        if (life.scheduled() == null && life.started() == null) {
            return null;
        }
        Begin begun =
                life.scheduled() != null && life.scheduledByBinding()
                        ? bound(life.scheduled(), observed)
                        : takenUp(life, limit);
        // A mirror pod's object comes after its containers; others were bound when they were
        // created.
        return begun.at().isBefore(life.created())
                ? new Begin(life.created(), begun.estimated())
                : begun;
    }

    /** No clock but the control plane's is in it, and no later write of the status moves it. */
    private static Begin bound(Instant scheduled, @Nullable Instant observed) {
        return observed != null && scheduled.isAfter(observed.plus(LAG))
                ? new Begin(observed, true)
                : new Begin(scheduled, false);
    }

    /** By the kubelet's clock, and by the earlier of what it wrote: it may write either again. */
    private static Begin takenUp(Lifecycle life, @Nullable Instant limit) {
        return Stream.of(Optional.ofNullable(life.scheduled()), Optional.ofNullable(life.started()))
                .flatMap(Optional::stream)
                .filter(instant -> !isAhead(instant, limit))
                .min(Instant::compareTo)
                .map(at -> new Begin(at, false))
                .orElseGet(() -> new Begin(limit == null ? life.created() : limit, true));
    }

    private static Ended terminal(Lifecycle life, Begin begin, @Nullable Instant limit) {
        if (life.finished() != null && !life.endUnknown()) {
            return finished(life.finished(), begin, limit);
        }
        Instant last = latest(unseen(life, begin.at(), limit), life.finished());
        return limit != null && isAhead(last, limit)
                ? new Ended(begin, limit, true, limit)
                : new Ended(begin, last, true);
    }

    /**
     * The end of a pod whose containers nobody saw end. Of a lost node it is when the pod was taken
     * for lost; else, for instance of a pod that its kubelet rejected or evicted, when that was
     * written down, or reported to us.
     */
    private static Instant unseen(Lifecycle life, Instant from, @Nullable Instant limit) {
        if (life.lost() != null) {
            return latest(life.lost(), life.notReady());
        }
        return limit == null ? from : limit;
    }

    private static Ended finished(Instant observed, Begin begin, @Nullable Instant limit) {
        boolean wrong = isAhead(observed, limit) || observed.isBefore(begin.at().minus(SKEW));
        if (!wrong) {
            return new Ended(begin, observed, false);
        }
        // Its clock being wrong, it ended at some time before that was written down.
        return new Ended(begin, limit == null ? begin.at() : limit, true, limit);
    }

    private static Instant latest(Instant one, @Nullable Instant other) {
        return other == null || other.isBefore(one) ? one : other;
    }
}
