package io.gpusharing.timekeeper.ledger;

import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Follows the ledger: what was read, what was posted, and what is due by the clock. All calls come
 * from the ledger writer's thread.
 */
public interface LedgerListener {

    /**
     * The ledger was read anew. These allocations are open; whatever was derived from earlier calls
     * is void.
     */
    void restored(Collection<PodAllocation> open);

    /** A posting was committed. */
    void posted(Posting posting);

    /** People may have corrected what was posted for a budget. */
    void corrected(String budget);

    /** The next instant at which {@link #due} wants to be called; null if there is none. */
    @Nullable Instant nextDue();

    /**
     * Takes the steps that are due. Returns, by budget, up to when its open allocations must be
     * posted.
     */
    Map<String, Instant> due(Instant now);

    /**
     * Says, for each budget that charges by measured use, how many of its open allocations no node
     * agent has measured lately. They are charged by allocation.
     */
    void unmeasured(Map<String, Integer> allocations);

    /**
     * Another replica writes the ledger. Its rows are shown; nothing is written, and nobody may act
     * on it.
     */
    void followed(Instant now);

    /** Everything that was due by now has been posted. */
    void upToDate(Instant now);
}
