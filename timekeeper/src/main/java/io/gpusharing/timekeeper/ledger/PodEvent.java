package io.gpusharing.timekeeper.ledger;

import io.gpusharing.timekeeper.allocation.PodFacts;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/** What the API server tells of pods. */
public sealed interface PodEvent extends LedgerInput {

    /** When a pod's change was received; nothing for a list or a bookmark. */
    default Stream<Instant> instants() {
        return switch (this) {
            case Updated updated -> Stream.of(updated.at());
            case Deleted deleted -> Stream.of(deleted.at());
            case Unlabelled unlabelled -> Stream.of(unlabelled.at());
            case Listed listed -> Stream.empty();
            case Resync resync -> Stream.empty();
            case Bookmark bookmark -> Stream.empty();
        };
    }

    /** All pods there are; see {@link io.gpusharing.timekeeper.cluster.PodFeed#onList}. */
    record Listed(List<PodFacts> pods, String position, boolean resuming, Instant at)
            implements PodEvent {}

    record Updated(PodFacts pod, String position, Instant at) implements PodEvent {}

    record Deleted(PodFacts pod, String position, Instant at) implements PodEvent {}

    /** A pod that from now on only the sweep finds. */
    record Unlabelled(PodFacts pod, String position, Instant at) implements PodEvent {}

    /** All bound pods that ask for GPUs and that the watch does not tell of. */
    record Resync(List<PodFacts> pods, Instant at) implements PodEvent {}

    record Bookmark(String position, Instant at) implements PodEvent {}
}
