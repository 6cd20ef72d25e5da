package io.gpusharing.timekeeper.provider;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.usage.MemoryExcessLog;
import io.gpusharing.timekeeper.usage.UsageReport.MemoryExceeded;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Which pods hold more memory than they were given, and since when without a report that says
 * otherwise. Reports come to any replica, and the leader asks for evictions: so it is a table.
 * Where nobody is to be evicted nothing is remembered.
 */
@Repository
class MemoryExcesses implements MemoryExcessLog {

    /** Agents report each minute at least, unless they are in trouble: then nothing is known. */
    static final Duration GAP = Duration.ofMinutes(5);

    /** A replica whose clock is ahead of another's by more is not believed. */
    private static final Duration AHEAD = Duration.ofMinutes(1);

    private static final String GIVEN_BACK =
            """
            delete from memory_excess
             where cluster = :cluster and node = :node and (last_at <= :at or last_at > :ahead)
               and not (pod_uid = any(:pods))
            """;

    private static final String HELD =
            """
            insert into memory_excess as e
                   (cluster, pod_uid, namespace, name, node, device, used_bytes, granted_bytes, since, last_at)
            select :cluster, t.pod, t.namespace, t.name, :node, t.device, t.used, t.granted, :at, :at
              from unnest(:pod::uuid[], :namespace::text[], :name::text[], :device::text[], :used::bigint[],
                          :granted::bigint[]) as t (pod, namespace, name, device, used, granted)
             order by pod
            on conflict (cluster, pod_uid) do update
               set namespace = excluded.namespace, name = excluded.name, node = excluded.node,
                   device = excluded.device, used_bytes = excluded.used_bytes,
                   granted_bytes = excluded.granted_bytes, last_at = excluded.last_at,
                   since = case when e.node = excluded.node and e.last_at between :gap and :ahead
                                then e.since else excluded.since end
             where e.last_at <= excluded.last_at or e.last_at > :ahead
            """;

    private final ClusterDatabase database;
    private final TransactionTemplate transaction;
    private final ProviderProperties properties;

    MemoryExcesses(
            ClusterDatabase database,
            TransactionTemplate transaction,
            ProviderProperties properties) {
        this.database = database;
        this.transaction = transaction;
        this.properties = properties;
    }

    @Override
    public boolean isWanted() {
        return properties.memoryOveruse().evicts();
    }

    @Override
    public void reported(String node, List<MemoryExceeded> pods, Instant at) {
        transaction.executeWithoutResult(status -> {
            database.sql(GIVEN_BACK)
                    .param("node", node)
                    .param("at", at)
                    .param("ahead", at.plus(AHEAD))
                    .uuids("pods", pods.stream().map(MemoryExceeded::uid).toList())
                    .update();
            database.sql(HELD)
                    .param("node", node)
                    .param("at", at)
                    .param("gap", at.minus(GAP))
                    .param("ahead", at.plus(AHEAD))
                    .rows(pods)
                    .uuid("pod", MemoryExceeded::uid)
                    .text("namespace", MemoryExceeded::namespace)
                    .text("name", MemoryExceeded::pod)
                    .text("device", MemoryExceeded::device)
                    .number("used", MemoryExceeded::usedBytes)
                    .number("granted", MemoryExceeded::grantedBytes)
                    .update();
        });
    }

    /** Those that have held too much for so long, and did a moment ago; the longest first. */
    List<MemoryExcess> lasting(Duration time, Instant now) {
        return database.sql(
                        """
                        select * from memory_excess
                         where cluster = :cluster and last_at between :gap and :ahead
                           and last_at - since >= make_interval(secs => :seconds)
                         order by since, pod_uid
                        """)
                .param("gap", now.minus(GAP))
                .param("ahead", now.plus(AHEAD))
                .param("seconds", time.toSeconds())
                .query((row, number) -> excess(row))
                .list();
    }

    static MemoryExcess excess(ResultSet row) throws SQLException {
        return new MemoryExcess(
                row.getObject("pod_uid", UUID.class),
                row.getString("namespace"),
                row.getString("name"),
                row.getString("node"),
                row.getString("device"),
                row.getLong("used_bytes"),
                row.getLong("granted_bytes"),
                Timestamps.instant(row, "since"));
    }
}
