package io.gpusharing.timekeeper.ledger;

import io.gpusharing.timekeeper.allocation.PodFacts;
import java.time.Instant;
import java.util.List;

/** What the API server reports of pods. */
public sealed interface PodEvent extends LedgerInput {

    /** All pods there are; see {@link io.gpusharing.timekeeper.cluster.PodFeed#onList}. */
    record Listed(List<PodFacts> pods, String position, boolean resuming, Instant at)
            implements PodEvent {}

    /** A change of one pod. */
    sealed interface PodChange extends PodEvent {

        PodFacts pod();

        String position();

        /** When it was received. */
        Instant at();
    }

    record Updated(PodFacts pod, String position, Instant at) implements PodChange {}

    record Deleted(PodFacts pod, String position, Instant at) implements PodChange {}

    /** A pod that from now on only the sweep finds. */
    record Unlabelled(PodFacts pod, String position, Instant at) implements PodChange {}

    /** All bound pods that ask for GPUs and that the watch does not report. */
    record Resync(List<PodFacts> pods, Instant at) implements PodEvent {}

    record Bookmark(String position, Instant at) implements PodEvent {}
}
