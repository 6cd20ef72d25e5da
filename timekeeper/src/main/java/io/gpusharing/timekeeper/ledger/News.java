package io.gpusharing.timekeeper.ledger;

import io.gpusharing.timekeeper.metering.PodFacts;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/** What waits in the bookkeeper's queue. */
sealed interface News {

    /** When a pod's change was told; nothing for other news. */
    default Stream<Instant> instants() {
        return switch (this) {
            case Changed changed -> Stream.of(changed.at());
            case Removed removed -> Stream.of(removed.at());
            case Unlabelled unlabelled -> Stream.of(unlabelled.at());
            case Listed listed -> Stream.empty();
            case Swept swept -> Stream.empty();
            case Passed passed -> Stream.empty();
            case Task task -> Stream.empty();
        };
    }

    /** All pods there are; see {@link io.gpusharing.timekeeper.cluster.PodFeed#listed}. */
    record Listed(List<PodFacts> pods, String position, boolean resuming, Instant at)
            implements News {}

    record Changed(PodFacts pod, String position, Instant at) implements News {}

    record Removed(PodFacts pod, String position, Instant at) implements News {}

    /** A pod that from now on only the sweep finds. */
    record Unlabelled(PodFacts pod, String position, Instant at) implements News {}

    /** All bound pods that ask for GPUs and that the watch does not tell of. */
    record Swept(List<PodFacts> pods, Instant at) implements News {}

    record Passed(String position, Instant at) implements News {}

    /** Something that has to happen between two postings, because it changes what they read. */
    record Task(Runnable work) implements News {}
}
