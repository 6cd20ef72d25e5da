package io.gpusharing.timekeeper.ledger;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.cluster.ClusterProperties;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.ledger.StatementLine.Kind;
import io.gpusharing.timekeeper.ledger.StatementLine.Place;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** What a budget's pods used, line by line. */
@Repository
public class StatementBook {

    // An entry that a span's edge cuts counts by its part; no entry is longer than an hour, so none
    // that began earlier reaches into the span. Edges are whole seconds: nothing is rounded. Names
    // are looked up for the page's pods alone; a join would read all pods that there ever were.
    private static final String LINES =
            """
            with line as (
                select 'Charge' as kind, date_trunc('hour', charged_from, 'UTC') as hour, pod_uid, namespace,
                       greatest(min(charged_from), :from::timestamptz) as line_from,
                       least(max(charged_to), :to::timestamptz) as line_to,
                       sum(case when charged_from >= :from::timestamptz and charged_to <= :to::timestamptz
                                then amount
                                else (rate * extract(epoch from least(charged_to, :to::timestamptz)
                                      - greatest(charged_from, :from::timestamptz)))::bigint end)::bigint as used,
                       null::text as reason, null::text as author, :nobody::uuid as correction
                  from charge
                 where cluster = :cluster and budget = :budget
                   and charged_from >= greatest(:from::timestamptz - interval '1 hour', :hour::timestamptz)
                   and charged_from < :to::timestamptz and charged_to > :from::timestamptz
                 group by 2, 3, 4
                union all
                select 'Correction', date_trunc('hour', charged_from, 'UTC'), pod_uid, namespace,
                       greatest(charged_from, :from::timestamptz), least(charged_to, :to::timestamptz),
                       (rate * extract(epoch from least(charged_to, :to::timestamptz)
                           - greatest(charged_from, :from::timestamptz)))::bigint, reason, author, id
                  from correction
                 where cluster = :cluster and budget = :budget
                   and charged_from >= greatest(:from::timestamptz - interval '1 hour', :hour::timestamptz)
                   and charged_from < :to::timestamptz and charged_to > :from::timestamptz
                union all
                select 'Running', date_trunc('hour', greatest(posted_until, :from::timestamptz), 'UTC'), pod_uid, namespace,
                       greatest(posted_until, :from::timestamptz), :to::timestamptz,
                       (rate * extract(epoch from :to::timestamptz
                           - greatest(posted_until, :from::timestamptz)))::bigint, null, null, :nobody::uuid
                  from pod_stay
                 where cluster = :cluster and budget = :budget and held_until is null
                   and posted_until < :to::timestamptz and rate > 0
            ), page as (
                select * from line where (hour, pod_uid, kind, correction) > (:hour::timestamptz, :pod::uuid, :kind::text, :correction::uuid)
                order by hour, pod_uid, kind, correction limit :size
            )
            select p.*, s.name from page p left join lateral
                (select name from pod_stay where cluster = :cluster and pod_uid = p.pod_uid offset 0) s on true
            order by hour, pod_uid, kind, correction
            """;

    private static final String LARGEST =
            """
            with used as (
                select pod_uid, sum(amount)::bigint as used from charge
                 where cluster = :cluster and budget = :budget
                   and charged_from >= :from::timestamptz and charged_from < :to::timestamptz
                 group by pod_uid
                union all
                select pod_uid, sum(amount)::bigint from correction
                 where cluster = :cluster and budget = :budget
                   and charged_from >= :from::timestamptz and charged_from < :to::timestamptz
                 group by pod_uid
                union all
                select pod_uid, (rate * extract(epoch from :to::timestamptz
                        - greatest(posted_until, :from::timestamptz)))::bigint from pod_stay
                 where cluster = :cluster and budget = :budget and held_until is null
                   and posted_until < :to::timestamptz
            )
            select u.pod_uid, s.namespace, s.name, s.owner_kind, s.owner_name, sum(u.used)::bigint as used
              from used u join pod_stay s on s.cluster = :cluster and s.pod_uid = u.pod_uid
             group by 1, 2, 3, 4, 5 order by used desc, u.pod_uid limit :size
            """;

    private static final String OPEN =
            """
            select namespace, sum(rate * extract(epoch from :to::timestamptz - greatest(posted_until, :from::timestamptz)))::bigint as used
              from pod_stay
             where cluster = :cluster and budget = :budget and held_until is null
               and posted_until < :to::timestamptz
             group by namespace
            """;

    private final JdbcClient jdbc;
    private final String cluster;

    StatementBook(JdbcClient jdbc, ClusterProperties properties) {
        this.jdbc = jdbc;
        this.cluster = properties.id();
    }

    /**
     * The next lines of [from, to), both whole seconds.
     *
     * @param to not in the future
     * @param after where the last page ended; {@link Place#START} for the first
     * @param size how many at most
     */
    public List<StatementLine> lines(
            String budget, Instant from, Instant to, Place after, int size) {
        return jdbc.sql(LINES)
                .param("cluster", cluster)
                .param("budget", budget)
                .param("from", from.toString())
                .param("to", to.toString())
                .param("nobody", new UUID(0, 0))
                .param("hour", after.hour().toString())
                .param("pod", after.pod())
                .param("kind", after.kind().name())
                .param("correction", after.correction())
                .param("size", size)
                .query((row, number) -> line(row))
                .list();
    }

    /** What open stays have used of [from, to) and is not posted yet, by namespace. */
    public Map<String, GpuTime> open(String budget, Instant from, Instant to) {
        var used = new TreeMap<String, GpuTime>();
        jdbc.sql(OPEN)
                .param("cluster", cluster)
                .param("budget", budget)
                .param("from", from.toString())
                .param("to", to.toString())
                .query(row -> {
                    used.put(row.getString("namespace"), new GpuTime(row.getLong("used")));
                });
        return used;
    }

    /**
     * What a pod used of a span, corrections included.
     *
     * @param used micro-GPU-seconds
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record PodUse(
            UUID pod,
            String namespace,
            @Nullable String podName,
            @Nullable String ownerKind,
            @Nullable String ownerName,
            long used,
            String usedMinutes) {

        /** The same for who may not see what the pod and its owner are called. */
        public PodUse withoutNames() {
            return new PodUse(pod, namespace, null, ownerKind, null, used, usedMinutes);
        }
    }

    /** The pods that used most in [from, to), largest first. */
    public List<PodUse> largest(String budget, Instant from, Instant to, int size) {
        return jdbc.sql(LARGEST)
                .param("cluster", cluster)
                .param("budget", budget)
                .param("from", from.toString())
                .param("to", to.toString())
                .param("size", size)
                .query((row, number) ->
                        new PodUse(
                                row.getObject("pod_uid", UUID.class),
                                row.getString("namespace"),
                                row.getString("name"),
                                row.getString("owner_kind"),
                                row.getString("owner_name"),
                                row.getLong("used"),
                                new GpuTime(row.getLong("used")).minutes()))
                .list();
    }

    private static StatementLine line(ResultSet row) throws SQLException {
        Kind kind = Kind.valueOf(row.getString("kind"));
        return new StatementLine(
                kind,
                Timestamps.instant(row, "hour"),
                Timestamps.instant(row, "line_from"),
                Timestamps.instant(row, "line_to"),
                row.getString("namespace"),
                row.getObject("pod_uid", UUID.class),
                row.getString("name"),
                row.getLong("used"),
                row.getString("reason"),
                row.getString("author"),
                kind == Kind.Correction ? row.getObject("correction", UUID.class) : null);
    }
}
