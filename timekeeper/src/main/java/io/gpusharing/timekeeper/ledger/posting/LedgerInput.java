package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.timekeeper.cluster.PodEvent;

/** What waits in the ledger writer's queue. */
public sealed interface LedgerInput {

    /** What the API server reported of pods. */
    record Pods(PodEvent event) implements LedgerInput {}

    /** Something that has to happen between two postings, because it changes what they read. */
    record Task(Runnable work) implements LedgerInput {}
}
