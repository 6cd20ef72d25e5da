package io.gpusharing.timekeeper.cluster;

import io.gpusharing.timekeeper.allocation.PodFacts;
import java.util.List;
import java.util.Optional;

/** A feed's reader that remembers how far it came, so that it can go on there after a restart. */
public interface PodEventHandler extends PodFeed {

    /**
     * How far it came; empty if it begins. A feed begins there: what an earlier one reported and
     * that was not taken in yet is forgotten, for it comes again.
     */
    Optional<String> position();

    /**
     * All bound pods that ask for GPUs and do not carry our label, so that the feed does not report
     * them.
     */
    void onResync(List<PodFacts> pods);
}
