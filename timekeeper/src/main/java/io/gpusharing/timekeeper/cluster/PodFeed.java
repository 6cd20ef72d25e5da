package io.gpusharing.timekeeper.cluster;

import io.gpusharing.timekeeper.allocation.PodFacts;
import java.util.List;

/**
 * Receives what happens to pods. Calls come one after the other, in the API server's order.
 *
 * <p>A position is a resource version. Who stores the position together with what the event led to
 * can go on exactly there, for as long as the API server remembers.
 */
public interface PodFeed {

    /**
     * All pods there are. A pod that is not among them has gone; its end may still be reported if
     * {@code resuming}.
     *
     * @param resuming whether what happened since the stored position is reported next
     */
    void onList(List<PodFacts> pods, String position, boolean resuming);

    /** A pod that is new or changed. */
    void onUpdate(PodFacts pod, String position);

    /** A pod that was removed, with its final state. */
    void onDelete(PodFacts pod, String position);

    /**
     * A pod that is still there and does not carry our label any more, so that nothing more is
     * reported of it.
     */
    void onUnlabelled(PodFacts pod, String position);

    /**
     * Nothing more happened up to here; when resuming, also once the past begins to be reported.
     */
    void onBookmark(String position);
}
