package io.gpusharing.timekeeper.ledger;

import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Who pays, and where entries are cut. All calls come from the ledger writer's thread. */
public interface RateSource {

    /** Who pays for the namespace now. */
    Payer of(String namespace);

    /**
     * Namespaces whose payer or rate has changed since this was asked last; null if it may be any.
     */
    @Nullable Set<String> repriced();

    /**
     * When who pays has begun to change in ways that {@link #of} does not say yet; null if it has
     * not.
     */
    @Nullable Instant unsettledSince();

    /**
     * The first instant after {@code instant} at which the budget's entries are cut, because a
     * period ends or a credit begins or expires; null if there is none.
     */
    @Nullable Instant cutAfter(String budget, Instant instant);
}
