package io.gpusharing.timekeeper.provider;

import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.cluster.EvictionApi;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Cause;
import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Pod;
import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Receipt;
import io.gpusharing.timekeeper.reclaim.ReceiptCursor;
import io.gpusharing.timekeeper.reclaim.ReceiptSource;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;

/** Writes down which pods are evicted because they hold too much GPU memory. */
@Repository
class MemoryEvictions implements ReceiptSource {

    private static final String PLAN =
            """
            insert into memory_eviction
                   (cluster, pod_uid, namespace, name, budget, node, device, used_bytes, granted_bytes, since, decided_at)
            values (:cluster, :pod, :namespace, :name, :budget, :node, :device, :used, :granted, :since, :at)
            on conflict (cluster, pod_uid, since) do nothing
            """;

    private static final String ANSWERED =
            """
            update memory_eviction set result = :result, result_detail = :detail
             where cluster = :cluster and pod_uid = :pod and since = :since
            """;

    private static final String PAGE =
            """
            select * from memory_eviction
             where cluster = :cluster
               and (:namespace::text is null or namespace = :namespace::text)
               and (:pod::uuid is null or pod_uid = :pod::uuid)
               and decided_at <= :at and (decided_at < :at or :number > 0 or pod_uid < :victim)
             order by decided_at desc, pod_uid desc limit :size
            """;

    private final ClusterDatabase database;
    private final Budgets budgets;

    MemoryEvictions(ClusterDatabase database, Budgets budgets) {
        this.database = database;
        this.budgets = budgets;
    }

    /** To be written before the API server is asked; once, however often it is asked. */
    void plan(MemoryExcess excess, Instant now) {
        database.sql(PLAN)
                .param("pod", excess.pod())
                .param("namespace", excess.namespace())
                .param("name", excess.name())
                .param(
                        "budget",
                        // A name with a slash is no budget: its namespace is unlimited.
                        budgets.ofNamespace(excess.namespace())
                                .map(budget -> budget.name())
                                .orElse("/" + excess.namespace()))
                .param("node", excess.node())
                .param("device", excess.device())
                .param("used", excess.usedBytes())
                .param("granted", excess.grantedBytes())
                .param("since", excess.since())
                .param("at", now)
                .update();
    }

    /** Notes what the API server answered. */
    void record(MemoryExcess excess, EvictionApi.Answer answer) {
        database.sql(ANSWERED)
                .param("result", answer.result().name())
                .param("detail", answer.detail())
                .param("pod", excess.pod())
                .param("since", excess.since())
                .update();
    }

    /** Those of which it is not known what the API server answered. */
    List<MemoryExcess> open() {
        return database.sql(
                        """
                        select * from memory_eviction
                         where cluster = :cluster and result is null
                         order by decided_at limit 1000
                        """)
                .query((row, number) -> MemoryExcesses.excess(row))
                .list();
    }

    @Override
    public List<Receipt> receipts(Query query) {
        return database.sql(PAGE)
                .param("namespace", query.namespace())
                .param("pod", query.pod())
                .param("at", query.before().at())
                .param("number", query.before().number())
                .param("victim", query.before().victim())
                .param("size", query.size())
                .query((row, number) -> receipt(row))
                .list();
    }

    private static Receipt receipt(ResultSet row) throws SQLException {
        MemoryExcess excess = MemoryExcesses.excess(row);
        Instant decided = Timestamps.instant(row, "decided_at");
        String budget = row.getString("budget");
        String result = row.getString("result");
        String detail = row.getString("result_detail");
        return new Receipt(
                decided,
                Cause.MemoryExceeded,
                new Pod(excess.pod(), excess.namespace(), excess.name(), budget),
                null,
                null,
                excess.node(),
                "%s/%s of budget %s %s %s: it %s"
                        .formatted(
                                excess.namespace(),
                                excess.name(),
                                budget,
                                did(result),
                                excess.node(),
                                excess.words()),
                excess.words(),
                null,
                null,
                null,
                result == null ? "Planned" : result.equals("Ended") ? "Evicted" : result,
                detail.isEmpty() ? null : detail,
                null,
                null,
                new ReceiptCursor(decided, 0, excess.pod()));
    }

    private static String did(@Nullable String result) {
        return switch (result) {
            case "Ended" -> "was evicted from";
            case "Gone" -> "had gone already when it was to be evicted from";
            case null, default -> "was to be evicted from";
        };
    }
}
