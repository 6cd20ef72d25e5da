package io.gpusharing.timekeeper.ledger;

import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the ledger needs from budgets. All calls come from the bookkeeper's thread. */
public interface Tariffs {

    /** Who pays for the namespace now. */
    Tariff of(String namespace);

    /**
     * The first instant after {@code instant} at which the budget's entries are cut, because a
     * period ends or a lot begins or expires; null if there is none.
     */
    @Nullable Instant cutAfter(String budget, Instant instant);

    /**
     * The ledger was read anew. These stays are open; whatever was derived from earlier calls is
     * void.
     */
    void restored(Collection<PodStay> open);

    /** A posting was committed. */
    void posted(Posting posting);

    /** The next instant at which {@link #due} wants to be called; null if there is none. */
    @Nullable Instant nextDue();

    /**
     * Takes the steps that are due. Returns, by budget, up to when its open stays must be posted.
     */
    Map<String, Instant> due(Instant now);

    /**
     * Says, for each budget that charges by measured use, how many of its open stays no node agent
     * has measured lately. They are charged by allocation.
     */
    void unmeasured(Map<String, Integer> stays);

    /**
     * Another replica writes the ledger. Its rows are shown; nothing is written, and nobody may act
     * on it.
     */
    void looked(Instant now);

    /** Everything that was due by now has been posted. */
    void upToDate(Instant now);
}
