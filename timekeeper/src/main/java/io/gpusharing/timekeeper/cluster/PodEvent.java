package io.gpusharing.timekeeper.cluster;

import io.gpusharing.kubernetes.PodFacts;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * What the API server reports of pods, with the instant at which it was received.
 *
 * <p>A position is a resource version. Who stores the position together with what the event led to
 * can go on exactly there, for as long as the API server remembers.
 */
public sealed interface PodEvent {

    Instant at();

    /**
     * All pods there are. A pod that is not among them has gone; its end may still be reported if
     * {@code resuming}.
     *
     * @param unread those that are there and cannot be read
     * @param resuming whether what happened since the stored position is reported next
     */
    record Listed(
            List<PodFacts> pods, Set<UUID> unread, String position, boolean resuming, Instant at)
            implements PodEvent {}

    /** A change of one pod. */
    sealed interface PodChange extends PodEvent {

        PodFacts pod();

        String position();
    }

    /** A pod that is new or changed. */
    record Updated(PodFacts pod, String position, Instant at) implements PodChange {}

    /** A pod that was removed, with its final state. */
    record Deleted(PodFacts pod, String position, Instant at) implements PodChange {}

    /**
     * A pod that is still there and does not carry our label any more, so that from now on only the
     * sweep finds it.
     */
    record Unlabelled(PodFacts pod, String position, Instant at) implements PodChange {}

    /**
     * Nothing more happened up to here; when resuming, also once the past begins to be reported.
     */
    record Bookmark(String position, Instant at) implements PodEvent {}

    /**
     * All bound pods that ask for GPUs and do not carry our label, so that the watch does not
     * report them.
     *
     * @param unread those that cannot be read, whether they ask for GPUs or not
     */
    record Resync(List<PodFacts> pods, Set<UUID> unread, Instant at) implements PodEvent {}
}
