package io.gpusharing.timekeeper.statement;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.ClusterStatement;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.statement.StatementLine.Kind;
import io.gpusharing.timekeeper.statement.StatementLine.Place;
import io.gpusharing.timekeeper.statement.StatementLine.Pod;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;

/** What a budget's pods used, line by line. */
@Repository
public class StatementRepository {

    // Lines come by the hour, and no entry crosses one: when a page is full, its reading ends with
    // that hour.
    private static final String ENOUGH =
            """
            select date_trunc('hour', charged_from, 'UTC') + interval '1 hour' as until from charge
             where cluster = :cluster and budget = :budget
               and charged_from >= :next::timestamptz and charged_from < :to::timestamptz
             order by charged_from offset :size limit 1
            """;

    // What runs is listed by the hour, too: posted while somebody reads page after page, it keeps
    // its
    // place. An entry that a span's edge cuts counts by its part; no entry is longer than an hour,
    // so none
    // that began earlier reaches into the span. Edges are whole seconds: nothing is rounded.
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
                   and charged_from < :until::timestamptz and charged_to > :from::timestamptz
                 group by 2, 3, 4
                union all
                select 'Correction', date_trunc('hour', charged_from, 'UTC'), pod_uid, namespace,
                       greatest(charged_from, :from::timestamptz), least(charged_to, :to::timestamptz),
                       (rate * extract(epoch from least(charged_to, :to::timestamptz)
                           - greatest(charged_from, :from::timestamptz)))::bigint, reason, author, id
                  from correction
                 where cluster = :cluster and budget = :budget
                   and charged_from >= greatest(:from::timestamptz - interval '1 hour', :hour::timestamptz)
                   and charged_from < :until::timestamptz and charged_to > :from::timestamptz
                union all
                select 'Running', hour, pod_uid, namespace,
                       greatest(posted_until, :from::timestamptz, hour), least(:to::timestamptz, hour + interval '1 hour'),
                       (rate * extract(epoch from least(:to::timestamptz, hour + interval '1 hour')
                           - greatest(posted_until, :from::timestamptz, hour)))::bigint, null, null, :nobody::uuid
                  from pod_allocation cross join lateral generate_series(
                           greatest(date_trunc('hour', greatest(posted_until, :from::timestamptz), 'UTC'), :hour::timestamptz),
                           least(:to::timestamptz, :until::timestamptz) - interval '1 second', interval '1 hour') as hour
                 where cluster = :cluster and budget = :budget and held_until is null
                   and posted_until < :to::timestamptz and rate > 0
            )
            select * from (
                select *, left(encode(sha256(convert_to(pod_uid::text, 'UTF8')), 'hex'), 32) as place from line) placed
             where (hour, place, kind, correction) > (:hour::timestamptz, :pod::text, :kind::text, :correction::uuid)
             order by hour, place, kind, correction limit :size
            """;

    // Asked for by the page's pods; a join would read all pods that there ever were.
    private static final String NAMES =
            "select pod_uid, name, owner_kind, owner_name, model from pod_allocation where cluster = :cluster and pod_uid = any(:pods)";

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
                        - greatest(posted_until, :from::timestamptz)))::bigint from pod_allocation
                 where cluster = :cluster and budget = :budget and held_until is null
                   and posted_until < :to::timestamptz
            )
            select u.pod_uid, s.namespace, s.name, s.owner_kind, s.owner_name, sum(u.used)::bigint as used
              from used u join pod_allocation s on s.cluster = :cluster and s.pod_uid = u.pod_uid
             group by 1, 2, 3, 4, 5 order by used desc, u.pod_uid limit :size
            """;

    private final ClusterDatabase database;

    public StatementRepository(ClusterDatabase database) {
        this.database = database;
    }

    /**
     * Lines that follow each other.
     *
     * @param lines at least one, if they are not the last
     * @param last whether none comes after them
     */
    public record Lines(List<StatementLine> lines, boolean last) {}

    /**
     * The next lines of [from, to), both whole seconds.
     *
     * @param to not in the future
     * @param after where the last page ended; {@link Place#START} for the first
     * @param size how many at most; they can be fewer where pods have several entries in an hour
     */
    public Lines lines(String budget, Instant from, Instant to, Place after, int size) {
        Optional<Instant> enough =
                query(ENOUGH, budget, from, to, after, size)
                        .param("next", nextHour(from, after))
                        .query((row, number) -> Timestamps.instant(row, "until"))
                        .optional()
                        .filter(to::isAfter);
        List<StatementLine> lines =
                query(LINES, budget, from, to, after, size)
                        .param("until", enough.orElse(to))
                        .param("nobody", new UUID(0, 0))
                        .param("pod", after.pod())
                        .param("kind", after.kind().name())
                        .param("correction", after.correction())
                        .query((row, number) -> line(row))
                        .list();
        return new Lines(named(lines), enough.isEmpty() && lines.size() < size);
    }

    private ClusterStatement query(
            String sql, String budget, Instant from, Instant to, Place after, int size) {
        return database.sql(sql)
                .param("budget", budget)
                .param("from", from)
                .param("to", to)
                .param("hour", after.hour())
                .param("size", size);
    }

    private List<StatementLine> named(List<StatementLine> lines) {
        var known = new HashMap<UUID, Pod>();
        database.sql(NAMES)
                .param(
                        "pods",
                        lines.stream().map(StatementLine::pod).distinct().toArray(UUID[]::new))
                .query(row -> {
                    known.put(
                            row.getObject("pod_uid", UUID.class),
                            new Pod(
                                    row.getString("name"),
                                    row.getString("owner_kind"),
                                    row.getString("owner_name"),
                                    row.getString("model")));
                });
        return lines.stream()
                .map(line -> line.of(known.getOrDefault(line.pod(), Pod.UNKNOWN)))
                .toList();
    }

    /** The first full hour of the span of which there is no line yet. */
    private static Instant nextHour(Instant from, Place after) {
        Instant first = Entry.hourFrom(from);
        Instant next = Entry.hourAfter(after.hour());
        return next.isAfter(first) ? next : first;
    }

    /**
     * What a pod used of a span, corrections included.
     *
     * @param used micro-GPU-seconds
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record PodUse(
            @Nullable UUID pod,
            String namespace,
            @Nullable String podName,
            @Nullable String ownerKind,
            @Nullable String ownerName,
            long used,
            String usedMinutes) {

        /** The same for who may not see which pod it is, and whose. */
        public PodUse withoutPod() {
            return new PodUse(null, namespace, null, ownerKind, null, used, usedMinutes);
        }
    }

    /** The pods that used most in [from, to), largest first. */
    public List<PodUse> largest(String budget, Instant from, Instant to, int size) {
        return database.sql(LARGEST)
                .param("budget", budget)
                .param("from", from)
                .param("to", to)
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
        Instant hour = Timestamps.instant(row, "hour");
        UUID correction = row.getObject("correction", UUID.class);
        return new StatementLine(
                kind,
                hour,
                Timestamps.instant(row, "line_from"),
                Timestamps.instant(row, "line_to"),
                row.getString("namespace"),
                row.getObject("pod_uid", UUID.class),
                null,
                null,
                null,
                null,
                row.getLong("used"),
                row.getString("reason"),
                row.getString("author"),
                kind == Kind.Correction ? correction : null,
                new Place(hour, row.getString("place"), kind, correction));
    }
}
