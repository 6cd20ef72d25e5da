package io.gpusharing.timekeeper.ledger;

import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the ledger has to know of budgets. Asked in the ledger's own thread. */
public interface Tariffs {

    /** Who pays for the namespace now. */
    Tariff of(String namespace);

    /**
     * The first instant after {@code instant} at which the budget's entries are cut, because a
     * period ends or a lot begins or expires; null if there is none.
     */
    @Nullable Instant cutAfter(String budget, Instant instant);

    /** These stays are open; what was known of posted and of open time is void. */
    void restored(Collection<PodStay> open);

    /** A posting was committed. */
    void posted(Posting posting);

    /** The next instant at which {@link #due} wants to be called; null if there is none. */
    @Nullable Instant nextDue();

    /** By budget, a step that has passed by now: its open stays must be posted up to there. */
    Map<String, Instant> due(Instant now);

    /**
     * By budget, how many of its open stays are charged by their allocation although it charges by
     * measured use, because no node agent has measured them lately.
     */
    void unmeasured(Map<String, Integer> stays);

    /**
     * Another replica keeps the ledger: what its rows come to is shown, and nothing is written or
     * concluded.
     */
    void looked(Instant now);

    /** All that was due by now is posted. */
    void upToDate(Instant now);
}
