package io.gpusharing.timekeeper.ledger;

/** What waits in the ledger writer's queue. */
public sealed interface LedgerInput permits PodEvent, LedgerInput.Task {

    /** Something that has to happen between two postings, because it changes what they read. */
    record Task(Runnable work) implements LedgerInput {}
}
