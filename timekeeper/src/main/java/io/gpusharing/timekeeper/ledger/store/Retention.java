package io.gpusharing.timekeeper.ledger.store;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.ClusterStatement;
import io.gpusharing.web.LeaderTask;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.springframework.stereotype.Component;

/**
 * Deletes what belongs to months whose charges were dropped, some thousand rows at a time: pods
 * that had ended, what was unwatched, corrected, measured, evicted and announced then. Hourly sums
 * stay, and budgets with their terms, periods and grants.
 */
@Component
class Retention extends LeaderTask {

    private static final Duration EVERY = Duration.ofHours(6);
    private static final int BATCH = 10_000;

    private record Expired(String table, String condition) {}

    private static final List<Expired> OF_DROPPED_MONTHS =
            List.of(
                    new Expired("correction", "charged_from < :before"),
                    new Expired("unwatched", "until < :before"),
                    // A pod that holds what others hold is known as long as they are.
                    new Expired(
                            "claim_holder",
                            """
                            exists (select from pod_allocation a where a.cluster = t.cluster and a.pod_uid = t.allocation
                                     and a.held_until < :before and a.charged_until < :before)
                            """),
                    new Expired(
                            "pod_allocation",
                            """
                            held_until < :before and charged_until < :before and not exists (
                                select from claim_holder h where h.cluster = t.cluster and t.pod_uid in (h.pod_uid, h.allocation))
                            """),
                    new Expired(
                            "usage_counter",
                            """
                            last_at < :before and not exists (
                                select from pod_allocation a where a.cluster = t.cluster and a.pod_uid = t.pod_uid)
                            """),
                    new Expired("usage_unattributed", "last_at < :before"),
                    new Expired("eviction", "decided_at < :before"),
                    new Expired("memory_excess", "last_at < :before"),
                    // Months of open periods are kept, so nothing is announced again.
                    new Expired("budget_notification", "due_at < :before"));

    private final ClusterDatabase database;
    private final Ledger ledger;

    Retention(ClusterDatabase database, Ledger ledger, Leadership leadership, Clock clock) {
        super("retention", leadership, clock);
        this.database = database;
        this.ledger = ledger;
    }

    @Override
    protected Instant work(Instant now) {
        ledger.keptSince().ifPresent(before -> OF_DROPPED_MONTHS.forEach(it -> delete(it, before)));
        return now.plus(EVERY);
    }

    private void delete(Expired expired, Instant before) {
        ClusterStatement batch =
                database.sql(
                                """
                                delete from %1$s where ctid = any(array(
                                    select t.ctid from %1$s t where t.cluster = :cluster and %2$s limit :batch))
                                """
                                        .formatted(expired.table(), expired.condition()))
                        .param("before", before)
                        .param("batch", BATCH);
        while (leads() && batch.update() == BATCH) {}
    }
}
