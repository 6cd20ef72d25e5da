package io.gpusharing.timekeeper.cluster;

import java.util.Optional;

/**
 * Takes what the leader's watch reports of pods: the ledger writer. It remembers how far it came,
 * so that the watch can go on there after a restart.
 */
public interface PodEventHandler {

    /**
     * How far it came; empty if it begins. The watch begins there: what an earlier one reported and
     * that was not taken in yet is forgotten, for it comes again.
     */
    Optional<String> position();

    /** Takes events one after the other, in the API server's order. */
    void onEvent(PodEvent event);
}
