package io.gpusharing.timekeeper.reclaim;

import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Receipt;
import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Receipts of evictions for one cause. */
public interface ReceiptSource {

    /**
     * A page of receipts.
     *
     * @param namespace of victim or waiter; null for all
     * @param pod victim or waiter; null for all
     * @param before only those that come after it in order
     * @param size how many at most
     * @param shown namespaces whose pods may be named; in others, a considered pod has neither uid
     *     nor name. Victim and waiter know each other by the Events on them
     */
    record Query(
            @Nullable String namespace,
            @Nullable UUID pod,
            ReceiptCursor before,
            int size,
            Predicate<String> shown) {}

    /** Those of a page, latest first. */
    List<Receipt> receipts(Query query);
}
