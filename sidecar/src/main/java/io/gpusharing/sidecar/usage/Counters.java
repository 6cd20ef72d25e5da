package io.gpusharing.sidecar.usage;

/** The counters of one run: they only grow until another run begins. Safe from any thread. */
public interface Counters {

    /** The counters as they stand; never waits for the driver. */
    Usage usage();

    /** What to keep for the next process of this container. */
    Snapshot snapshot();

    /** Begins a new run, all counters at zero, because nobody will take those of the last one. */
    void beginAnew();
}
